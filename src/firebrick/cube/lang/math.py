"""Mathematics of the kernel language; names as in the `math` module where it has them."""

from __future__ import annotations

from typing import TypeVar

from firebrick.cube.lang.intrinsic import intrinsic
from firebrick.cube.lang.numbers import Float, Int, Numeric

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "count_ones",
    "degrees",
    "erf",
    "exp",
    "floor",
    "fma",
    "hypot",
    "inverse_sqrt",
    "is_inf",
    "is_nan",
    "leading_zeros",
    "log",
    "log1p",
    "powf",
    "powi",
    "radians",
    "recip",
    "reverse_bits",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trailing_zeros",
    "trunc",
]

_F = TypeVar("_F", bound=Float)
_I = TypeVar("_I", bound=Int)
_N = TypeVar("_N", bound=Numeric)


@intrinsic("exp")
def exp(x: _F) -> _F:
    """e to the power of `x`."""
    ...


@intrinsic("log")
def log(x: _F) -> _F:
    """Natural logarithm; NaN below 0, -inf at 0."""
    ...


@intrinsic("log1p")
def log1p(x: _F) -> _F:
    """`log(1 + x)`, accurate near 0."""
    ...


@intrinsic("sqrt")
def sqrt(x: _F) -> _F:
    """Square root; NaN below 0."""
    ...


@intrinsic("inverse_sqrt")
def inverse_sqrt(x: _F) -> _F:
    """`1 / sqrt(x)`."""
    ...


@intrinsic("sin")
def sin(x: _F) -> _F:
    """Sine of radians."""
    ...


@intrinsic("cos")
def cos(x: _F) -> _F:
    """Cosine of radians."""
    ...


@intrinsic("tan")
def tan(x: _F) -> _F:
    """Tangent of radians."""
    ...


@intrinsic("asin")
def asin(x: _F) -> _F:
    """Arc sine in radians; NaN outside [-1, 1]."""
    ...


@intrinsic("acos")
def acos(x: _F) -> _F:
    """Arc cosine in radians; NaN outside [-1, 1]."""
    ...


@intrinsic("atan")
def atan(x: _F) -> _F:
    """Arc tangent in radians."""
    ...


@intrinsic("sinh")
def sinh(x: _F) -> _F:
    """Hyperbolic sine."""
    ...


@intrinsic("cosh")
def cosh(x: _F) -> _F:
    """Hyperbolic cosine."""
    ...


@intrinsic("tanh")
def tanh(x: _F) -> _F:
    """Hyperbolic tangent."""
    ...


@intrinsic("erf")
def erf(x: _F) -> _F:
    """Error function."""
    ...


@intrinsic("floor")
def floor(x: _F) -> _F:
    """Rounds down."""
    ...


@intrinsic("ceil")
def ceil(x: _F) -> _F:
    """Rounds up."""
    ...


@intrinsic("round")
def round(x: _F) -> _F:
    """Rounds to the nearest integer, ties to even."""
    ...


@intrinsic("trunc")
def trunc(x: _F) -> _F:
    """Rounds toward zero."""
    ...


@intrinsic("recip")
def recip(x: _F) -> _F:
    """`1 / x`."""
    ...


@intrinsic("degrees")
def degrees(x: _F) -> _F:
    """Radians to degrees."""
    ...


@intrinsic("radians")
def radians(x: _F) -> _F:
    """Degrees to radians."""
    ...


@intrinsic("count_ones")
def count_ones(x: _I) -> _I:
    """How many bits are set."""
    ...


@intrinsic("reverse_bits")
def reverse_bits(x: _I) -> _I:
    """The bits in opposite order."""
    ...


@intrinsic("leading_zeros")
def leading_zeros(x: _I) -> _I:
    """Zero bits above the highest set one; all bits for 0."""
    ...


@intrinsic("trailing_zeros")
def trailing_zeros(x: _I) -> _I:
    """Zero bits below the lowest set one; all bits for 0."""
    ...


@intrinsic("atan2")
def atan2(y: _F, x: _F) -> _F:
    """Angle of the point (x, y) in radians, in [-pi, pi]."""
    ...


@intrinsic("powf")
def powf(base: _F, exponent: _F | float) -> _F:
    """`base` to a float power."""
    ...


@intrinsic("powi")
def powi(base: _F, exponent: int) -> _F:
    """`base` to an integer power."""
    ...


@intrinsic("hypot")
def hypot(x: _F, y: _F) -> _F:
    """`sqrt(x * x + y * y)` without overflow in between."""
    ...


@intrinsic("fma")
def fma(a: _F, b: _F, c: _F) -> _F:
    """`a * b + c`, rounded once where the target can."""
    ...


@intrinsic("clamp")
def clamp(x: _N, low: _N | int | float, high: _N | int | float) -> _N:
    """`min(max(x, low), high)`; NaN stays NaN."""
    ...


@intrinsic("is_nan")
def is_nan(x: Float) -> bool:
    """Whether `x` is not a number, by its bits."""
    ...


@intrinsic("is_inf")
def is_inf(x: Float) -> bool:
    """Whether `x` is infinite, by its bits."""
    ...
