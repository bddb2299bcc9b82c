"""Operations as data: an `Operation` reads its signature from the annotations, once.

Plans of users' op sets are read when the class is defined, so that mistakes show there; those of
built-in ones at first use.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

from firebrick.errors import SignatureError
from firebrick.opset.annotations import Namespace, Unresolved, node_of, resolve
from firebrick.opset.kinds import P
from firebrick.opset.nodes import (
    DeviceNode,
    Node,
    PlainNode,
    StructNode,
    TensorNode,
    UnionNode,
    always_holds,
    float_paths,
    holds_tensors,
    tensor_nodes,
)

if TYPE_CHECKING:
    from firebrick.opset.forms import FusionForm

RESERVED = frozenset({"backend", "inner", "checkpointing", "default_on", "report"})


class NoDefault(NotImplementedError):  # noqa: N818 - the seeds of the design name it so
    """`raise NoDefault` is the body of an operation that every listed backend implements."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input of an operation."""

    name: str
    node: Node
    default: Any
    keyword_only: bool
    positional_only: bool
    annotation: Any

    @property
    def is_required(self) -> bool:
        """Whether a call must give it."""
        return self.default is inspect.Parameter.empty

    @property
    def is_bare_tensor(self) -> bool:
        """Whether it is one tensor of one kind, always there."""
        return isinstance(self.node, TensorNode)


class Operation:
    """One method of an op set, as everything else sees it."""

    def __init__(
        self,
        owner: type,
        function: FunctionType,
        form: FusionForm | None,
        views: tuple[str, ...],
        namespace: Namespace,
        tensor: Any = P,
    ) -> None:
        self.owner = owner
        self.name = function.__name__
        self.function = function
        self.form = form
        self.views = views
        self.namespace = namespace
        self.tensor = tensor
        self.is_async = inspect.iscoroutinefunction(function)

    def __repr__(self) -> str:
        return f"<operation {self.label}>"

    @property
    def is_builtin(self) -> bool:
        """Whether backends implement it by inheritance."""
        return bool(getattr(self.owner, "__builtin__", False))

    @property
    def label(self) -> str:
        """`OpSet.method`, the public name."""
        return f"{self.owner.__name__}.{self.name}"

    @property
    def id(self) -> str:
        """The id that optimizers and people see."""
        return (self.form.id if self.form is not None else None) or self.label

    @cached_property
    def has_default(self) -> bool:
        """Whether the declaration has a body that can run."""
        return not raises_no_default(self.function)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Inputs in declaration order, `self` left out."""
        signature = inspect.signature(self.function)
        own = list(signature.parameters.values())[1:]
        return tuple(self._parameter(parameter) for parameter in own)

    @cached_property
    def returns(self) -> Node:
        """The output."""
        annotation = inspect.signature(self.function).return_annotation
        if annotation is inspect.Signature.empty:
            raise SignatureError(
                f"`{self.label}` has no return annotation; say what it returns, such as "
                "`-> FloatTensor[P]`."
            )
        resolved = self._resolve(annotation)
        if resolved is None or resolved is type(None):
            raise SignatureError(f"`{self.label}` returns nothing; an operation returns a value.")
        return self._node(resolved, "its return value")

    @cached_property
    def tensor_parameters(self) -> tuple[Parameter, ...]:
        """Inputs that can hold tensors."""
        return tuple(p for p in self.parameters if holds_tensors(p.node))

    @cached_property
    def device_parameter(self) -> Parameter | None:
        """The `Device` input that routes an operation without tensors."""
        return next((p for p in self.parameters if isinstance(p.node, DeviceNode)), None)

    @cached_property
    def takes_only_bare_tensors(self) -> bool:
        """Whether every tensor input is one tensor, always there."""
        return all(p.is_bare_tensor for p in self.tensor_parameters)

    @cached_property
    def always_has_float(self) -> bool:
        """Whether every call has a float among its inputs."""
        return any(always_holds(p.node, "float") for p in self.tensor_parameters)

    @cached_property
    def may_have_float(self) -> bool:
        """Whether some call has a float among its inputs."""
        return any(n.kind == "float" for p in self.tensor_parameters for n in tensor_nodes(p.node))

    @cached_property
    def has_dims(self) -> bool:
        """Whether any input has annotated dimensions."""
        return any(n.dims for p in self.tensor_parameters for n in tensor_nodes(p.node))

    @cached_property
    def float_outputs(self) -> list[str] | None:
        """Paths of the float outputs, `out` or `out.0.coords`; None when the value decides."""
        return float_paths(self.returns, "out")

    def validate(self) -> None:
        """Reads the whole signature; `SignatureError` for what cannot be used."""
        if self.name in RESERVED:
            raise SignatureError(f"`{self.label}`: the name `{self.name}` belongs to the op set.")
        names = {parameter.name for parameter in self.parameters}
        _ = self.returns
        if "out" in names:
            raise SignatureError(
                f"`{self.label}` has an input named `out`, which names outputs; rename it."
            )
        unknown = [name for name in self.views if name not in names]
        if unknown:
            raise SignatureError(
                f"`@views` on `{self.label}` names `{unknown[0]}`; inputs are "
                f"{', '.join(sorted(names))}."
            )

    def paths(self) -> Iterator[str]:
        """Names that a gradient rule can save: inputs, struct fields, outputs."""
        for parameter in self.parameters:
            yield from node_paths(parameter.node, parameter.name)
        yield from node_paths(self.returns, "out")

    def _parameter(self, parameter: inspect.Parameter) -> Parameter:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise SignatureError(
                f"`{self.label}` is variadic in `{parameter.name}`; take a list or a dict of "
                "tensors, or name the parameters."
            )
        if parameter.annotation is inspect.Parameter.empty:
            raise SignatureError(
                f"`{self.label}`: parameter `{parameter.name}` has no annotation; every input "
                "has one."
            )
        annotation = self._resolve(parameter.annotation)
        return Parameter(
            parameter.name,
            self._node(annotation, f"parameter `{parameter.name}`"),
            parameter.default,
            parameter.kind is parameter.KEYWORD_ONLY,
            parameter.kind is parameter.POSITIONAL_ONLY,
            annotation,
        )

    def _resolve(self, annotation: Any) -> Any:
        return resolve(annotation, self.namespace, vars(self.owner))

    def _node(self, annotation: Any, what: str) -> Node:
        return node_of(annotation, tensor=self.tensor, where=f"`{self.label}`, {what}")


def node_paths(node: Node, prefix: str) -> Iterator[str]:
    """A path and those of fields below it."""
    yield prefix
    match node:
        case StructNode(struct):
            for name, child in struct.__nodes__().items():
                yield from node_paths(child, f"{prefix}.{name}")
        case UnionNode(options):
            for option in options:
                yield from (p for p in node_paths(option, prefix) if p != prefix)
        case TensorNode() | PlainNode():
            return
        case _:
            items = getattr(node, "items", None)
            parts = enumerate(items) if isinstance(items, tuple) else ()
            for index, child in parts:
                yield from node_paths(child, f"{prefix}.{index}")


def raises_no_default(function: Callable[..., Any]) -> bool:
    """Whether a body is nothing but `raise NoDefault`, read from its instructions."""
    skipped = {"RESUME", "NOP", "COPY_FREE_VARS", "MAKE_CELL", "PRECALL", "CALL", "PUSH_NULL",
               "RETURN_GENERATOR", "POP_TOP"}  # fmt: skip
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    steps = [i for i in dis.get_instructions(code) if i.opname not in skipped]
    return (
        len(steps) >= 2
        and steps[0].opname.startswith("LOAD_")
        and steps[1].opname == "RAISE_VARARGS"
        and _loaded(function, str(steps[0].argval)) is NoDefault
    )


def _loaded(function: Callable[..., Any], name: str) -> Any:
    closure = inspect.getclosurevars(function)
    return closure.nonlocals.get(name, closure.globals.get(name))


def describe(annotation: Any) -> str:
    """An annotation as a reader would write it."""
    if isinstance(annotation, Unresolved):
        return annotation.text
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
