"""Comparisons, logic and bits, element by element. One of two operands may be a number.

https://data-apis.org/array-api/2024.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.tensor.array_namespace.operands import both, of_bools

if TYPE_CHECKING:
    from typing import TypeAlias

    from firebrick.core import Scalar
    from firebrick.tensor.tensor import Tensor

    Operand: TypeAlias = Tensor | Scalar


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 == x2`."""
    x1, x2 = both("equal", x1, x2)
    return x1 == x2


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 != x2`."""
    x1, x2 = both("not_equal", x1, x2)
    return x1 != x2


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 < x2`."""
    x1, x2 = both("less", x1, x2)
    return x1 < x2


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 <= x2`."""
    x1, x2 = both("less_equal", x1, x2)
    return x1 <= x2


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 > x2`."""
    x1, x2 = both("greater", x1, x2)
    return x1 > x2


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 >= x2`."""
    x1, x2 = both("greater_equal", x1, x2)
    return x1 >= x2


def isnan(x: Tensor, /) -> Tensor:
    """Where the element is not a number."""
    return x.is_nan()


def isinf(x: Tensor, /) -> Tensor:
    """Where the element is infinite."""
    return x.is_inf()


def isfinite(x: Tensor, /) -> Tensor:
    """Where the element is neither infinite nor NaN."""
    return ~(x.is_nan() | x.is_inf())


def logical_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether both are true."""
    of_bools("logical_and", x1, x2)
    x1, x2 = both("logical_and", x1, x2)
    return x1 & x2


def logical_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one or both are true."""
    of_bools("logical_or", x1, x2)
    x1, x2 = both("logical_or", x1, x2)
    return x1 | x2


def logical_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether exactly one is true."""
    of_bools("logical_xor", x1, x2)
    x1, x2 = both("logical_xor", x1, x2)
    return x1 ^ x2


def logical_not(x: Tensor, /) -> Tensor:
    """Whether it is false."""
    of_bools("logical_not", x)
    return ~x


def bitwise_and(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 & x2`."""
    x1, x2 = both("bitwise_and", x1, x2)
    return x1 & x2


def bitwise_or(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 | x2`."""
    x1, x2 = both("bitwise_or", x1, x2)
    return x1 | x2


def bitwise_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 ^ x2`."""
    x1, x2 = both("bitwise_xor", x1, x2)
    return x1 ^ x2


def bitwise_invert(x: Tensor, /) -> Tensor:
    """`~x`."""
    return ~x


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 << x2`."""
    x1, x2 = both("bitwise_left_shift", x1, x2)
    return x1 << x2


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 >> x2`."""
    x1, x2 = both("bitwise_right_shift", x1, x2)
    return x1 >> x2
