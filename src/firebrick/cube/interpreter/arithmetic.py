"""How an operation on values of a type is written in Python.

Integers are Python integers that are wrapped after each operation, floats Python floats that are
rounded. Texts that come in and go out bind like a name: they are names, calls or in parentheses.
"""

from __future__ import annotations

import math
from ctypes import c_float
from functools import cache
from typing import TYPE_CHECKING, Any

from firebrick.cube.interpreter import floats, mathematics
from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.types import BOOL, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.ir.nodes import BinaryOp, Constant, MathName

INFIX: dict[str, str] = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
INTEGER_CALLS: dict[str, str] = {
    "floordiv": "floor_divide", "mod": "remainder", "shl": "shift_left", "shr": "shift_right",
    "min": "min", "max": "max",
}  # fmt: skip
FLOAT_CALLS: dict[str, str] = {
    "div": "divide", "mod": "modulo", "min": "smaller", "max": "larger",
}  # fmt: skip
WITHIN_RANGE = frozenset({"and", "or", "xor", "mod", "shr", "min", "max"})
"""Integer operations whose result fits the type of the operands."""

NAMES: dict[str, Any] = {
    "c_float": c_float,
    "inf": math.inf,
    "nan": math.nan,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "single_from_int": floats.single_from_int,
    "fma_single": floats.fma_single,
    "fma_double": floats.fma_double,
    **{f"round_{name}": function for name, function in floats.ROUND.items()},
    **{f"narrow_{name}": function for name, function in floats.NARROW.items()},
    **{name: getattr(floats, name) for name in (
        "bits_bf16", "bits_f16", "bits_f32", "bits_f64",
        "bf16_of_bits", "f16_of_bits", "f32_of_bits", "f64_of_bits",
    )},
    **{name: getattr(mathematics, name) for name in (
        "divide", "modulo", "smaller", "larger", "floor_divide", "remainder", "shift_left",
        "shift_right", "to_integer", "reverse_bits", "trailing_zeros", "integer_power",
    )},
    **{f"math_{name}": function for name, function in mathematics.EXACT.items()},
    **{f"math_{name}": function for name, function in mathematics.INEXACT.items()},
}  # fmt: skip
"""What the written Python may call."""


# ---- values -----------------------------------------------------------------------------------


def in_type(value: bool | int | float, type: Type) -> bool | int | float:
    """A constant as the type holds it."""
    return floats.ROUND[type.scalar](float(value)) if type.is_float else value


def literal(constant: Constant) -> str:
    """A constant."""
    value = in_type(constant.value, constant.type)
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def zero(type: Type) -> str:
    """The value of a variable that was never set."""
    return "False" if type == BOOL else "0.0" if type.is_float else "0"


def mask(type: Type) -> str:
    """All bits of an integer type."""
    return str((1 << type.bits) - 1)


def wrapped(text: str, type: Type) -> str:
    """An integer brought into the range of its type."""
    if type.kind == "uint":
        return f"({text} & {mask(type)})"
    half = 1 << (type.bits - 1)
    return f"((({text} + {half}) & {mask(type)}) - {half})"


def rounded(text: str, type: Type) -> str:
    """A float that was computed in double precision from exact operands."""
    if type.scalar == "f64":
        return text
    return f"c_float({text}).value" if type.scalar == "f32" else f"round_{type}({text})"


def narrowed(text: str, type: Type) -> str:
    """A float that is rounded to float32 first where its type is narrower."""
    return rounded(text, type) if type.bits >= 32 else f"narrow_{type}({text})"


# ---- operators --------------------------------------------------------------------------------


def unary(op: str, value: str, type: Type) -> str:
    """`neg`, `invert` or `not`."""
    if op == "not":
        return f"(not {value})"
    if op == "invert":
        return f"({value} ^ {mask(type)})" if type.kind == "uint" else f"(~{value})"
    return f"(-{value})" if type.is_float else wrapped(f"(-{value})", type)


def binary(op: BinaryOp, left: str, right: str, type: Type) -> str:
    """An operator, or `min` or `max`, of two operands of a type."""
    write = _float_binary if type.is_float else _integer_binary
    return write(op, left, right, type)


def _integer_binary(op: str, left: str, right: str, type: Type) -> str:
    if op in INFIX:
        done = f"({left} {INFIX[op]} {right})"
    else:
        bits = f", {type.bits}" if op in ("shl", "shr") else ""
        done = f"{INTEGER_CALLS[op]}({left}, {right}{bits})"
    return done if op in WITHIN_RANGE else wrapped(done, type)


def _float_binary(op: str, left: str, right: str, type: Type) -> str:
    if op in INFIX:
        return rounded(f"({left} {INFIX[op]} {right})", type)
    if op == "floordiv":
        single = Type("f64" if type.scalar == "f64" else "f32")
        quotient = rounded(f"divide({left}, {right})", single)
        return narrowed(f"math_floor({quotient})", type)
    done = f"{FLOAT_CALLS[op]}({left}, {right})"
    if op in ("min", "max"):
        return done
    return rounded(done, type) if op == "div" else narrowed(done, type)


@cache
def binary_function(op: BinaryOp, type: Type) -> Callable[[Any, Any], Any]:
    """An operator as a function, for atomics and planes."""
    return eval(f"lambda a, b: {binary(op, 'a', 'b', type)}", dict(NAMES))


# ---- conversions ------------------------------------------------------------------------------


def cast(value: str, source: Type, target: Type) -> str:
    """A conversion."""
    if source == target:
        return value
    if target == BOOL:
        return f"({value} != 0)"
    if target.is_float:
        return _float_from(value, source, target)
    if source == BOOL:
        return f"int({value})"
    low, high = integer_range(target)
    if source.is_float:
        return f"to_integer({value}, {low}, {high})"
    source_low, source_high = integer_range(source)
    fits = low <= source_low and source_high <= high
    return value if fits else wrapped(value, target)


def _float_from(value: str, source: Type, target: Type) -> str:
    if not source.is_float and source.bits == 64 and target.scalar in ("f32", "bf16"):
        single = f"single_from_int({value})"
        return single if target.scalar == "f32" else f"round_bf16({single})"
    if not source.is_float:
        return narrowed(f"float({value})", target)
    is_wider = target.bits > source.bits
    return value if is_wider else rounded(value, target)


def reinterpret(value: str, source: Type, target: Type) -> str:
    """The same bits as another type."""
    bits = f"bits_{source}({value})" if source.is_float else f"({value} & {mask(source)})"
    if target.is_float:
        return f"{target}_of_bits({bits})"
    return bits if target.kind == "uint" else wrapped(bits, target)


# ---- mathematics ------------------------------------------------------------------------------


def call(name: MathName, values: list[str], type: Type) -> str:
    """A function of mathematics; `type` is that of the first argument."""
    if type.is_integer:
        return _integer_call(name, values[0], type)
    match name:
        case "is_nan":
            return f"isnan({values[0]})"
        case "is_inf":
            return f"isinf({values[0]})"
        case "powi":
            narrow = "narrow_f64" if type.scalar == "f64" else "narrow_f32"
            return narrowed(f"integer_power({values[0]}, {values[1]}, {narrow})", type)
        case "fma":
            precision = "double" if type.scalar == "f64" else "single"
            return narrowed(f"fma_{precision}({', '.join(values)})", type)
        case _:
            done = f"math_{name}({', '.join(values)})"
            return done if name in mathematics.EXACT else narrowed(done, type)


def _integer_call(name: str, value: str, type: Type) -> str:
    bits = value if type.kind == "uint" else f"({value} & {mask(type)})"
    match name:
        case "count_ones":
            return f"({bits}).bit_count()"
        case "leading_zeros":
            return f"({type.bits} - ({bits}).bit_length())"
        case "trailing_zeros":
            return f"trailing_zeros({bits}, {type.bits})"
        case "reverse_bits":
            done = f"reverse_bits({bits}, {type.bits})"
            return done if type.kind == "uint" else wrapped(done, type)
        case _:
            return wrapped(f"abs({value})", type)
