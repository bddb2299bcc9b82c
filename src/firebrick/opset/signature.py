"""Operations as data: an `Operation` reads its signature from the annotations, once.

Plans of users' op sets are read when the class is defined, so that mistakes show there; those of
built-in ones at first use.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from firebrick.errors import SignatureError
from firebrick.opset.annotations import node_of
from firebrick.opset.kinds import P
from firebrick.opset.namespaces import resolve
from firebrick.opset.no_default import raises_no_default
from firebrick.opset.nodes import (
    DeviceNode,
    PlainNode,
    TensorNode,
    always_holds,
    float_paths,
    holds_tensors,
    tensor_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.opset.forms import FusionForm
    from firebrick.opset.namespaces import Namespace
    from firebrick.opset.nodes import Node
    from firebrick.opset.registrations import Implementations
    from firebrick.opset.selectors import Conditional, Selector

RESERVED = frozenset({"backend", "inner", "checkpointing", "default_on", "report"})


class Declaration(Protocol):
    """What an operation and dispatch ask of the op set that declares it: `OpSet` as a class."""

    @property
    def __name__(self) -> str:
        """As users see it."""
        ...

    @property
    def __builtin__(self) -> bool:
        """Whether backends implement it by inheritance."""
        ...

    @property
    def __operations__(self) -> Mapping[str, Operation]:
        """In the order of the declaration."""
        ...

    @property
    def __selectors__(self) -> Mapping[Selector, Conditional] | None:
        """None for an op set that is not open to any backend."""
        ...

    @property
    def __implementations__(self) -> Implementations:
        """By backend class."""
        ...


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

    @property
    def refuses_tensors(self) -> bool:
        """Whether it is an ordinary argument of a type that no tensor has."""
        return isinstance(self.node, PlainNode) and self.annotation not in (Any, object)


class Operation:
    """One method of an op set, as everything else sees it.

    Args:
        owner: The op set that declares it.
        name: The attribute of the op set that it is.
        function: The default body, or `raise NoDefault`.
        form: What `@fusion` said.
        views: What `@views` said.
        namespace: Where names in its annotations are looked up.
        tensor: What stands for the tensor type in its annotations.
    """

    def __init__(
        self,
        owner: Declaration,
        name: str,
        function: FunctionType,
        *,
        form: FusionForm | None = None,
        views: tuple[str, ...] = (),
        namespace: Namespace,
        tensor: Any = P,
    ) -> None:
        self.owner = owner
        self.name = name
        self.function = function
        self.form = form
        self.views = views
        self.namespace = namespace
        self.tensor = tensor
        self.is_async = inspect.iscoroutinefunction(function)
        self.generated: dict[str, Any] = {}
        """What was generated for the operation, by purpose; it lives as long as the operation."""

    def __repr__(self) -> str:
        return f"<operation {self.label}>"

    @property
    def is_builtin(self) -> bool:
        """Whether backends implement it by inheritance."""
        return self.owner.__builtin__

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
    def may_return_float(self) -> bool:
        """Whether some call has a float among its outputs."""
        return any(node.kind == "float" for node in tensor_nodes(self.returns))

    @cached_property
    def has_dims(self) -> bool:
        """Whether any input or output has annotated dimensions."""
        nodes = [*(p.node for p in self.tensor_parameters), self.returns]
        return any(tensor.dims is not None for node in nodes for tensor in tensor_nodes(node))

    @property
    def promises_dtype(self) -> bool:
        """Whether annotated dimensions are the only word on outputs, so that dtypes follow too."""
        return self.form is None or self.form.name == "dims"

    @cached_property
    def float_outputs(self) -> list[str] | None:
        """Paths of the float outputs, `out` or `out.0.coords`; None when the value decides."""
        return float_paths(self.returns, "out")

    def validate(self) -> None:
        """Reads the whole signature; `SignatureError` for what cannot be used."""
        if self.name in RESERVED:
            raise SignatureError(
                f"`{self.label}`: the name `{self.name}` belongs to every op set; rename it."
            )
        if inspect.isgeneratorfunction(self.function) or inspect.isasyncgenfunction(self.function):
            raise SignatureError(f"`{self.label}` is a generator; return the outputs instead.")
        names = {parameter.name for parameter in self.parameters}
        for node in (*(p.node for p in self.parameters), self.returns):
            list(tensor_nodes(node))  # structs whose fields cannot be read show here
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
        # Aliases in the class body count; an operation called `list` does not hide the type.
        own = {n: v for n, v in vars(self.owner).items() if not isinstance(v, FunctionType)}
        return resolve(annotation, self.namespace, own)

    def _node(self, annotation: Any, what: str) -> Node:
        return node_of(annotation, tensor=self.tensor, where=f"`{self.label}`, {what}")


def describe(annotation: object) -> str:
    """An annotation as a reader would write it."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
