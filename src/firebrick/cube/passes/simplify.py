"""Expressions in simpler words, value by value the same.

The rules, named where they apply:

    EVALUATE       operators and functions of constants are evaluated, unless that gives a NaN.
    RIGHT          a constant stands on the right side of an operator that allows it.
    NEUTRAL        `x + 0`, `x * 1`, `x & -1`, `x << 0` are `x`; `x * 0`, `x - x` are 0.
    GATHER         `(x + 1) + 2` is `x + 3`: integers wrap, so that order does not matter.
    POWER OF TWO   `x // 8` is `x >> 3` and `x % 8` is `x & 7`, for negative `x` too.
    FLOAT          only `x * 1.0`, `x / 1.0`, `x - 0.0`, `x + -0.0` are `x`, and division by a power
                   of two is multiplication by its inverse. `x + 0.0` is not, since it turns -0.0
                   into 0.0, nor is `x * 0.0` 0, since it may be NaN.
    NEGATE         `not a < b` is `a >= b` for integers; with a NaN both are false.
    DECIDE         conditions that are known choose their side.
    CONVERT        conversions there and back, where nothing is lost on the way.
    DIMENSION      the size of a dimension that turns out not to exist is 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
    Extent,
    Function,
    Logical,
    Reinterpret,
    Select,
    Topology,
    Unary,
)
from firebrick.cube.ir.types import BOOL
from firebrick.cube.passes.effects import is_identical
from firebrick.cube.passes.evaluate import evaluate
from firebrick.cube.passes.knowledge import NEGATED
from firebrick.cube.passes.positions import simplify_position

if TYPE_CHECKING:
    from firebrick.cube.ir.rewrite import Change
    from firebrick.cube.ir.types import Type

COMMUTATIVE: frozenset[BinaryOp] = frozenset({"add", "mul", "and", "or", "xor", "min", "max"})
SWAPPED: dict[CompareOp, CompareOp] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le",
}  # fmt: skip
LARGEST_EXPONENT = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}
"""Of normal numbers; the smallest one is 1 less it."""
MANTISSA_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def simplifier(function: Function) -> Change:
    """A change for `rewrite_expression`, for expressions of that function."""

    def change(expression: Expression) -> Expression:
        known = evaluate(expression)  # EVALUATE
        if known is not None and not _is_nan(known):
            return known
        match expression:
            case Topology() | Extent() | Call():
                return _reference(expression, function)
            case Binary():
                return _binary(expression)
            case Compare():
                return _compare(expression)
            case Unary():
                return _unary(expression)
            case Logical() | Select():
                return _decided(expression)
            case Cast() | Reinterpret():
                return _converted(expression)
            case _:
                return expression

    return change


def _reference(expression: Topology | Extent | Call, function: Function) -> Expression:
    match expression:
        case Topology():
            return simplify_position(expression, function)
        case Extent(type, buffer, _, Constant(value=dim)) if not 0 <= dim < buffer.rank:
            return Constant(type, 0)  # DIMENSION
        case Call(name="powi" | "pow", arguments=(base, Constant(value=1))):
            return base  # NEUTRAL
        case _:
            return expression


def _is_nan(known: Constant) -> bool:
    """Then it is left to the target: which bits a NaN has depends on how it came about."""
    return isinstance(known.value, float) and math.isnan(known.value)


# ---- operators --------------------------------------------------------------------------------


def _binary(expression: Binary) -> Expression:
    if expression.type.is_float:
        return _float_binary(expression)
    left, right = expression.left, expression.right
    if isinstance(left, Constant) and expression.op in COMMUTATIVE:  # RIGHT
        left, right = right, left
    expression = replace(expression, left=left, right=right)
    if isinstance(right, Constant):
        return _with_constant(expression, int(right.value))
    return _with_itself(expression) if is_identical(left, right) else expression


def _with_itself(expression: Binary) -> Expression:
    if expression.op in ("and", "or", "min", "max"):  # NEUTRAL
        return expression.left
    if expression.op in ("sub", "xor"):
        return _constant(expression.type, 0)
    return expression


def _with_constant(expression: Binary, value: int) -> Expression:
    """`x op value`."""
    left, type = expression.left, expression.type
    all_bits = 1 if type == BOOL else -1 if type.kind == "int" else integer_range(type)[1]
    match expression.op:
        case "add" | "sub" | "or" | "xor" | "shl" | "shr" if value == 0:  # NEUTRAL
            return left
        case "mul" | "floordiv" if value == 1:
            return left
        case "mul" | "and" | "floordiv" | "mod" if value == 0:
            return _constant(type, 0)
        case "and" if value == all_bits:
            return left
        case "or" if value == all_bits:
            return expression.right
        case "mod" if abs(value) == 1:
            return _constant(type, 0)
        case "add" | "sub" | "mul":
            return _gathered(expression)
        case "floordiv" | "mod":
            return _by_power_of_two(expression, value)
        case _:
            return expression


def _constant(type: Type, value: int) -> Constant:
    return Constant(type, bool(value) if type == BOOL else value)


def _gathered(expression: Binary) -> Expression:
    op, inner, type = expression.op, expression.left, expression.type
    if isinstance(inner, Binary) and isinstance(inner.right, Constant):
        together = _together(op, inner, expression.right)  # GATHER
        if together is not None:
            return _binary(together)
    if op == "mul" or not isinstance(expression.right, Constant):
        return expression
    negative = int(expression.right.value)
    if type.kind == "int" and integer_range(type)[0] < negative < 0:  # `x + -1` is `x - 1`
        return Binary("sub" if op == "add" else "add", inner, Constant(type, -negative))
    return expression


def _together(op: BinaryOp, inner: Binary, outer: Expression) -> Binary | None:
    """`(x inner.op c) op outer` with one constant."""
    match inner.op, op:
        case ("mul", "mul"):
            part = evaluate(Binary("mul", inner.right, outer))
        case ("add", "add") | ("sub", "sub"):
            part = evaluate(Binary("add", inner.right, outer))
        case ("add", "sub") | ("sub", "add"):
            part = evaluate(Binary("sub", inner.right, outer))
        case _:
            return None
    return None if part is None else Binary(inner.op, inner.left, part)


def _by_power_of_two(expression: Binary, value: int) -> Expression:
    if value <= 0 or value & (value - 1):
        return expression
    if expression.op == "mod":  # POWER OF TWO
        return Binary("and", expression.left, Constant(expression.type, value - 1))
    shift = Constant(expression.type, value.bit_length() - 1)
    return Binary("shr", expression.left, shift)


def _float_binary(expression: Binary) -> Expression:
    match expression:
        case Binary("mul", other, Constant(value=1.0)) | Binary("mul", Constant(value=1.0), other):
            return other  # FLOAT
        case Binary("div", other, Constant(value=1.0)):
            return other
        case Binary("sub", other, Constant(value=0.0 as zero)) if math.copysign(1, zero) > 0:
            return other
        case Binary("add", other, Constant(value=0.0 as zero)) if math.copysign(1, zero) < 0:
            return other
        case Binary("div", other, Constant(type, value)):
            inverse = _exact_inverse(type, float(value))
            return expression if inverse is None else Binary("mul", other, inverse)
        case _:
            return expression


def _exact_inverse(type: Type, value: float) -> Constant | None:
    """`1 / value` where it is a normal number without rounding."""
    mantissa, exponent = math.frexp(value)
    if not math.isfinite(value) or abs(mantissa) != 0.5:  # 0.5 * 2**exponent
        return None
    largest = LARGEST_EXPONENT[type.scalar]
    if not 1 - largest <= 1 - exponent <= largest:
        return None
    return Constant(type, 1.0 / value)


def _unary(expression: Unary) -> Expression:
    match expression:
        case Unary(op, Unary(inner, value)) if op == inner:
            return value
        case Unary("not", Compare(op, left, right)):
            if op in ("eq", "ne") or not left.type.is_float:  # NEGATE
                return Compare(NEGATED[op], left, right)
            return expression
        case _:
            return expression


# ---- conditions -------------------------------------------------------------------------------


def _compare(expression: Compare) -> Expression:
    if isinstance(expression.left, Constant):  # RIGHT
        op = SWAPPED[expression.op]
        expression = Compare(op, expression.right, expression.left)
    op, left, right = expression.op, expression.left, expression.right
    if not left.type.is_float and is_identical(left, right):
        return Constant(BOOL, op in ("eq", "le", "ge"))
    if not isinstance(right, Constant):
        return expression
    if left.type.kind == "uint" and right.value == 0 and op in ("lt", "ge"):
        return Constant(BOOL, op == "ge")
    if (
        isinstance(left, Cast)
        and left.value.type == BOOL
        and right.value == 0
        and op in ("eq", "ne")
    ):
        left, right = left.value, Constant(BOOL, False)
    return _compare_bool(op, left, right) if left.type == BOOL else expression


def _compare_bool(op: CompareOp, left: Expression, right: Constant) -> Expression:
    is_same = (op == "eq") is bool(right.value)
    return left if is_same else _unary(Unary("not", left))


def _decided(expression: Logical | Select) -> Expression:
    match expression:
        case Logical(op, Constant(value=value), right):  # DECIDE
            return right if bool(value) is (op == "and") else expression.left
        case Logical(op, left, Constant(value=value)):
            return left if bool(value) is (op == "and") else expression.right
        case Logical(_, left, right):
            return left if is_identical(left, right) else expression
        case Select(Constant(value=value), if_true, if_false):
            return if_true if value else if_false
        case Select(condition, Constant(type, yes), Constant(_, no)) if type == BOOL and yes != no:
            return condition if yes else _unary(Unary("not", condition))
        case Select(Unary("not", condition), if_true, if_false, lazy):
            return Select(condition, if_false, if_true, lazy)
        case Select(_, if_true, if_false):
            return if_true if is_identical(if_true, if_false) else expression


# ---- conversions ------------------------------------------------------------------------------


def _converted(expression: Cast | Reinterpret) -> Expression:
    match expression:
        case Cast(type, value) | Reinterpret(type, value) if value.type == type:
            return value
        case Cast(type, Cast(middle, value)) if _is_lossless(value.type, middle, type):
            return value if value.type == type else Cast(type, value)  # CONVERT
        case Reinterpret(type, Reinterpret(_, value)):
            return value if value.type == type else Reinterpret(type, value)
        case _:
            return expression


def _is_lossless(source: Type, middle: Type, target: Type) -> bool:
    """Whether the way through `middle` gives what the direct way gives."""
    if source.is_float and middle.is_float:
        is_wider = MANTISSA_BITS[middle.scalar] >= MANTISSA_BITS[source.scalar]
        return is_wider and LARGEST_EXPONENT[middle.scalar] >= LARGEST_EXPONENT[source.scalar]
    if source == BOOL:
        return True
    if not (source.is_integer and middle.is_integer):
        return False
    low, high = integer_range(middle)
    first, last = integer_range(source)
    keeps_all = low <= first and last <= high
    # Wrapping keeps the low bits, which are all that a narrower integer needs.
    return keeps_all or (target.is_integer and target.bits <= middle.bits)
