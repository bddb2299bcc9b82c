"""Comparisons element by element; their result is a bool tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import bool_
from firebrick.tensor.arithmetic import Arithmetic
from firebrick.tensor.operations import Operation
from firebrick.tensor.promotion import adopted, common, is_scalar

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import DispatchTensor, Scalar

NUMBERS = ("float", "int")
ALL_KINDS = ("float", "int", "bool")


class Comparison:
    """One sign: its operation between tensors, and the one with a scalar on the right.

    Operations on bools answer in the dtype of their inputs; the others are told the dtype.
    """

    __slots__ = ("scalar", "sign", "tensor")

    def __init__(self, sign: str, verb: str, kinds: tuple[str, ...] = NUMBERS) -> None:
        self.sign = sign
        self.tensor = Operation(sign, {kind: f"{kind}_{verb}" for kind in kinds})
        self.scalar = Operation(sign, {kind: f"{kind}_{verb}_elem" for kind in kinds})


EQUAL = Comparison("==", "equal", ALL_KINDS)
NOT_EQUAL = Comparison("!=", "not_equal", ALL_KINDS)
LOWER = Comparison("<", "lower")
LOWER_EQUAL = Comparison("<=", "lower_equal")
GREATER = Comparison(">", "greater")
GREATER_EQUAL = Comparison(">=", "greater_equal")


class Compare(Arithmetic):
    """`== != < <= > >=`. The hash stays that of the object: equality is elementwise."""

    __slots__ = ()

    __hash__ = object.__hash__

    def _compare(self, comparison: Comparison, other: object) -> Self:
        lhs = self._value
        if isinstance(other, Compare):
            rhs = other._value
            if lhs.kind is not rhs.kind or lhs.primitive.dtype is not rhs.primitive.dtype:
                lhs, rhs = common(comparison.sign, (lhs, rhs))
            return self._wrap(_answer(comparison.tensor, lhs, rhs))
        if not is_scalar(other, comparison.sign):
            return NotImplemented
        number = adopted(comparison.sign, lhs, other)
        return self._wrap(_answer(comparison.scalar, lhs, number))

    def __eq__(self, other: Self | Scalar) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] # elementwise
        return self._compare(EQUAL, other)

    def __ne__(self, other: Self | Scalar) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] # elementwise
        return self._compare(NOT_EQUAL, other)

    def __lt__(self, other: Self | Scalar) -> Self:
        return self._compare(LOWER, other)

    def __le__(self, other: Self | Scalar) -> Self:
        return self._compare(LOWER_EQUAL, other)

    def __gt__(self, other: Self | Scalar) -> Self:
        return self._compare(GREATER, other)

    def __ge__(self, other: Self | Scalar) -> Self:
        return self._compare(GREATER_EQUAL, other)


def _answer(
    operation: Operation, lhs: DispatchTensor, rhs: DispatchTensor | Scalar
) -> DispatchTensor:
    call = operation[lhs.kind]
    return call(lhs, rhs) if lhs.kind == "bool" else call(lhs, rhs, bool_)
