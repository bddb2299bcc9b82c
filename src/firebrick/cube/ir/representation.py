"""How numbers of each type are held in Python, and conversions between them.

A bool is a `bool`; an integer an `int` in the type's range; a float a `float` that the type can
represent exactly. Everything that computes with kernel values (the interpreter, constant folding)
rounds and wraps here, so that they agree.
"""

from __future__ import annotations

import ctypes
import math
import struct
from typing import TypeAlias

import numpy as np

from firebrick.cube.ir.types import BF16, BOOL, F16, F32, F64, Type

Number: TypeAlias = bool | int | float

_LETTERS = {
    "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
"""Of the `struct` module; bf16 is the upper half of an f32."""
_EXACT_IN_F64 = 1 << 53
"""Integers up to this are exact in f64."""


def integer_range(type: Type) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if type.kind == "uint":
        return 0, (1 << type.bits) - 1
    half = 1 << (type.bits - 1)
    return -half, half - 1


def wrap(type: Type, value: int) -> int:
    """An integer in a type's range, modulo 2**bits."""
    low = value & ((1 << type.bits) - 1)
    is_negative = type.kind == "int" and low >> (type.bits - 1)
    return low - (1 << type.bits) if is_negative else low


def zero(type: Type) -> Number:
    """What a variable holds that was never set."""
    if type == BOOL:
        return False
    return 0.0 if type.is_float else 0


def round_float(type: Type, value: float) -> float:
    """The nearest value of a float type, ties to even, beyond the largest: infinity."""
    if type == F64:
        return value
    if type == F32:
        return ctypes.c_float(value).value
    return _round_f16(value) if type == F16 else _round_bf16(value)


def round_result(type: Type, value: float) -> float:
    """What an operation of a type gives for an exact or f64 result.

    f16 and bf16 compute in f32 and round after every operation.
    """
    if type == F64:
        return value
    single = ctypes.c_float(value).value
    return single if type == F32 else round_float(type, single)


def _round_f16(value: float) -> float:
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_bf16(value: float) -> float:
    single = ctypes.c_float(value).value
    if not math.isfinite(single):
        return single
    (bits,) = struct.unpack("<I", struct.pack("<f", single))
    kept, rest = bits >> 16, bits & 0xFFFF
    if rest == 0x8000 and single != value:  # no tie: rounding to f32 made it look like one
        is_up = abs(value) > abs(single)
    else:
        is_up = rest > 0x8000 or (rest == 0x8000 and kept & 1 == 1)
    return from_bits(BF16, kept + is_up)


def to_bits(type: Type, value: Number) -> int:
    """The bits of a number or bool, as an unsigned integer."""
    if type == BOOL:
        return int(value)
    if type == BF16:
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    if type.is_float:
        packed = struct.pack("<" + _LETTERS[type.scalar], value)
        return int.from_bytes(packed, "little")
    return int(value) & ((1 << type.bits) - 1)


def from_bits(type: Type, bits: int) -> Number:
    """The number that has those bits."""
    if type == BF16:
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if type.is_float:
        packed = bits.to_bytes(type.bits // 8, "little")
        return struct.unpack("<" + _LETTERS[type.scalar], packed)[0]
    return wrap(type, bits)


def reinterpret(source: Type, target: Type, value: Number) -> Number:
    """The same bits as another type of equal size."""
    return from_bits(target, to_bits(source, value))


def cast(source: Type, target: Type, value: Number) -> Number:
    """Conversion between numbers and bools.

    A float becomes an integer by truncation, saturating, NaN is 0; an integer wraps; a number is
    true unless it is 0; floats round to nearest even.
    """
    if target == BOOL:
        return value != 0
    if target.is_integer:
        return _saturate(target, value) if source.is_float else wrap(target, int(value))
    if source.is_float:
        return round_float(target, float(value))
    return _integer_to_float(target, int(value))


def _saturate(target: Type, value: float) -> int:
    if math.isnan(value):
        return 0
    low, high = integer_range(target)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.trunc(value), low), high)


def _integer_to_float(target: Type, value: int) -> float:
    if abs(value) <= _EXACT_IN_F64 or target == F64:
        return round_result(target, float(value))
    # One rounding: through f64 there would be two.
    wide = np.int64(value) if value < 0 else np.uint64(value)
    return round_float(target, float(np.float32(wide)))
