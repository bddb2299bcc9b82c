"""Element types: torch's names for firebrick's, and the range of Python numbers that they hold.

The tables are made at first use, because making them imports torch.
"""

from __future__ import annotations

import math
from functools import cache

from firebrick import core
from firebrick.backend.dtypes import check_integer, integer_bounds, of_kind
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import DType, Kind, Scalar
from firebrick.errors import DTypeError

# Not the unsigned ones above 8 bits: torch stores them but has few operations on them.
SUPPORTED = (
    core.float64,
    core.float32,
    core.float16,
    core.bfloat16,
    core.int64,
    core.int32,
    core.int16,
    core.int8,
    core.uint8,
    core.bool_,
)


@cache
def torch_dtypes() -> dict[DType, torch.dtype]:
    """Torch's dtype by firebrick's."""
    return {dtype: getattr(torch, dtype.name) for dtype in SUPPORTED}


@cache
def dtypes() -> dict[torch.dtype, DType]:
    """Firebrick's dtype by torch's."""
    return {known: dtype for dtype, known in torch_dtypes().items()}


def torch_dtype(dtype: DType, kind: Kind) -> torch.dtype:
    """Torch's dtype of that name.

    Raises: `KindError` unless `dtype` is of `kind`, `DTypeError` for those that torch cannot
    compute with.
    """
    found = torch_dtypes().get(of_kind(dtype, kind))
    if found is None:
        raise DTypeError(
            f"`libtorch` cannot compute with {dtype}; convert to one of "
            f"{', '.join(str(known) for known in SUPPORTED if known.kind == kind)}."
        )
    return found


@cache
def accumulator(dtype: torch.dtype) -> torch.dtype:
    """The dtype that many values of `dtype` are combined in: 16-bit floats in float32."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


@cache
def int_range(dtype: torch.dtype) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    return integer_bounds(dtypes()[dtype])


def int_scalar(value: Scalar, dtype: torch.dtype) -> int:
    """`value` as an integer of that dtype; `DTypeError` where torch would wrap or promote."""
    check_integer(value, dtypes()[dtype])
    return int(value)


@cache
def float_range(dtype: torch.dtype) -> tuple[float, float]:
    """The greatest finite value of a float dtype, and the least that rounds to infinity."""
    limits = torch.finfo(dtype)
    # The greatest is (2 - eps) * 2**e; half a unit in the last place above it, rounding goes up.
    return limits.max, limits.max / (2 - limits.eps) * (2 - limits.eps / 2)


def float_scalar(value: Scalar, dtype: torch.dtype) -> float:
    """`value` as a float that `dtype` holds: rounded to infinity where torch would refuse it."""
    number = float(value)
    greatest, infinite = float_range(dtype)
    if not abs(number) > greatest:
        return number
    return math.copysign(math.inf if abs(number) >= infinite else greatest, number)
