"""Floats of every width as Python floats: rounding, bits, and conversion from integers.

A value of a narrow type is a Python float that the narrow type holds exactly. Sums, products,
quotients and square roots of two narrow values may be computed in double precision and rounded once
more: 53 bits are enough for the result to be the correctly rounded one (Figueroa 1995, "When is
double rounding innocuous?", ACM SIGNUM 30(3)).
"""

from __future__ import annotations

import math
import struct
from ctypes import c_float
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_DOUBLE = struct.Struct("<d")
_SINGLE = struct.Struct("<f")
_HALF = struct.Struct("<e")
_U64 = struct.Struct("<Q")
_U32 = struct.Struct("<I")
_U16 = struct.Struct("<H")

# bfloat16: 8 bits of precision, the exponents of float32.
_BF16_MIN_NORMAL = 2.0**-126
_BF16_SMALLEST = 2.0**-133
_BF16_DROPPED_BITS = 52 - 7
_BF16_TOO_LARGE = 2.0**128
_BF16_NAN = 0x7FC0


# ---- rounding to the nearest, ties to even ----------------------------------------------------


def round_f32(value: float) -> float:
    """The nearest float32."""
    return c_float(value).value


def round_f16(value: float) -> float:
    """The nearest float16."""
    try:
        return _HALF.unpack(_HALF.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def round_bf16(value: float) -> float:
    """The nearest bfloat16."""
    if not math.isfinite(value):
        return value
    if abs(value) < _BF16_MIN_NORMAL:  # equally spaced; the scaled value is exact
        return math.copysign(round(value / _BF16_SMALLEST) * _BF16_SMALLEST, value)
    bits: int = _U64.unpack(_DOUBLE.pack(value))[0]
    half_less_one = (1 << (_BF16_DROPPED_BITS - 1)) - 1
    last_kept = (bits >> _BF16_DROPPED_BITS) & 1
    bits = (bits + half_less_one + last_kept) >> _BF16_DROPPED_BITS << _BF16_DROPPED_BITS
    rounded: float = _DOUBLE.unpack(_U64.pack(bits))[0]
    return rounded if abs(rounded) < _BF16_TOO_LARGE else math.copysign(math.inf, value)


def keep_f64(value: float) -> float:
    """A float64 needs no rounding."""
    return value


def narrow_f16(value: float) -> float:
    """Computed in float32, then rounded: how float16 arithmetic is defined."""
    return round_f16(c_float(value).value)


def narrow_bf16(value: float) -> float:
    """Computed in float32, then rounded: how bfloat16 arithmetic is defined."""
    return round_bf16(c_float(value).value)


ROUND: dict[str, Callable[[float], float]] = {
    "f16": round_f16,
    "bf16": round_bf16,
    "f32": round_f32,
    "f64": keep_f64,
}
NARROW: dict[str, Callable[[float], float]] = {
    "f16": narrow_f16,
    "bf16": narrow_bf16,
    "f32": round_f32,
    "f64": keep_f64,
}


def single_from_int(value: int) -> float:
    """The float32 nearest to an integer; by way of a double a 64 bit one would round twice."""
    size = abs(value)
    spare = size.bit_length() - 40
    if spare <= 0:
        return c_float(value).value
    # What is cut off leaves a mark far below the last bit of a float32.
    is_inexact = size & ((1 << spare) - 1) != 0
    marked = math.ldexp((size >> spare) | is_inexact, spare)
    return c_float(math.copysign(marked, value)).value


# ---- bits -------------------------------------------------------------------------------------


def bits_f64(value: float) -> int:
    """The bits of a float64."""
    return _U64.unpack(_DOUBLE.pack(value))[0]


def bits_f32(value: float) -> int:
    """The bits of a float32."""
    return _U32.unpack(_SINGLE.pack(value))[0]


def bits_f16(value: float) -> int:
    """The bits of a float16."""
    return _U16.unpack(_HALF.pack(value))[0]


def bits_bf16(value: float) -> int:
    """The bits of a bfloat16: the upper half of a float32's, where NaN stays NaN."""
    return _BF16_NAN if value != value else bits_f32(value) >> 16


def f64_of_bits(bits: int) -> float:
    """The float64 of these bits."""
    return _DOUBLE.unpack(_U64.pack(bits))[0]


def f32_of_bits(bits: int) -> float:
    """The float32 of these bits."""
    return _SINGLE.unpack(_U32.pack(bits))[0]


def f16_of_bits(bits: int) -> float:
    """The float16 of these bits."""
    return _HALF.unpack(_U16.pack(bits))[0]


def bf16_of_bits(bits: int) -> float:
    """The bfloat16 of these bits."""
    return f32_of_bits(bits << 16)


# ---- one rounding for a product and a sum -----------------------------------------------------


def fma_single(a: float, b: float, c: float) -> float:
    """`a * b + c` of float32 values, to be rounded to float32 once more.

    The product is exact in double precision. The sum is rounded to odd, which the second rounding
    cannot tell from the exact sum (Boldo, Melquiond 2008, "Emulation of FMA", IEEE TC 57(4)).
    """
    product = a * b
    total = product + c
    if not math.isfinite(total):
        return total
    part = total - product
    rest = (product - (total - part)) + (c - part)  # Knuth's two-sum: the exact error
    if rest != 0.0 and bits_f64(total) & 1 == 0:
        return math.nextafter(total, math.copysign(math.inf, rest))
    return total


def fma_double(a: float, b: float, c: float) -> float:
    """`a * b + c` of float64 values, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:  # the sign of zero: that of the sum if a factor is 0, plus if both cancel
        return a * b + c if 0.0 in (a, b) else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
