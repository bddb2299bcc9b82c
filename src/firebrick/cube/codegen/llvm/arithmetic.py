"""Operators of the language on values: what LLVM leaves undefined is defined here.

Integers wrap; division by zero gives 0; shifts by too much give 0 or the sign; `min` and `max` keep
NaN. Nothing carries fast-math flags, so that a product and a sum round twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.conversions import round_to
from firebrick.cube.ir.nodes import BinaryOp, CompareOp, Constant, Expression, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.codegen.llvm.text import Value
    from firebrick.cube.ir.types import Type

_FLOAT_COMPARISONS: dict[CompareOp, str] = {
    "eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge",
}  # fmt: skip
_EXACT: frozenset[BinaryOp] = frozenset({"min", "max"})
"""Float operations whose result needs no rounding to a half type."""
_FLOAT_DIVIDES_BITS = 16
"""Integers of up to this many bits are divided as floats."""
_DOUBLE_DIVIDES_BITS = 32
"""Larger ones of up to this many bits are divided as doubles."""


def unary(op: UnaryOp, value: Value) -> Value:
    """`neg`, `invert` or `not`."""
    if op == "neg":
        return -value
    return value ^ (True if value.type == "i1" else -1)


def compare(op: CompareOp, left: Value, right: Value, type: Type) -> Value:
    """A bool; with NaN only `ne` holds."""
    if type.is_float:
        return left.compare(_FLOAT_COMPARISONS[op], right)
    if op in ("eq", "ne"):
        return left.compare(op, right)
    return left.compare(f"{'s' if type.kind == 'int' else 'u'}{op}", right)


def binary(
    op: BinaryOp, left: Value, right: Value, type: Type, divisor: Expression | None = None
) -> Value:
    """An operator of two operands of a type; `divisor` is what the right one comes from."""
    if type.is_float:
        done = _FLOATS[op](left, right)
        return done if op in _EXACT else round_to(type, done)
    if op in ("floordiv", "mod"):
        return _divide(op, left, right, type, divisor)
    return _INTEGERS[op](left, right, type)


# ---- floats -----------------------------------------------------------------------------------


def _float_mod(left: Value, right: Value) -> Value:
    """`np.mod`: the exact remainder with the sign of the divisor."""
    rest = left.binary("frem", right)
    has_other_sign = rest.compare("olt", 0.0) ^ right.compare("olt", 0.0)
    moved = has_other_sign.select(rest + right, rest)
    signed_zero = left.same(0.0).call("copysign", right)
    return rest.compare("oeq", 0.0).select(signed_zero, moved)


_FLOATS: dict[BinaryOp, Callable[[Value, Value], Value]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: (a / b).call("floor"),
    "mod": _float_mod,
    "min": lambda a, b: a.call("minimum", b),
    "max": lambda a, b: a.call("maximum", b),
}


# ---- integers ---------------------------------------------------------------------------------


def _smaller(left: Value, right: Value, type: Type) -> Value:
    return left.call("smin" if type.kind == "int" else "umin", right)


def _larger(left: Value, right: Value, type: Type) -> Value:
    return left.call("smax" if type.kind == "int" else "umax", right)


def _shift_left(left: Value, right: Value, type: Type) -> Value:
    is_defined = right.compare("ult", type.bits)
    return is_defined.select(left << (right & (type.bits - 1)), 0)


def _shift_right(left: Value, right: Value, type: Type) -> Value:
    if type.kind == "int":
        return left >> right.call("umin", type.bits - 1)
    is_defined = right.compare("ult", type.bits)
    return is_defined.select(left.binary("lshr", right & (type.bits - 1)), 0)


_INTEGERS: dict[BinaryOp, Callable[[Value, Value, Type], Value]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "shl": _shift_left,
    "shr": _shift_right,
    "min": _smaller,
    "max": _larger,
}


def _divide(op: str, left: Value, right: Value, type: Type, divisor: Expression | None) -> Value:
    """Python's `//` or `%`; 0 for a zero divisor."""
    known = divisor.value if isinstance(divisor, Constant) else 0
    if not known and type.bits <= _DOUBLE_DIVIDES_BITS:
        return _through_floats(op, left, right, type)
    if type.kind == "uint":
        return _unsigned(op, left, right, is_safe=bool(known))
    return _signed(op, left, right, type, is_safe=known not in (0, -1))


def _unsigned(op: str, left: Value, right: Value, *, is_safe: bool) -> Value:
    instruction = "udiv" if op == "floordiv" else "urem"
    if is_safe:
        return left.binary(instruction, right)
    is_zero = right.compare("eq", 0)
    done = left.binary(instruction, is_zero.select(right.same(1), right))
    return is_zero.select(done.same(0), done)


def _signed(op: str, left: Value, right: Value, type: Type, *, is_safe: bool) -> Value:
    safe, is_zero = right, None
    if not is_safe:
        is_zero = right.compare("eq", 0)
        lowest = -(1 << (type.bits - 1))
        overflows = left.compare("eq", lowest) & right.compare("eq", -1)
        # The lowest number over -1 wraps to itself, which is what 1 gives.
        safe = (is_zero | overflows).select(right.same(1), right)
    quotient, rest = left.binary("sdiv", safe), left.binary("srem", safe)
    is_below = rest.compare("ne", 0) & (rest ^ safe).compare("slt", 0)
    if op == "floordiv":
        done = is_below.select(quotient - 1, quotient)
    else:
        done = is_below.select(rest + safe, rest)
    return done if is_zero is None else is_zero.select(done.same(0), done)


def _through_floats(op: str, left: Value, right: Value, type: Type) -> Value:
    """Division that processors have for vectors.

    With twice as many bits as the operands and more, a quotient that is no integer stays away from
    the next one: `a / b` differs from it by `1 / b` at least.
    """
    register = "float" if type.bits <= _FLOAT_DIVIDES_BITS else "double"
    sign = "s" if type.kind == "int" else "u"
    is_zero = right.compare("eq", 0)
    safe = is_zero.select(right.same(1), right)
    if type.kind == "int":
        overflows = left.compare("eq", -(1 << (type.bits - 1))) & right.compare("eq", -1)
        safe = overflows.select(right.same(1), safe)
    exact = left.convert(f"{sign}itofp", register) / safe.convert(f"{sign}itofp", register)
    quotient = exact.call("floor").convert(f"fpto{sign}i", left.type)
    done = quotient if op == "floordiv" else left - quotient * safe
    return is_zero.select(done.same(0), done)
