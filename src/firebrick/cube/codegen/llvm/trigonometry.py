"""Trigonometric functions and their inverses, and float powers.

The argument of sin, cos and tan is reduced in double precision: the remainder of `x * 2/pi` modulo
4 is `x` times a table entry per exponent of `x`, from which whole multiples of 4 are left out
already, so that the largest floats are as exact as small ones (M. Payne, R. Hanek 1983, "Radian
reduction for trigonometric functions", SIGNUM Newsletter 18(1), with the table in place of the long
product). The inverse functions, tan and pow are evaluated in double precision and rounded once.
Coefficients come from `tools/fit_polynomials.py`; the reductions of the inverse functions are those
of Cephes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.elementary import at_least, at_most, horner

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.text import Value

SIN = (-0.16666654609551232, 0.008332160761991461, -0.00019515283207102312)
COS = (0.04166664568296941, -0.0013887316254106107, 2.4433157033258133e-05)
SIN_DOUBLE = (
    -0.16666666640797148, 0.008333329304852878, -0.00019839312272170134, 2.7181216487988067e-06,
)  # fmt: skip
COS_DOUBLE = (
    0.041666666619490964, -0.0013888883500052817, 2.479946015018391e-05, -2.720575396367281e-07,
)  # fmt: skip
ATAN = (
    -0.333333268995658, 0.19999671123563573, -0.14279833060849337, 0.11058223747013735,
    -0.08811091636927254, 0.0674159777516187, -0.04468995110594896, 0.022539875238463774,
    -0.007317960453188957, 0.0011137895490985837,
)  # fmt: skip
ASIN = (
    0.16666659991292268, 0.07500504185490624, 0.044516954822642604, 0.03180772222514023,
    0.014438588580043203, 0.0375164746601983,
)  # fmt: skip
ATANH = (
    0.333333333378832, 0.19999997816805143, 0.14286053958480177, 0.11088120081439584,
    0.09791708535795773,
)  # fmt: skip
EXP2 = (
    0.6931471807045322, 0.24022651066561304, 0.055504103659912714, 0.009618038132044628,
    0.0013333935055994692, 0.00015466756319528803, 1.5196156392571553e-05,
)  # fmt: skip

HALF_PI = math.pi / 2
_ROUNDER = 1.5 * 2.0**52
"""A double that is added and taken away again is rounded to an integer, which its bits hold."""
_ROUNDER_BITS = 0x4338000000000000
_MANTISSA_BITS = 52
_EXPONENT_BIAS = 1023
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_FLOAT_MANTISSA_BITS = 23
_EXPONENTS = 128
"""Of floats that are 1 or larger."""
_HIGH_BITS = 26
"""Bits behind the point of the table's first part: its product with a float is exact."""


# ---- sine, cosine, tangent --------------------------------------------------------------------


def _arctangent_of_inverse(n: int, bits: int) -> int:
    """`atan(1 / n) * 2**bits` by its series."""
    power = (1 << bits) // n
    total, k = power, 1
    while power:
        power //= n * n
        total += power // (2 * k + 1) * (-1) ** k
        k += 1
    return total


@cache
def _quadrants_table() -> tuple[list[float], list[float]]:
    """For each exponent e: `unit * 2/pi` modulo 4, over `unit`, as a sum of two doubles.

    `unit`, the last bit of a float, is `2**(e - 23)`: a float is a whole number of them.
    """
    bits, guard = 320, 32
    wide = bits + guard
    # Machin's formula: pi / 4 = 4 atan(1/5) - atan(1/239)
    quarter = 4 * _arctangent_of_inverse(5, wide) - _arctangent_of_inverse(239, wide)
    two_over_pi = ((1 << (2 * wide)) // (2 * quarter)) >> guard
    high: list[float] = []
    low: list[float] = []
    for exponent in range(_EXPONENTS):
        unit = exponent - _FLOAT_MANTISSA_BITS
        scaled = two_over_pi << unit if unit >= 0 else two_over_pi >> -unit
        turned = scaled & ((4 << bits) - 1)
        cut = bits - _HIGH_BITS
        high.append(math.ldexp(turned >> cut, -_HIGH_BITS - unit))
        rest = turned & ((1 << cut) - 1)
        drop = max(rest.bit_length() - 60, 0)
        low.append(math.ldexp(rest >> drop, drop - bits - unit))
    return high, low


def _quadrant(x: Value) -> tuple[Value, Value]:
    """A float as `angle + quadrant * pi/2`: a double within pi/4, and an `i32` modulo 4."""
    builder = x.builder
    wide = x.convert("fpext", "double")
    biased = x.bits().binary("lshr", _FLOAT_MANTISSA_BITS) & 0xFF
    row = (biased.call("umax", 127) - 127).call("umin", _EXPONENTS - 1).convert("zext", "i64")
    parts: list[Value] = []
    for name, numbers in zip(("high", "low"), _quadrants_table(), strict=True):
        table = builder.table(f"quadrants.{name}", "double", numbers)
        base = builder.address(table)
        parts.append(builder.load("double", builder.element(base, "double", row)))
    high, low = parts
    exact = wide * high
    rounded = wide.times_plus(low, exact) + _ROUNDER
    rest = wide.times_plus(low, exact - (rounded - _ROUNDER))
    return rest * HALF_PI, rounded.bits().convert("trunc", "i32")


def _sin_or_cos(x: Value, first_quadrant: int) -> Value:
    angle, quadrant = _quadrant(x)
    if first_quadrant:
        quadrant = quadrant + first_quadrant
    r = angle.convert("fptrunc", "float")
    z = r * r
    sine = horner(z, SIN).times_plus(z * r, r)
    cosine = horner(z, COS).times_plus(z * z, z.times_plus(-0.5, 1.0))
    value = (quadrant & 1).compare("ne", 0).select(cosine, sine)
    sign = (quadrant & 2) << 30
    return (value.bits() ^ sign).convert("bitcast", "float")


def sin(x: Value) -> Value:
    """Sine of radians."""
    return _sin_or_cos(x, 0)


def cos(x: Value) -> Value:
    """Cosine of radians."""
    return _sin_or_cos(x, 1)


def tan(x: Value) -> Value:
    """Tangent of radians."""
    r, quadrant = _quadrant(x)
    z = r * r
    sine = horner(z, SIN_DOUBLE).times_plus(z * r, r)
    cosine = horner(z, COS_DOUBLE).times_plus(z * z, z.times_plus(-0.5, 1.0))
    is_odd = (quadrant & 1).compare("ne", 0)
    above, below = is_odd.select(-cosine, sine), is_odd.select(sine, cosine)
    return (above / below).convert("fptrunc", "float")


# ---- inverse functions ------------------------------------------------------------------------


def _asin_parts(x: Value) -> tuple[Value, Value]:
    """`asin(|x|)`, or half of `acos(|x|)` where the second value, whether |x| > 1/2, holds."""
    size = x.convert("fpext", "double").call("fabs")
    is_large = size.compare("ogt", 0.5)
    z = is_large.select(0.5 - size * 0.5, size * size)
    s = is_large.select(z.call("sqrt"), size)
    return horner(z, ASIN).times_plus(z * s, s), is_large


def asin(x: Value) -> Value:
    """Arc sine."""
    part, is_large = _asin_parts(x)
    size = is_large.select(HALF_PI - part * 2.0, part)
    return size.convert("fptrunc", "float").call("copysign", x)


def acos(x: Value) -> Value:
    """Arc cosine."""
    part, is_large = _asin_parts(x)
    is_negative = x.compare("olt", 0.0)
    twice = part * 2.0
    far = is_negative.select(math.pi - twice, twice)
    near = HALF_PI - is_negative.select(-part, part)
    return is_large.select(far, near).convert("fptrunc", "float")


def _atan_of_ratio(above: Value, below: Value) -> Value:
    """The angle of positive numbers, in double precision."""
    is_steep = above.compare("ogt", below)
    ratio = is_steep.select(below, above) / is_steep.select(above, below)
    z = ratio * ratio
    angle = horner(z, ATAN).times_plus(z * ratio, ratio)
    return is_steep.select(HALF_PI - angle, angle)


def atan(x: Value) -> Value:
    """Arc tangent."""
    size = x.convert("fpext", "double").call("fabs")
    return _atan_of_ratio(size, size.same(1.0)).convert("fptrunc", "float").call("copysign", x)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y), with C's values at zeros and infinities."""
    above, below = (v.convert("fpext", "double").call("fabs") for v in (y, x))
    # 0/0 is taken for 0/1, inf/inf for 1/1.
    is_origin = above.compare("oeq", 0.0) & below.compare("oeq", 0.0)
    is_far = above.compare("oeq", math.inf) & below.compare("oeq", math.inf)
    above = is_far.select(above.same(1.0), above)
    below = (is_origin | is_far).select(below.same(1.0), below)
    angle = _atan_of_ratio(above, below)
    is_left = x.bits().compare("slt", 0)
    turned = is_left.select(math.pi - angle, angle).convert("fptrunc", "float")
    is_nan = x.compare("uno", y)
    return is_nan.select(x + y, turned.call("copysign", y))


# ---- powers -----------------------------------------------------------------------------------


def hypot(x: Value, y: Value) -> Value:
    """`sqrt(x*x + y*y)`; infinite if one is, NaN or not."""
    a, b = (v.convert("fpext", "double") for v in (x, y))
    root = (a * a + b * b).call("sqrt").convert("fptrunc", "float")
    infinite = [v.call("fabs").compare("oeq", math.inf) for v in (x, y)]
    return (infinite[0] | infinite[1]).select(root.same(math.inf), root)


def _log2(x: Value) -> Value:
    """Of a positive normal double."""
    bits = x.bits()
    exponent = (bits - _SQRT_HALF_BITS) >> _MANTISSA_BITS
    m = (bits - (exponent << _MANTISSA_BITS)).convert("bitcast", "double")
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    part = horner(z, ATANH).times_plus(z * s, s)
    whole = exponent.convert("trunc", "i32").convert("sitofp", "double")
    return part.times_plus(2.0 / math.log(2.0), whole)


def _exp2(x: Value) -> Value:
    """For results that are normal doubles."""
    rounded = x + _ROUNDER
    rest = x - (rounded - _ROUNDER)
    power = horner(rest, EXP2).times_plus(rest, 1.0)
    biased = rounded.bits() - (_ROUNDER_BITS - _EXPONENT_BIAS)
    return power * (biased << _MANTISSA_BITS).convert("bitcast", "double")


def pow(x: Value, y: Value) -> Value:
    """A power, with C's values at the edges (C17, F.10.4.4)."""
    base, exponent = (v.convert("fpext", "double") for v in (x, y))
    size = base.call("fabs")
    product = exponent * _log2(size)
    # Beyond 2**-200 and 2**200 a float is 0 or infinite anyway.
    value = _exp2(at_least(at_most(product, 200.0), -200.0))

    is_zero, is_infinite = size.compare("oeq", 0.0), size.compare("oeq", math.inf)
    grows = exponent.compare("ogt", 0.0)
    at_zero = grows.select(value.same(0.0), math.inf)
    at_infinity = grows.select(value.same(math.inf), 0.0)
    value = is_zero.select(at_zero, is_infinite.select(at_infinity, value))

    # An infinite exponent: 1 stays 1, the rest tends to 0 or infinity.
    is_endless = exponent.call("fabs").compare("oeq", math.inf)
    tends_up = size.compare("ogt", 1.0) ^ exponent.compare("olt", 0.0)
    limit = size.compare("oeq", 1.0).select(
        value.same(1.0), tends_up.select(value.same(math.inf), 0.0)
    )
    value = is_endless.select(limit, value)

    is_integer = exponent.call("floor").compare("oeq", exponent)
    half = exponent * 0.5
    is_odd = is_integer & half.call("floor").compare("one", half)
    signed = (is_odd & x.bits().compare("slt", 0)).select(-value, value)
    is_undefined = base.compare("olt", 0.0) & (is_integer ^ True) & (is_infinite ^ True)
    signed = is_undefined.select(value.same(math.nan), signed)
    signed = base.compare("uno", exponent).select(value.same(math.nan), signed)
    is_one = base.compare("oeq", 1.0) | exponent.compare("oeq", 0.0)
    return is_one.select(value.same(1.0), signed).convert("fptrunc", "float")
