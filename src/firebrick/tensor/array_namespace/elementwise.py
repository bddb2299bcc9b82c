"""Functions element by element. One of two operands may be a number.

https://data-apis.org/array-api/2024.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firebrick.tensor.array_namespace.operands import both
from firebrick.tensor.operations import Operation, floats
from firebrick.tensor.promotion import common
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing import TypeAlias

    from firebrick.core import Scalar

    Operand: TypeAlias = Tensor | Scalar

ACOS = floats("acos")
ACOSH = floats("acosh")
ASIN = floats("asin")
ASINH = floats("asinh")
ATAN = floats("atan")
ATANH = floats("atanh")
COSH = floats("cosh")
SINH = floats("sinh")
ATAN2 = floats("atan2")
HYPOT = floats("hypot")
# Beyond it, `exp(x) - 1` keeps all digits but one or two.
EXPM1_LIMIT = 1.0


def _map(operation: Operation, x: Tensor) -> Tensor:
    value = x.into_dispatch()
    return Tensor.from_dispatch(operation[value.kind](value))


def _map2(operation: Operation, x1: Operand, x2: Operand) -> Tensor:
    operands = [x.into_dispatch() for x in both(operation.shown, x1, x2)]
    lhs, rhs = common(operation.shown, operands)
    return Tensor.from_dispatch(operation[lhs.kind](lhs, rhs))


# ---- arithmetic ------------------------------------------------------------------------------


def abs(x: Tensor, /) -> Tensor:
    """The absolute value."""
    return x.abs()


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 + x2`."""
    x1, x2 = both("add", x1, x2)
    return x1 + x2


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 - x2`."""
    x1, x2 = both("subtract", x1, x2)
    return x1 - x2


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 * x2`."""
    x1, x2 = both("multiply", x1, x2)
    return x1 * x2


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 / x2`, of floats."""
    x1, x2 = both("divide", x1, x2)
    return x1 / x2


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 // x2`, rounded down."""
    x1, x2 = both("floor_divide", x1, x2)
    return x1 // x2


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 % x2`, with the sign of the divisor."""
    x1, x2 = both("remainder", x1, x2)
    return x1 % x2


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """`x1 ** x2`."""
    if isinstance(x1, Tensor):
        return x1**x2
    x1, x2 = both("pow", x1, x2)
    return x1**x2


def negative(x: Tensor, /) -> Tensor:
    """`-x`."""
    return -x


def positive(x: Tensor, /) -> Tensor:
    """`+x`."""
    return +x


def reciprocal(x: Tensor, /) -> Tensor:
    """`1 / x`."""
    return x.recip()


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1."""
    return x.sign()


def square(x: Tensor, /) -> Tensor:
    """`x * x`."""
    return x.square()


def clip(x: Tensor, /, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Raises what is below `min` to it, then lowers what is above `max` to it."""
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return x.clamp(min, max)
    raised = x if min is None else maximum(x, min)
    return raised if max is None else minimum(raised, max)


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """The larger of two; NaN if one of them is."""
    x1, x2 = both("maximum", x1, x2)
    return x1.mask_where((x2 > x1) | x2.is_nan(), x2)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """The smaller of two; NaN if one of them is."""
    x1, x2 = both("minimum", x1, x2)
    return x1.mask_where((x2 < x1) | x2.is_nan(), x2)


def ceil(x: Tensor, /) -> Tensor:
    """Rounds up."""
    return x.ceil()


def floor(x: Tensor, /) -> Tensor:
    """Rounds down."""
    return x.floor()


def round(x: Tensor, /) -> Tensor:
    """Rounds to the nearest whole number, ties to even."""
    return x.round()


def trunc(x: Tensor, /) -> Tensor:
    """Rounds toward zero."""
    return x.trunc()


def signbit(x: Tensor, /) -> Tensor:
    """Where the sign is negative, -0.0 included."""
    return (x < 0) | ((x == 0) & (x.recip() < 0))


def copysign(x1: Operand, x2: Operand, /) -> Tensor:
    """The magnitude of `x1` with the sign of `x2`."""
    x1, x2 = both("copysign", x1, x2)
    magnitude = x1.abs()
    return magnitude.mask_where(signbit(x2), -magnitude)


# ---- powers and logarithms -------------------------------------------------------------------


def exp(x: Tensor, /) -> Tensor:
    """E to the power of `x`."""
    return x.exp()


def expm1(x: Tensor, /) -> Tensor:
    """`exp(x) - 1`, accurate next to 0.

    There as `2 t / (1 - t)` with `t = tanh(x / 2)`, which is the same function.
    """
    half = (x * 0.5).clamp(-EXPM1_LIMIT, EXPM1_LIMIT).tanh()
    near = 2.0 * half / (1.0 - half)
    return (x.exp() - 1.0).mask_where(x.abs() < EXPM1_LIMIT, near)


def log(x: Tensor, /) -> Tensor:
    """The natural logarithm."""
    return x.log()


def log1p(x: Tensor, /) -> Tensor:
    """`log(1 + x)`, accurate next to 0."""
    return x.log1p()


def log2(x: Tensor, /) -> Tensor:
    """The logarithm to base 2."""
    return x.log() / math.log(2.0)


def log10(x: Tensor, /) -> Tensor:
    """The logarithm to base 10."""
    return x.log() / math.log(10.0)


def logaddexp(x1: Operand, x2: Operand, /) -> Tensor:
    """`log(exp(x1) + exp(x2))` without overflow."""
    x1, x2 = both("logaddexp", x1, x2)
    largest, distance = maximum(x1, x2), (x1 - x2).abs()
    # Two equal infinities have no distance.
    distance = distance.mask_fill((x1 == x2), 0.0)
    return largest + (-distance).exp().log1p()


def sqrt(x: Tensor, /) -> Tensor:
    """The square root."""
    return x.sqrt()


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """`sqrt(x1 ** 2 + x2 ** 2)` without overflow."""
    return _map2(HYPOT, x1, x2)


# ---- trigonometry ----------------------------------------------------------------------------


def acos(x: Tensor, /) -> Tensor:
    """The arc cosine."""
    return _map(ACOS, x)


def acosh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic cosine."""
    return _map(ACOSH, x)


def asin(x: Tensor, /) -> Tensor:
    """The arc sine."""
    return _map(ASIN, x)


def asinh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic sine."""
    return _map(ASINH, x)


def atan(x: Tensor, /) -> Tensor:
    """The arc tangent."""
    return _map(ATAN, x)


def atan2(x1: Operand, x2: Operand, /) -> Tensor:
    """The angle of the point with ordinate `x1` and abscissa `x2`."""
    return _map2(ATAN2, x1, x2)


def atanh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic tangent."""
    return _map(ATANH, x)


def cos(x: Tensor, /) -> Tensor:
    """The cosine."""
    return x.cos()


def cosh(x: Tensor, /) -> Tensor:
    """The hyperbolic cosine."""
    return _map(COSH, x)


def sin(x: Tensor, /) -> Tensor:
    """The sine."""
    return x.sin()


def sinh(x: Tensor, /) -> Tensor:
    """The hyperbolic sine."""
    return _map(SINH, x)


def tan(x: Tensor, /) -> Tensor:
    """The tangent."""
    return x.tan()


def tanh(x: Tensor, /) -> Tensor:
    """The hyperbolic tangent."""
    return x.tanh()
