"""Numbers as text that every compiler reads back as the same number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from firebrick.cube.codegen.target import registers_of

if TYPE_CHECKING:
    from firebrick.cube.ir.types import Type

_FRACTION_BITS_LOST = 16
"""Of an f32 that becomes a bf16."""


def round_to(type: Type, value: float) -> float:
    """The number of a float type that is nearest, ties to even."""
    with np.errstate(over="ignore"):
        match type.scalar:
            case "f16":
                return float(np.float16(value))
            case "f32":
                return float(np.float32(value))
            case "bf16":
                return _round_to_bf16(value)
            case _:
                return value


def _round_to_bf16(value: float) -> float:
    """Through an f32 whose last bit says that something was cut off, so that it rounds once."""
    nearest = np.float32(value)
    if not np.isfinite(value):
        return float(nearest)
    bits = int(nearest.view(np.uint32))
    if float(nearest) != value and not bits & 1:
        bits += -1 if abs(float(nearest)) > abs(value) else 1
    bits += (1 << (_FRACTION_BITS_LOST - 1)) - 1 + ((bits >> _FRACTION_BITS_LOST) & 1)
    cut = np.uint32(bits >> _FRACTION_BITS_LOST << _FRACTION_BITS_LOST)
    return float(cut.view(np.float32))


def float_bits(type: Type, value: float) -> int:
    """The bits of a number in the registers of its type."""
    rounded = round_to(type, value)
    if registers_of(type).scalar == "f64":
        return int(np.float64(rounded).view(np.uint64))
    return int(np.float32(rounded).view(np.uint32))


def is_plain(type: Type, value: float) -> bool:
    """Whether a number can be written in digits everywhere: finite, normal, not minus zero."""
    rounded = round_to(type, value)
    is_wide = registers_of(type).scalar == "f64"
    smallest = float(np.finfo(np.float64 if is_wide else np.float32).tiny)
    if rounded == 0:
        return math.copysign(1.0, rounded) > 0
    return math.isfinite(rounded) and abs(rounded) >= smallest


def digits(type: Type, value: float) -> str:
    """The shortest digits that are read back as the number, with a point or an exponent."""
    rounded = round_to(type, value)
    if registers_of(type).scalar == "f64":
        return repr(rounded)
    text = str(np.float32(rounded))
    # A compiler may read an f32 by way of an f64.
    return text if float(np.float32(float(text))) == rounded else repr(rounded)
