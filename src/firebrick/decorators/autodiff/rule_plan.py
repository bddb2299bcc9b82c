"""What a `@gradient` rule and its operation have that does not change from call to call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from firebrick.opset import Leaf, Operation, kind_or_none, leaves
from firebrick.opset.traversal import compile_convert

if TYPE_CHECKING:
    from firebrick.core import Kind


class Place:
    """Stands for a tensor input where the structure of an argument is remembered."""

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
    def floats(self) -> tuple[int, ...]:
        """Positions of the float inputs."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind == "float")


class RulePlan:
    """A rule on one autodiff backend."""

    def __init__(
        self,
        operation: Operation,
        owner: Any,
        function: Callable[..., Any],
        save: tuple[str, ...],
        call: Callable[..., Any],
        instances: tuple[Any, Any],
        *,
        recomputes: bool,
    ) -> None:
        self.operation = operation
        self.owner = owner
        self.function = function
        self.save = save
        self.call = call
        """The operation on the decorated backend."""
        self.instances = instances
        """What `self` is in the rule: in a plain backward pass, and in a recorded one."""
        self.recomputes = recomputes
        held = operation.tensor_parameters
        self.plain = tuple(p.name for p in operation.parameters if p not in held)
        self._converts = {p.name: compile_convert(p.node, p.name) for p in held}

    def saves(self, path: str) -> bool:
        """Whether the rule asks for a path, or for a structure around it."""
        return any(path == name or path.startswith(f"{name}.") for name in self.save)

    def keeps(self, path: str) -> bool:
        """Whether a tensor input is kept with its value."""
        return self.recomputes or self.saves(path)

    @property
    def keeps_outputs(self) -> bool:
        """Whether saved outputs are kept rather than computed again."""
        return not self.recomputes and any(name.split(".")[0] == "out" for name in self.save)

    def arguments(
        self, layout: Layout, plain: tuple[Any, ...], value: Callable[[int], Any]
    ) -> dict[str, Any]:
        """The arguments of a call, with `value(position)` for every tensor."""
        found = dict(zip(self.plain, plain, strict=True))

        def fill(place: Any, node: Any) -> Any:
            return value(place.index) if isinstance(place, Place) else place

        for name, convert in self._converts.items():
            found[name] = convert(layout.arguments[name], fill)
        return found

    def outputs(self, out: Any) -> list[tuple[str, Kind, Any]]:
        """Path, kind and value of every tensor that the decorated backend returned."""
        inner = self.owner.inner
        found: list[tuple[str, Kind, Any]] = []
        for leaf in leaves(out, self.operation.returns, "out"):
            if isinstance(leaf, Leaf):
                value = inner.adopt(leaf.value)
                kind = kind_or_none(inner, value)
                if kind is not None:
                    found.append((leaf.path, kind, value))
        return found
