"""What an expression of a kernel is worth while it is lowered.

A value is either known when compiling (`Comptime`), a number of a running unit (`Dynamic`), memory,
or a tuple of values. Python's own `int` and `float` are weak: they take the type of what they meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.ir.nodes import Buffer, Expression, LocalArray, SharedArray
    from firebrick.cube.ir.types import Type


@dataclass(frozen=True, slots=True)
class Comptime:
    """A host value: a number, text, type, function, module, ..."""

    value: Any


@dataclass(frozen=True, slots=True)
class Dynamic:
    """A number that only a running unit knows.

    `at` gives a weak one in another type; None for one whose type is fixed.
    """

    expression: Expression
    at: Callable[[Type], Expression] | None = None

    @property
    def type(self) -> Type:
        """Standing alone."""
        return self.expression.type

    @property
    def is_weak(self) -> bool:
        """Whether it takes the type of what it meets."""
        return self.at is not None


@dataclass(frozen=True, slots=True)
class MemoryValue:
    """A tensor argument, shared memory or a local array."""

    memory: Buffer | SharedArray | LocalArray


@dataclass(frozen=True, slots=True)
class TupleValue:
    """Several values."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ShapeValue:
    """The sizes of a tensor: a tuple that a running unit can index too."""

    buffer: Buffer


@dataclass(frozen=True, slots=True)
class MethodValue:
    """`tensor.stride`, before it is called."""

    memory: Buffer
    name: str


@dataclass(frozen=True, slots=True)
class StructValue:
    """A dataclass argument."""

    struct: type[Any]
    fields: dict[str, Value]


Value: TypeAlias = (
    "Comptime | Dynamic | MemoryValue | TupleValue | ShapeValue | MethodValue | StructValue"
)


def is_number(value: Value) -> bool:
    """Whether a value is a number or a bool, known or not."""
    if isinstance(value, Dynamic):
        return True
    return isinstance(value, Comptime) and isinstance(value.value, bool | int | float)


def describe_value(value: Value) -> str:
    """How errors speak of a value."""
    match value:
        case Comptime(bool() | int() | float() | str() as known):
            return repr(known)
        case Comptime(known):
            return f"`{getattr(known, '__name__', type(known).__name__)}`"
        case Dynamic():
            return f"a value of type {value.type}"
        case MemoryValue(memory):
            return f"the memory `{memory.name}`"
        case TupleValue(items):
            return f"a tuple of {len(items)}"
        case ShapeValue(buffer):
            return f"the shape of `{buffer.name}`"
        case MethodValue(memory, name):
            return f"the method `{memory.name}.{name}`"
        case StructValue(struct):
            return f"a `{struct.__name__}`"
        case _:
            return repr(value)
