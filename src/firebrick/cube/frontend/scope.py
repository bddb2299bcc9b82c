"""The names of one function while it is lowered, and where its errors point."""

from __future__ import annotations

import builtins
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from firebrick.cube.frontend.syntax import assigned_names
from firebrick.cube.frontend.values import Comptime, Value
from firebrick.errors import KernelError, KernelSyntaxError, KernelTypeError

if TYPE_CHECKING:
    import ast

    from firebrick.cube.frontend.source import Source
    from firebrick.cube.ir.nodes import Location, Variable
    from firebrick.cube.ir.types import Type


@dataclass(frozen=True, slots=True)
class Captured:
    """A global or closure value that a kernel read: a constant of the compiled variant."""

    function: Any
    name: str
    value: Any

    def current(self) -> Any:
        """The value that the name has now."""
        return lookup(self.function, self.name)


class Missing:
    """Stands for a name that is bound to nothing."""


MISSING = Missing()


def lookup(function: Any, name: str) -> Any:
    """What a name means in a function besides its own variables; `MISSING` if nothing."""
    code = function.__code__
    if name in code.co_freevars and function.__closure__ is not None:
        cell = function.__closure__[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:  # not assigned yet
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


@dataclass(slots=True)
class Loop:
    """A loop around the present statement; the labels are set where it is unrolled."""

    leave: str | None = None
    next: str | None = None


@dataclass(slots=True)
class Returns:
    """Where an inlined function puts its result; a `return` inside a branch leaves the region."""

    label: str
    key: str
    used: bool = False
    value: Value | None = None
    results: tuple[Variable, ...] = ()


@dataclass(slots=True)
class Scope:
    """One function being lowered: a kernel, or an inlined call."""

    source: Source
    key: str
    """Stable name of the call, for variables that survive a restart."""
    types: dict[TypeVar, Type]
    calls: tuple[Location, ...] = ()
    active: tuple[Any, ...] = ()
    """Functions being inlined around this one, to find recursion."""
    returns: Returns | None = None
    names: dict[str, Value] = field(default_factory=dict[str, Value])
    loops: list[Loop] = field(default_factory=list[Loop])
    assignments: dict[str, tuple[int, bool]] = field(default_factory=dict[str, tuple[int, bool]])
    captured: list[Captured] = field(default_factory=list[Captured])

    def __post_init__(self) -> None:
        self.assignments = assigned_names(self.source.tree)

    def location(self, node: ast.AST) -> Location:
        """Where a node stands, with the calls around it."""
        return self.source.location(node, self.calls)

    def refuse(
        self, node: ast.AST, message: str, error: type[KernelError] = KernelTypeError
    ) -> NoReturn:
        """Raises an error that shows the user's line."""
        self.source.refuse(node, message, error, self.calls)

    def is_variable(self, name: str) -> bool:
        """Whether a name is set more than once, at least once inside a branch or loop."""
        count, inside = self.assignments.get(name, (0, False))
        is_parameter = name in inspect.signature(self.source.function).parameters
        return inside and count + is_parameter > 1

    def read(self, node: ast.Name) -> Value:
        """What a name stands for; globals and closure values are compile-time constants."""
        known = self.names.get(node.id)
        if known is not None:
            return known
        if node.id in self.assignments:
            self.refuse(
                node, f"`{node.id}` is read before it is set on every way to this line.",
                KernelSyntaxError,
            )  # fmt: skip
        found = lookup(self.source.function, node.id)
        if isinstance(found, Missing):
            self.refuse(node, f"the name `{node.id}` is not defined.", KernelSyntaxError)
        if not hasattr(builtins, node.id) or node.id in self.source.function.__globals__:
            self.captured.append(Captured(self.source.function, node.id, found))
        return Comptime(found)
