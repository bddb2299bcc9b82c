"""Conversions between number types, and between registers and memory.

A narrower float is the nearest one, ties to even, whatever the source. A double that becomes a half
type is rounded to a float that keeps a mark of what was cut off ("round to odd"), so that the
second rounding sees the exact value: Boldo, Melquiond 2008, "Emulation of FMA and correctly rounded
sums", IEEE Transactions on Computers 57(4), theorem 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.types import HALVES, memory_type, register_type

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.text import Value
    from firebrick.cube.ir.types import Type

_BF16_DROPPED_BITS = 16
_BF16_QUIET_NAN = 0x7FC00000
_F32_INFINITY_BITS = 0x7F800000


# ---- rounding to the half types ---------------------------------------------------------------


def round_to(type: Type, value: Value) -> Value:
    """A `float` as the nearest number of a half type; of any other type nothing is lost."""
    if type.scalar == "f16":
        return value.convert("fptrunc", "half").convert("fpext", "float")
    if type.scalar == "bf16":
        return _round_to_bf16(value)
    return value


def _round_to_bf16(value: Value) -> Value:
    bits = value.bits()
    last_kept = bits.binary("lshr", _BF16_DROPPED_BITS) & 1
    rounded = (bits + last_kept + 0x7FFF) & -(1 << _BF16_DROPPED_BITS)
    nan = rounded.same(_BF16_QUIET_NAN)
    kept = value.compare("uno", value).select(nan, rounded)
    return kept.convert("bitcast", "float")


def _float_rounded_to_odd(value: Value) -> Value:
    """A `double` as a `float` whose last bit says whether something was cut off."""
    near = value.convert("fptrunc", "float")
    back = near.convert("fpext", "double")
    bits = near.bits()
    is_above = back.call("fabs").compare("ogt", value.call("fabs"))
    toward_zero = bits - is_above.convert("zext", "i32")
    is_inexact = back.compare("one", value)
    marked = toward_zero | is_inexact.convert("zext", "i32")
    return marked.convert("bitcast", "float")


# ---- memory -----------------------------------------------------------------------------------


def from_memory(type: Type, stored: Value) -> Value:
    """An element as a value."""
    match type.scalar:
        case "bool":
            return stored.compare("ne", 0)
        case "f16":
            return stored.convert("fpext", "float")
        case "bf16":
            wide = stored.convert("zext", "i32") << _BF16_DROPPED_BITS
            return wide.convert("bitcast", "float")
        case _:
            return stored


def to_memory(type: Type, value: Value) -> Value:
    """A value as an element."""
    match type.scalar:
        case "bool":
            return value.convert("zext", "i8")
        case "f16":
            return value.convert("fptrunc", "half")
        case "bf16":
            return value.bits().binary("lshr", _BF16_DROPPED_BITS).convert("trunc", "i16")
        case _:
            return value


# ---- casts ------------------------------------------------------------------------------------


def cast(value: Value, source: Type, target: Type) -> Value:
    """A number or bool as another type."""
    if source == target:
        return value
    if target.kind == "bool":
        return value.compare("une" if source.is_float else "ne", 0)
    if target.is_float:
        return _to_float(value, source, target)
    register = register_type(target)
    if source.kind == "bool":
        return value.convert("zext", register)
    if source.is_float:
        sign = "u" if target.kind == "uint" else "s"
        return value.call(f"fpto{sign}i.sat.{register}", type=register)
    return _resize(value, source, target)


def _resize(value: Value, source: Type, target: Type) -> Value:
    if target.bits <= source.bits:
        return value.convert("trunc", register_type(target))
    return value.convert("zext" if source.kind == "uint" else "sext", register_type(target))


def _to_float(value: Value, source: Type, target: Type) -> Value:
    register = register_type(target)
    if not source.is_float:
        instruction = "sitofp" if source.kind == "int" else "uitofp"
        return round_to(target, value.convert(instruction, register))
    if value.type == register:
        return value if target.bits > source.bits else round_to(target, value)
    if register == "double":
        return value.convert("fpext", "double")
    if target.scalar in HALVES:
        return round_to(target, _float_rounded_to_odd(value))
    return value.convert("fptrunc", "float")


def reinterpret(value: Value, source: Type, target: Type) -> Value:
    """The same bits as another type of equal size."""
    integer = f"i{source.bits}"
    bits = to_memory(source, value)
    if bits.type != integer:
        bits = bits.convert("bitcast", integer)
    stored = bits.convert("bitcast", memory_type(target))
    return from_memory(target, stored)
