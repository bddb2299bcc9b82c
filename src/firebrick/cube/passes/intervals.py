"""Ranges of integers, and what operators make of them.

An operation whose exact result may leave its type wraps, so that it may give anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.types import BOOL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from firebrick.cube.ir.nodes import BinaryOp, UnaryOp
    from firebrick.cube.ir.types import Type


@dataclass(frozen=True, slots=True)
class Interval:
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    def hull(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def is_inside(self, other: Interval) -> bool:
        """Whether every member is one of `other`."""
        return other.low <= self.low and self.high <= other.high


@cache
def full(type: Type) -> Interval:
    """Every value of an integer type."""
    return Interval(*integer_range(type))


def point(value: int) -> Interval:
    """One value."""
    return Interval(value, value)


def within(type: Type, exact: Interval) -> Interval:
    """A result as the type holds it."""
    return exact if exact.is_inside(full(type)) else full(type)


def _around(values: Iterable[int]) -> Interval:
    found = list(values)
    return Interval(min(found), max(found))


def unary_interval(op: UnaryOp, type: Type, value: Interval) -> Interval:
    """The range of `op value`."""
    if op == "neg":
        return within(type, Interval(-value.high, -value.low))
    return within(type, Interval(~value.high, ~value.low))


def binary_interval(op: BinaryOp, type: Type, left: Interval, right: Interval) -> Interval:
    """The range of `left op right`."""
    return within(type, _BINARY[op](type, left, right))


def cast_interval(source: Type, target: Type, value: Interval | None) -> Interval:
    """The range of something converted to an integer type; `value` is its range if it is one."""
    if source == BOOL:
        return Interval(0, 1)
    return full(target) if value is None or not value.is_inside(full(target)) else value


# ---- operators --------------------------------------------------------------------------------


def _add(type: Type, left: Interval, right: Interval) -> Interval:
    return Interval(left.low + right.low, left.high + right.high)


def _sub(type: Type, left: Interval, right: Interval) -> Interval:
    return Interval(left.low - right.high, left.high - right.low)


def _mul(type: Type, left: Interval, right: Interval) -> Interval:
    corners = product((left.low, left.high), (right.low, right.high))
    return _around(a * b for a, b in corners)


def _floordiv(type: Type, left: Interval, right: Interval) -> Interval:
    if right.low < 0:
        return full(type)
    divisors = (max(right.low, 1), max(right.high, 1))
    found = _around(a // b for a, b in product((left.low, left.high), divisors))
    return found.hull(point(0)) if right.low == 0 else found


def _mod(type: Type, left: Interval, right: Interval) -> Interval:
    if right.low < 0:
        return full(type)
    is_small = left.low >= 0 and left.high < right.low
    highest = max(right.high - 1, 0)
    if left.low >= 0:
        highest = min(highest, left.high)
    return left if is_small else Interval(0, highest)


def _and(type: Type, left: Interval, right: Interval) -> Interval:
    bounds = [side.high for side in (left, right) if side.low >= 0]
    return Interval(0, min(bounds)) if bounds else full(type)


def _or(type: Type, left: Interval, right: Interval) -> Interval:
    if left.low < 0 or right.low < 0:
        return full(type)
    return Interval(0, (1 << max(left.high, right.high).bit_length()) - 1)


def _shl(type: Type, left: Interval, right: Interval) -> Interval:
    if right.low < 0 or right.high >= type.bits:
        return full(type)
    return _mul(type, left, Interval(1 << right.low, 1 << right.high))


def _shr(type: Type, left: Interval, right: Interval) -> Interval:
    if right.low < 0:
        return left.hull(point(0)).hull(point(-1) if left.low < 0 else point(0))
    counts = (right.low, min(right.high, type.bits))
    return _around(a >> b for a, b in product((left.low, left.high), counts))


def _min(type: Type, left: Interval, right: Interval) -> Interval:
    return Interval(min(left.low, right.low), min(left.high, right.high))


def _max(type: Type, left: Interval, right: Interval) -> Interval:
    return Interval(max(left.low, right.low), max(left.high, right.high))


_BINARY: dict[BinaryOp, Callable[[Type, Interval, Interval], Interval]] = {
    "add": _add, "sub": _sub, "mul": _mul, "floordiv": _floordiv, "mod": _mod, "and": _and,
    "or": _or, "xor": _or, "shl": _shl, "shr": _shr, "min": _min, "max": _max,
}  # fmt: skip
