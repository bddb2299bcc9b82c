"""Functions of the language on Python floats and integers, before rounding to a narrow type.

NumPy says what happens at the edges; `math` is faster and refuses some arguments, so it goes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Unary = Callable[[float], float]

# ---- division and order -----------------------------------------------------------------------


def divide(a: float, b: float) -> float:
    """`a / b`, infinite or NaN where Python raises."""
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo(a: float, b: float) -> float:
    """`np.mod`: the exact remainder with the sign of `b`; NaN for a zero `b`."""
    if b == 0.0 or math.isinf(a) or a != a or b != b:
        return math.nan
    rest = math.fmod(a, b)
    if rest == 0.0:
        return math.copysign(0.0, b)
    return rest + b if (rest < 0.0) != (b < 0.0) else rest


def smaller(a: float, b: float) -> float:
    """`np.minimum`: NaN if one is."""
    return a if a != a or a < b else b


def larger(a: float, b: float) -> float:
    """`np.maximum`: NaN if one is."""
    return a if a != a or a > b else b


# ---- integers ---------------------------------------------------------------------------------


def floor_divide(a: int, b: int) -> int:
    """Python's `a // b`; 0 for a zero `b`."""
    return a // b if b else 0


def remainder(a: int, b: int) -> int:
    """Python's `a % b`; 0 for a zero `b`."""
    return a % b if b else 0


def shift_left(a: int, count: int, bits: int) -> int:
    """`a << count`, to be wrapped; a negative count is a large unsigned one."""
    return a << count if 0 <= count < bits else 0


def shift_right(a: int, count: int, bits: int) -> int:
    """`a >> count`, which copies the sign."""
    return a >> count if 0 <= count < bits else -(a < 0)


def to_integer(value: float, low: int, high: int) -> int:
    """Truncates, saturates; 0 for NaN."""
    if math.isfinite(value):
        return min(max(int(value), low), high)
    return 0 if value != value else high if value > 0 else low


def reverse_bits(bits: int, count: int) -> int:
    """The lowest `count` bits of an unsigned number in opposite order."""
    return int(f"{bits:0{count}b}"[::-1], 2)


def trailing_zeros(bits: int, count: int) -> int:
    """Zero bits below the lowest set one; `count` for 0."""
    return (bits & -bits).bit_length() - 1 if bits else count


# ---- floats -----------------------------------------------------------------------------------


def _guarded(fast: Unary, edges: Callable[[np.float64], np.float64]) -> Unary:
    """`fast`, and `edges` for the arguments that it refuses."""

    def call(value: float) -> float:
        try:
            return fast(value)
        except (ValueError, OverflowError):
            return float(edges(np.float64(value)))

    return call


def _integral(toward: Callable[[float], int]) -> Unary:
    """Rounds to an integer; infinities, NaN and the sign of zero stay."""

    def call(value: float) -> float:
        return math.copysign(float(toward(value)), value) if math.isfinite(value) else value

    return call


def inverse_square_root(value: float) -> float:
    """`1 / sqrt(value)`; NaN below 0."""
    return math.nan if value < 0.0 else divide(1.0, math.sqrt(value))


def power(base: float, exponent: float) -> float:
    """`np.power`."""
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError):
        return float(np.power(np.float64(base), np.float64(exponent)))


def integer_power(base: float, exponent: int, narrow: Unary) -> float:
    """By repeated squaring, each product rounded by `narrow`; 1 over it for negative exponents."""
    result, square, left = 1.0, base, abs(exponent)
    while left:
        if left & 1:
            result = narrow(result * square)
        left >>= 1
        if left:
            square = narrow(square * square)
    return result if exponent >= 0 else narrow(divide(1.0, result))


def reciprocal(value: float) -> float:
    """`1 / value`."""
    return divide(1.0, value)


EXACT: dict[str, Unary] = {
    "floor": _integral(math.floor),
    "ceil": _integral(math.ceil),
    "trunc": _integral(math.trunc),
    "round": _integral(round),
    "abs": abs,
}
"""Functions whose result every float type holds."""

INEXACT: dict[str, Callable[..., float]] = {
    "exp": _guarded(math.exp, np.exp),
    "log": _guarded(math.log, np.log),
    "log1p": _guarded(math.log1p, np.log1p),
    "sqrt": _guarded(math.sqrt, np.sqrt),
    "inverse_sqrt": inverse_square_root,
    "sin": _guarded(math.sin, np.sin),
    "cos": _guarded(math.cos, np.cos),
    "tan": _guarded(math.tan, np.tan),
    "asin": _guarded(math.asin, np.arcsin),
    "acos": _guarded(math.acos, np.arccos),
    "atan": math.atan,
    "sinh": _guarded(math.sinh, np.sinh),
    "cosh": _guarded(math.cosh, np.cosh),
    "tanh": math.tanh,
    "erf": math.erf,
    "recip": reciprocal,
    "degrees": math.degrees,
    "radians": math.radians,
    "atan2": math.atan2,
    "pow": power,
    "hypot": math.hypot,
}
"""Functions whose result is rounded."""
