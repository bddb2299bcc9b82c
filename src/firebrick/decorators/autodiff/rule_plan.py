"""What a `@gradient` rule and its operation have that does not change from call to call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from firebrick.errors import GradientError, KindError
from firebrick.opset import GradientRule, Leaf, Misfit, Operation, kind_or_none, leaves
from firebrick.opset.nodes import (
    Node,
    OptionalNode,
    TensorNode,
    UnionNode,
    children,
    tensor_nodes,
)
from firebrick.opset.traversal import Convert, compile_convert

if TYPE_CHECKING:
    from firebrick.core import Kind


class Place:
    """Stands for a tensor where the structure around it is remembered."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


@dataclass(frozen=True)
class Layout:
    """Which tensors a call takes and where; shared by all calls of a signature of bare tensors.

    `arguments` has the tensor-holding arguments with a `Place` for every tensor.
    """

    paths: tuple[str, ...]
    kinds: tuple[Kind, ...]
    arguments: Mapping[str, Any]

    @cached_property
    def index(self) -> dict[str, int]:
        """Position by path."""
        return {path: i for i, path in enumerate(self.paths)}

    @cached_property
    def floats(self) -> dict[str, int]:
        """Paths of the float inputs, each with its position among them."""
        pairs = zip(self.paths, self.kinds, strict=True)
        found = (path for path, kind in pairs if kind == "float")
        return {path: position for position, path in enumerate(found)}

    def holds(self, path: str) -> bool:
        """Whether a tensor is there, or below."""
        return _is_at(path, self.index)

    def holds_float(self, path: str) -> bool:
        """Whether a float is there, or below."""
        return _is_at(path, self.floats)


def _is_at(path: str, known: Mapping[str, int]) -> bool:
    return path in known or any(other.startswith(f"{path}.") for other in known)


class Returned(NamedTuple):
    """One tensor that the decorated backend returned."""

    path: str
    kind: Kind
    value: Any


class RulePlan:
    """A rule on one autodiff backend."""

    def __init__(
        self,
        operation: Operation,
        owner: Any,
        rule: GradientRule,
        function: Callable[..., Any],
        call: Callable[..., Any],
        instances: tuple[Any, Any],
    ) -> None:
        self.operation = operation
        self.owner = owner
        self.save = rule.save
        self.call = call
        """The operation on the decorated backend."""
        self.recomputes = rule.cost == "memory" and owner.recomputes and not operation.is_async
        held = operation.tensor_parameters
        self.names = tuple(p.name for p in operation.parameters)
        self.converts = {p.name: compile_convert(p.node, p.name) for p in held}
        self.plain = tuple(name for name in self.names if name not in self.converts)
        self.convert_output = compile_convert(operation.returns, operation.label)
        self._function = function
        self._instances = instances

    def saves(self, path: str) -> bool:
        """Whether the rule asks for a path, or for a structure around it."""
        return path in self.save or any(path.startswith(f"{name}.") for name in self.save)

    def keeps(self, path: str) -> bool:
        """Whether a tensor input is kept with its value."""
        return self.recomputes or self.saves(path)

    @cached_property
    def saved_outputs(self) -> tuple[str, ...]:
        """What the rule asks for that the call returns."""
        return tuple(name for name in self.save if name.split(".")[0] == "out")

    @property
    def keeps_outputs(self) -> bool:
        """Whether saved outputs are kept rather than computed again."""
        return bool(self.saved_outputs) and not self.recomputes

    @cached_property
    def possible(self) -> tuple[str, ...]:
        """Paths where some calls have floats and others have not."""
        if self.operation.takes_only_bare_tensors:
            return ()
        found: list[str] = []
        for parameter in self.operation.tensor_parameters:
            found += _float_places(parameter.node, parameter.name, frozenset())
        return tuple(dict.fromkeys(found))

    def run(self, saved: Any, grads: list[Any], need: Any, *, recorded: bool) -> Any:
        """The rule's answer; `recorded` says that its own operations are recorded."""
        instance = self._instances[recorded]
        if self._takes_need_by_name:
            return self._function(instance, saved, *grads, need=need)
        if self.operation.float_outputs is None:
            self._check_count(len(grads))
        return self._function(instance, saved, *grads, need)

    @cached_property
    def _takes_need_by_name(self) -> bool:
        """`(self, saved, *grads, need)`: how many outputs there are, only the call knows."""
        need = inspect.signature(self._function).parameters.get("need")
        return need is not None and need.kind is inspect.Parameter.KEYWORD_ONLY

    def _check_count(self, count: int) -> None:
        signature = inspect.signature(self._function)
        try:
            signature.bind(None, None, *[None] * count, None)
        except TypeError:
            raise GradientError(
                f"the gradient of `{self.operation.label}` takes one gradient per float output, "
                f"and this call has {count}; write `(self, saved, *grads, need)` instead of "
                f"`{signature}`."
            ) from None

    def arguments(
        self, layout: Layout, plain: tuple[Any, ...], value: Callable[[int], Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """A call's arguments, positional and by keyword, with `value(position)` for tensors."""
        found = dict(zip(self.plain, plain, strict=True))
        for name in self.converts:
            found[name] = self.argument(layout, name, value)
        parameters = self.operation.parameters
        positional = [found[p.name] for p in parameters if not p.keyword_only]
        return positional, {p.name: found[p.name] for p in parameters if p.keyword_only}

    def argument(self, layout: Layout, name: str, value: Callable[[int], Any]) -> Any:
        """One tensor-holding argument, with `value(position)` for tensors."""
        return filled(self.converts[name], layout.arguments[name], value)

    def is_tensor(self, value: Any) -> bool:
        """Whether the decorated backend has such a tensor, or scalar."""
        inner = self.owner.inner
        return kind_or_none(inner, inner.adopt(value)) is not None

    def outputs(self, out: Any) -> list[Returned]:
        """Every tensor that the decorated backend returned; `KindError` for another structure."""
        inner = self.owner.inner
        found: list[Returned] = []
        for leaf in leaves(out, self.operation.returns, "out"):
            if isinstance(leaf, Misfit):
                raise KindError(
                    f"`{self.operation.label}`: its implementation on `{inner}` returned a "
                    f"{type(leaf.value).__name__} where `{leaf.path}` is declared {leaf.expected}."
                )
            found += self._returned(leaf)
        return found

    def _returned(self, leaf: Leaf) -> list[Returned]:
        inner = self.owner.inner
        value = inner.adopt(leaf.value)
        kind = kind_or_none(inner, value)
        if isinstance(leaf.node, TensorNode) and kind != leaf.node.kind:
            raise KindError(wrong_kind(self.operation, inner, leaf.path, value, leaf.node.kind))
        return [] if kind is None else [Returned(leaf.path, kind, value)]


def wrong_kind(operation: Operation, backend: Any, path: str, value: Any, declared: str) -> str:
    """What to say of an output that is no tensor of the declared kind."""
    kind = kind_or_none(backend, value)
    found = f"a {type(value).__name__}" if kind is None else f"a tensor of kind {kind}"
    return (
        f"`{operation.label}`: its implementation on `{backend}` returned {found} where `{path}` "
        f"is declared a tensor of kind {declared}."
    )


def filled(convert: Convert, skeleton: Any, value: Callable[[int], Any]) -> Any:
    """A structure with `value(position)` in every `Place`."""

    def fill(place: Any, node: Node) -> Any:
        return value(place.index) if isinstance(place, Place) else place

    return convert(skeleton, fill)


def _float_places(node: Node, path: str, seen: frozenset[Any]) -> Iterator[str]:
    """A path and those below it where floats can be; a recursive struct is entered once."""
    if not any(found.kind == "float" for found in tensor_nodes(node)):
        return
    yield path
    struct = getattr(node, "struct", None)
    if struct in seen:
        return
    seen |= {struct} - {None}
    within = isinstance(node, OptionalNode | UnionNode)  # their parts have the path of the whole
    for name, child in children(node):
        if name or within:
            yield from _float_places(child, f"{path}.{name}" if name else path, seen)
