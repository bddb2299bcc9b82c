"""exp, log and their kin in float, as straight-line code that LLVM turns into vectors.

Every function stays within 4 units in the last place of the exact result for every float, subnormal
ones included; `docs/ulp.md` has the measured table. The coefficients come from
`tools/fit_polynomials.py`.

Sources: argument reduction and the shape of `exp`, `log`, `sinh` and `tanh` are those of W. J.
Cody, W. Waite 1980, "Software Manual for the Elementary Functions", chapters 5, 6 and 12, and of
the Cephes library (S. L. Moshier, single precision part); `1 - exp(-x P(x))` for `erf` is N.
Juffa's form.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.text import Value

EXP = (
    0.49999993451695396, 0.16666520689790804, 0.04166838736389683, 0.008368709828063496,
    0.0013814613131496697,
)  # fmt: skip
LOG = (
    0.3333331260408163, -0.2500000959933674, 0.2000211865772242, -0.16667995856580795,
    0.14219552381404102, -0.12405588885936968, 0.11888162099100179, -0.1167565195998406,
    0.0674664103713235,
)  # fmt: skip
SINH = (0.1666666649756167, 0.008333350058128772, 0.0001983615978532149, 2.8169511881491005e-06)
TANH = (
    -0.3333328194203906, 0.13331442198864135, -0.053739715142448664, 0.020639087429766032,
    -0.005704987201347765,
)  # fmt: skip
ERF_NEAR = (
    0.12837915749533782, -0.3761255047320145, 0.11282455393945622, -0.026791464918392995,
    0.005032183744260359, -0.0006203266505018809,
)  # fmt: skip
ERF_FAR = (
    1.128622907186557, 0.6352568859339459, 0.10605962867663117, -0.02360721086050714,
    0.003568268208792261, -0.0003043314685629622, 9.364641955669355e-06,
)  # fmt: skip

LOG2_E = 1.0 / math.log(2.0)
LN2_HIGH = 0.693359375
"""Nine bits of log(2), so that its product with a small integer is exact."""
LN2_LOW = math.log(2.0) - LN2_HIGH

_ROUNDER = 1.5 * 2.0**23
"""A float that is added and subtracted again is rounded to an integer, which its bits then hold."""
_ROUNDER_BITS = 0x4B400000
_MANTISSA_BITS = 23
_EXPONENT_BIAS = 127
_SQRT_HALF_BITS = 0x3F3504F3
_LEAST_NORMAL = 2.0**-126
_LARGEST_EXP, _LEAST_EXP = 89.0, -105.0
"""Arguments beyond which `exp` is infinite and zero."""


def horner(x: Value, coefficients: tuple[float, ...]) -> Value:
    """A polynomial, lowest power first."""
    *lower, highest = coefficients
    value = x.same(highest)
    for coefficient in reversed(lower):
        value = value.times_plus(x, coefficient)
    return value


def at_most(x: Value, limit: float) -> Value:
    """The smaller one; NaN stays."""
    return x.compare("ogt", limit).select(x.same(limit), x)


def at_least(x: Value, limit: float) -> Value:
    """The larger one; NaN stays."""
    return x.compare("olt", limit).select(x.same(limit), x)


def _power_of_two(n: Value) -> Value:
    """`2**n` for a normal result."""
    return ((n + _EXPONENT_BIAS) << _MANTISSA_BITS).convert("bitcast", "float")


def _scaled(x: Value, n: Value) -> Value:
    """`x * 2**n` with one rounding, for results that may be subnormal or infinite."""
    half = n >> 1
    return x * _power_of_two(half) * _power_of_two(n - half)


# ---- exponentials -----------------------------------------------------------------------------


def _exp_parts(x: Value) -> tuple[Value, Value]:
    """`p` and an integer `n` with `exp(x) = p * 2**n`."""
    rounded = x.times_plus(LOG2_E, _ROUNDER)
    n = rounded - _ROUNDER
    rest = n.times_plus(-LN2_HIGH, x)
    rest = n.times_plus(-LN2_LOW, rest)
    power = horner(rest, EXP).times_plus(rest * rest, rest) + 1.0
    return power, rounded.bits() - _ROUNDER_BITS


def exp(x: Value) -> Value:
    """The power of e."""
    power, n = _exp_parts(at_least(at_most(x, _LARGEST_EXP), _LEAST_EXP))
    return _scaled(power, n)


def _half_exp(x: Value) -> Value:
    """`exp(x) / 2` for a positive x, infinite where that is too large."""
    power, n = _exp_parts(at_most(x, _LARGEST_EXP + 1.0))
    return _scaled(power, n - 1)


def sinh(x: Value) -> Value:
    """Hyperbolic sine."""
    size = x.call("fabs")
    half = _half_exp(size)
    far = half - 0.25 / half
    z = size * size
    near = horner(z, SINH).times_plus(z * size, size)
    return size.compare("olt", 1.0).select(near, far).call("copysign", x)


def cosh(x: Value) -> Value:
    """Hyperbolic cosine."""
    half = _half_exp(x.call("fabs"))
    return half + 0.25 / half


def tanh(x: Value) -> Value:
    """Hyperbolic tangent; beyond 9.1 it is 1."""
    size = x.call("fabs")
    power, n = _exp_parts(at_most(size, 9.5) * 2.0)
    far = 1.0 - 2.0 / power.times_plus(_power_of_two(n), 1.0)
    z = size * size
    near = horner(z, TANH).times_plus(z * size, size)
    return size.compare("olt", 0.625).select(near, far).call("copysign", x)


def erf(x: Value) -> Value:
    """Error function; beyond 3.9 it is 1."""
    size = x.call("fabs")
    near = horner(size * size, ERF_NEAR).times_plus(size, size)
    bounded = at_most(size, 4.0)
    power, n = _exp_parts(-(horner(bounded, ERF_FAR) * bounded))
    far = 1.0 - power * _power_of_two(n)
    return size.compare("olt", 0.875).select(near, far).call("copysign", x)


# ---- logarithms -------------------------------------------------------------------------------


def _exponent(bits: Value) -> Value:
    """`e` of `m * 2**e` with `m` between the roots of 1/2 and 2."""
    return (bits - _SQRT_HALF_BITS) >> _MANTISSA_BITS


def _log_of_parts(f: Value, exponent: Value) -> Value:
    """`log((1 + f) * 2**exponent)`."""
    e = exponent.convert("sitofp", "float")
    z = f * f
    small = horner(f, LOG) * f * z
    small = e.times_plus(LN2_LOW, small)
    small = z.times_plus(-0.5, small)
    return e.times_plus(LN2_HIGH, f + small)


def _log_edges(argument: Value, result: Value) -> Value:
    """The logarithm's values at 0, infinity, NaN and below 0."""
    inside = argument.compare("ogt", 0.0) & argument.compare("olt", math.inf)
    at_zero = argument.compare("oeq", 0.0).select(argument.same(-math.inf), math.nan)
    edge = argument.compare("oeq", math.inf).select(argument, at_zero)
    return inside.select(result, edge)


def log(x: Value) -> Value:
    """Natural logarithm."""
    is_subnormal = x.compare("olt", _LEAST_NORMAL)
    normal = is_subnormal.select(x * 2.0**_MANTISSA_BITS, x)
    bits = normal.bits()
    exponent = _exponent(bits)
    mantissa = (bits - (exponent << _MANTISSA_BITS)).convert("bitcast", "float")
    exponent = exponent - is_subnormal.select(exponent.same(_MANTISSA_BITS), 0)
    return _log_edges(x, _log_of_parts(mantissa - 1.0, exponent))


def log1p(x: Value) -> Value:
    """`log(1 + x)`; what `1 + x` loses is kept by scaling both terms of the sum."""
    total = x + 1.0
    bits = total.bits()
    exponent = _exponent(bits)
    scale = _power_of_two(-exponent)
    exact = x.times_plus(scale, scale - 1.0)
    mantissa = (bits - (exponent << _MANTISSA_BITS)).convert("bitcast", "float")
    # A large x loses nothing, and its scale is no normal number any more.
    f = x.compare("olt", 2.0**60).select(exact, mantissa - 1.0)
    done = _log_edges(total, _log_of_parts(f, exponent))
    return x.compare("oeq", 0.0).select(x, done)
