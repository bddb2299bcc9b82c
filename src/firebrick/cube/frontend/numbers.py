"""How numbers meet: the types of literals, weak values, operators and conversions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from firebrick.cube.frontend.values import Comptime, Dynamic, Value, describe_value, is_number
from firebrick.cube.ir.nodes import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
)
from firebrick.cube.ir.types import BOOL, F32, Type

Refuse = Callable[[str], Any]
"""Raises `KernelTypeError` at the place that is being lowered."""

_operator: Any = operator  # its functions are generic in ways that no table can say
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": _operator.add, "sub": _operator.sub, "mul": _operator.mul, "div": _operator.truediv,
    "floordiv": _operator.floordiv, "mod": _operator.mod, "and": _operator.and_,
    "or": _operator.or_,
    "xor": _operator.xor, "shl": _operator.lshift, "shr": _operator.rshift, "pow": _operator.pow,
    "min": min, "max": max, "eq": _operator.eq, "ne": _operator.ne, "lt": _operator.lt,
    "le": _operator.le, "gt": _operator.gt, "ge": _operator.ge,
}  # fmt: skip
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "and": "&",
    "or": "|", "xor": "^", "shl": "<<", "shr": ">>", "pow": "**", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "min": "min", "max": "max",
}  # fmt: skip
BITWISE = frozenset({"and", "or", "xor", "shl", "shr"})
COMPARISONS: frozenset[str] = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def int_range(type: Type) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if type.kind == "uint":
        return 0, (1 << type.bits) - 1
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1


def constant(value: bool | int | float, type: Type, refuse: Refuse) -> Constant:
    """A literal in a type that it meets."""
    if type == BOOL:
        if not isinstance(value, bool):
            refuse(f"{value!r} is a number where a bool is due; compare it with something.")
        return Constant(type, value)
    if isinstance(value, bool):
        refuse(f"{value!r} is a bool where a {type} is due; write `int(...)` or 0 and 1.")
    if type.is_float:
        return Constant(type, float(value))
    if isinstance(value, float):
        refuse(f"{value!r} is a float where a {type} is due; write an integer, or `cube.cast`.")
    low, high = int_range(type)
    if not low <= value <= high:
        refuse(f"{value!r} does not fit {type}, which holds {low} to {high}.")
    return Constant(type, int(value))


def alone(value: Value, index_type: Type, refuse: Refuse) -> Expression:
    """A number in the type that it has by itself: `int` is the index type, `float` is f32."""
    if isinstance(value, Dynamic):
        return value.expression
    if isinstance(value, Comptime):
        known = value.value
        if isinstance(known, bool):
            return Constant(BOOL, known)
        if isinstance(known, int):
            return constant(known, index_type, refuse)
        if isinstance(known, float):
            return Constant(F32, known)
    return refuse(f"{describe_value(value)} is not a number.")


def coerce(value: Value, type: Type, refuse: Refuse, what: str) -> Expression:
    """A number in a type that is given; weak ones convert, others must have it."""
    if isinstance(value, Comptime) and isinstance(value.value, bool | int | float):
        return constant(value.value, type, refuse)
    if not isinstance(value, Dynamic):
        return refuse(f"{what} takes a number of type {type}; got {describe_value(value)}.")
    if value.type == type:
        return value.expression
    if value.at is not None and type != BOOL and (value.type.is_integer or type.is_float):
        return value.at(type)
    return refuse(
        f"{what} takes type {type}; got type {value.type}. Convert it with "
        f"`cube.cast(..., cube.{type})`."
    )


def weak_int(expression: Expression) -> Dynamic:
    """A value of the language's `int`."""
    return Dynamic(expression, lambda type: convert(expression, type))


def weak_float(at: Callable[[Type], Expression]) -> Dynamic:
    """A value of the language's `float`, built in the type that it meets."""
    return Dynamic(at(F32), at)


def settled(expression: Expression, *, weak: bool) -> Dynamic:
    """A number that was put into a variable; a weak one still takes the type of what it meets."""
    return weak_int(expression) if weak else Dynamic(expression)


def convert(expression: Expression, type: Type) -> Expression:
    """A cast, unless the type is right already."""
    return expression if expression.type == type else Cast(type, expression)


def is_float_value(value: Value) -> bool:
    """Whether a number is a float."""
    if isinstance(value, Comptime):
        return isinstance(value.value, float)
    return isinstance(value, Dynamic) and value.type.is_float


def is_weak(value: Value) -> bool:
    """Whether a number takes the type of what it meets."""
    return isinstance(value, Comptime) or (isinstance(value, Dynamic) and value.is_weak)


def binary(op: str, left: Value, right: Value, index_type: Type, refuse: Refuse) -> Value:
    """`left op right` by the rules of types; `op` may be a comparison, `min`, `max` or `pow`."""
    symbol = SYMBOLS[op]
    for side in (left, right):
        if not is_number(side):
            refuse(f"`{symbol}` takes numbers; got {describe_value(side)}.")
    if isinstance(left, Comptime) and isinstance(right, Comptime):
        return _known(op, left.value, right.value, refuse)
    if op == "pow":
        return power(left, right, refuse)
    if is_weak(left) and is_weak(right):
        return _weak(op, left, right, index_type, refuse)
    strong = right if is_weak(left) else left
    assert isinstance(strong, Dynamic)
    type = strong.type
    other = left if strong is right else right
    if isinstance(other, Dynamic) and not other.is_weak and other.type != type:
        refuse(
            f"`{symbol}` takes operands of one type; got {_type_of(left)} and {_type_of(right)}. "
            "Convert one with `cube.cast`."
        )
    _check_operator(op, type, refuse)
    what = f"`{symbol}`"
    return _apply(op, coerce(left, type, refuse, what), coerce(right, type, refuse, what))


def _type_of(value: Value) -> str:
    return str(value.type) if isinstance(value, Dynamic) else describe_value(value)


def _known(op: str, left: Any, right: Any, refuse: Refuse) -> Comptime:
    try:
        return Comptime(PYTHON[op](left, right))
    except (ArithmeticError, TypeError, ValueError) as reason:
        return refuse(f"`{left!r} {SYMBOLS[op]} {right!r}` cannot be evaluated: {reason}.")


def _weak(op: str, left: Value, right: Value, index_type: Type, refuse: Refuse) -> Value:
    """Python's own numbers with each other."""
    if _is_bool(left) or _is_bool(right):
        _check_operator(op, BOOL, refuse)
        what = f"`{SYMBOLS[op]}`"
        return _apply(op, coerce(left, BOOL, refuse, what), coerce(right, BOOL, refuse, what))
    if is_float_value(left) or is_float_value(right) or op == "div":
        _check_operator(op, F32, refuse)

        def at(type: Type) -> Expression:
            what = f"`{SYMBOLS[op]}`"
            sides = (coerce(left, type, refuse, what), coerce(right, type, refuse, what))
            return _apply(op, *sides).expression

        return Dynamic(at(F32)) if op in COMPARISONS else weak_float(at)
    what = f"`{SYMBOLS[op]}`"
    sides = (coerce(left, index_type, refuse, what), coerce(right, index_type, refuse, what))
    done = _apply(op, *sides)
    return done if op in COMPARISONS else weak_int(done.expression)


def _is_bool(value: Value) -> bool:
    if isinstance(value, Comptime):
        return isinstance(value.value, bool)
    return isinstance(value, Dynamic) and value.type == BOOL


def _check_operator(op: str, type: Type, refuse: Refuse) -> None:
    symbol = SYMBOLS[op]
    if type == BOOL and op not in ("and", "or", "xor", "eq", "ne"):
        refuse(f"`{symbol}` is not defined for bools; write `int(...)` or use `and`, `or`, `not`.")
    if type.is_float and op in BITWISE:
        refuse(f"`{symbol}` is not defined for {type}; it works on the bits of integers.")
    if type.is_integer and op == "div":
        refuse(f"`/` is not defined for {type}; write `//`, or convert with `cube.cast`.")


def _apply(op: str, left: Expression, right: Expression) -> Dynamic:
    if op in COMPARISONS:
        compare: CompareOp = op  # pyright: ignore[reportAssignmentType] - one of COMPARISONS
        return Dynamic(Compare(compare, left, right))
    known: BinaryOp = op  # pyright: ignore[reportAssignmentType] - every other operator is one
    return Dynamic(Binary(known, left, right))


def power(base: Value, exponent: Value, refuse: Refuse) -> Value:
    """`base ** exponent`: products for small known exponents, else `powi` or `pow`."""
    if isinstance(base, Dynamic) and isinstance(exponent, Comptime):
        count = exponent.value
        if isinstance(count, int) and not isinstance(count, bool):
            return _known_power(base, count, refuse)
    if isinstance(exponent, Dynamic) and exponent.type.is_integer and is_float_value(base):
        raised = base.expression if isinstance(base, Dynamic) else Constant(F32, _float(base))
        return Dynamic(Call(raised.type, "powi", (raised, convert(exponent.expression, _I32))))
    if not is_float_value(base):
        refuse("`**` of an integer takes an exponent that is known when compiling.")
    type = base.type if isinstance(base, Dynamic) else F32
    if isinstance(exponent, Dynamic) and not exponent.is_weak:
        type = exponent.type
    sides = (coerce(base, type, refuse, "`**`"), coerce(exponent, type, refuse, "`**`"))
    return Dynamic(Call(type, "pow", sides))


_I32 = Type("i32")


def _float(value: Value) -> float:
    return float(value.value) if isinstance(value, Comptime) else math.nan


def _known_power(base: Dynamic, count: int, refuse: Refuse) -> Value:
    type = base.type
    if type == BOOL:
        refuse("`**` is not defined for bools.")
    if type.is_integer and count < 0:
        refuse(f"an integer to the power {count} is no integer; convert the base to a float.")
    if type.is_float and not 0 <= count <= _MAX_PRODUCTS:
        return Dynamic(Call(type, "powi", (base.expression, Constant(_I32, count))))
    if count == 0:
        return Dynamic(Constant(type, 1.0 if type.is_float else 1))
    product = _product(base.expression, count)
    return weak_int(product) if base.is_weak and type.is_integer else Dynamic(product)


_MAX_PRODUCTS = 4
"""Exponents up to this are written as products; beyond, `powi` is shorter."""


def _product(base: Expression, count: int) -> Expression:
    """By squaring, so that every target rounds alike."""
    if count == 1:
        return base
    half = _product(base, count // 2)
    square = Binary("mul", half, half)
    return Binary("mul", square, base) if count % 2 else square
