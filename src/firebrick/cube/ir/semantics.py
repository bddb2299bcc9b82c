"""What the operators and functions of the IR give, number by number.

The one definition: constant folding and the interpreter evaluate through it, and every target is
tested against it. Integers wrap; `floordiv` and `mod` are Python's, by zero they give 0; f16 and
bf16 compute in f32. `docs/kernels.md` says the same in prose.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from firebrick.cube.ir.nodes import BinaryOp, CompareOp, MathName, UnaryOp
from firebrick.cube.ir.representation import Number, round_result, to_bits, wrap
from firebrick.cube.ir.types import BOOL, Type

# ---- operators --------------------------------------------------------------------------------


def evaluate_unary(op: UnaryOp, type: Type, value: Number) -> Number:
    """`op value` for an operand of that type."""
    if op == "not":
        return not value
    if op == "invert":
        return wrap(type, ~int(value))
    return -value if type.is_float else wrap(type, -int(value))


def evaluate_binary(op: BinaryOp, type: Type, left: Number, right: Number) -> Number:
    """`left op right` for operands of that type."""
    if type.is_float:
        return round_result(type, FLOAT_OPERATORS[op](left, right))
    if type == BOOL:
        return BOOL_OPERATORS[op](bool(left), bool(right))
    if op in ("shl", "shr"):
        return _shift(op, type, int(left), int(right))
    return wrap(type, INTEGER_OPERATORS[op](int(left), int(right)))


def evaluate_compare(op: CompareOp, left: Number, right: Number) -> bool:
    """A comparison; with a NaN only `ne` holds."""
    return COMPARISONS[op](left, right)


def _floordiv(left: int, right: int) -> int:
    return left // right if right else 0


def _mod(left: int, right: int) -> int:
    return left % right if right else 0


def _shift(op: BinaryOp, type: Type, value: int, count: int) -> int:
    """The count is unsigned; from the number of bits on everything is shifted out."""
    count = min(to_bits(type, count), type.bits)
    return wrap(type, value << count) if op == "shl" else value >> count


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _float_mod(left: float, right: float) -> float:
    return left % right if right else math.nan


def _smaller(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return min(left, right)


def _larger(left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return max(left, right)


INTEGER_OPERATORS: dict[BinaryOp, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": _floordiv,
    "mod": _mod, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "min": min,
    "max": max,
}  # fmt: skip
"""Shifts need the number of bits and stand apart."""
BOOL_OPERATORS: dict[BinaryOp, Callable[[bool, bool], bool]] = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
COMPARISONS: dict[CompareOp, Callable[[Number, Number], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip

# ---- mathematics ------------------------------------------------------------------------------


def evaluate_call(name: MathName, type: Type, arguments: tuple[Number, ...]) -> Number:
    """A function of mathematics; `type` is that of the first argument."""
    if name in PREDICATES:
        return PREDICATES[name](float(arguments[0]))
    if name == "abs" and not type.is_float:
        return wrap(type, abs(int(arguments[0])))
    if name in BIT_FUNCTIONS:
        return wrap(type, BIT_FUNCTIONS[name](to_bits(type, arguments[0]), type.bits))
    if name == "powi":
        return _powi(type, float(arguments[0]), int(arguments[1]))
    if name == "fma":
        return round_result(type, _fma(type, *map(float, arguments)))
    with np.errstate(all="ignore"):
        return round_result(type, float(FLOAT_FUNCTIONS[name](*arguments)))


def _powi(type: Type, base: float, exponent: int) -> float:
    """By repeated squaring, rounding every product as a target does."""
    result, square, rest = 1.0, base, abs(exponent)
    while rest:
        if rest & 1:
            result = round_result(type, result * square)
        rest >>= 1
        if rest:
            square = round_result(type, square * square)
    return round_result(type, _divide(1.0, result)) if exponent < 0 else result


def _fma(type: Type, left: float, right: float, addend: float) -> float:
    """`left * right + addend` with one rounding, to f64 or, narrower types, to f32."""
    product = left * right
    if not (math.isfinite(left) and math.isfinite(right) and math.isfinite(addend)):
        return product + addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if exact == 0:
        return product + addend  # the sign of a zero as in two steps
    return _round_fraction(exact, 53 if type.bits == 64 else 24, -1074 if type.bits == 64 else -149)


def _round_fraction(exact: Fraction, digits: int, lowest: int) -> float:
    """To a binary float of so many digits whose last one is worth at least `2**lowest`."""
    scale = abs(exact.numerator).bit_length() - exact.denominator.bit_length() - digits
    scale = max(scale, lowest)
    if abs(exact) >= Fraction(2) ** (scale + digits) and scale >= lowest:
        scale += 1
    steps = round(exact / Fraction(2) ** scale)  # to even
    try:
        return math.ldexp(steps, scale)
    except OverflowError:
        return math.copysign(math.inf, steps)


def _reverse_bits(bits: int, width: int) -> int:
    return int(f"{bits:0{width}b}"[::-1], 2)


def _trailing_zeros(bits: int, width: int) -> int:
    return (bits & -bits).bit_length() - 1 if bits else width


FLOAT_OPERATORS: dict[BinaryOp, Callable[[float, float], float]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": _divide,
    "mod": _float_mod, "min": _smaller, "max": _larger,
}  # fmt: skip
PREDICATES: dict[str, Callable[[float], bool]] = {"is_nan": math.isnan, "is_inf": math.isinf}
BIT_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "count_ones": lambda bits, width: bits.bit_count(),
    "reverse_bits": _reverse_bits,
    "leading_zeros": lambda bits, width: width - bits.bit_length(),
    "trailing_zeros": _trailing_zeros,
}
FLOAT_FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "erf": math.erf, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "abs": abs, "atan2": np.arctan2,
    "pow": np.power, "hypot": np.hypot, "degrees": np.degrees, "radians": np.radians,
    "inverse_sqrt": lambda value: np.float64(1.0) / np.sqrt(np.float64(value)),
    "recip": lambda value: _divide(1.0, value),
}  # fmt: skip
"""In f64, rounded to the type once."""
