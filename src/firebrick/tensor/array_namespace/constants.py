"""Numbers, dtypes, and what is known of dtypes.

https://data-apis.org/array-api/2024.12/API_specification/data_type_functions.html
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from firebrick.core import DType, bfloat16
from firebrick.errors import DTypeError
from firebrick.tensor.promotion import promote
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing import TypeAlias

    from firebrick.core import Device, Scalar

    Selector: TypeAlias = DType | str

e = math.e
inf = math.inf
nan = math.nan
pi = math.pi
newaxis = None

NAMED_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "integral": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    "real floating": ("bfloat16", "float16", "float32", "float64"),
    "complex floating": (),
}
NAMED_KINDS["numeric"] = NAMED_KINDS["integral"] + NAMED_KINDS["real floating"]


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """Limits of a float dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntInfo:
    """Limits of an int dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


# 8 bits of significand and the exponents of float32; NumPy does not have it.
LARGEST_BFLOAT16 = (2 - 2.0**-7) * 2.0**127
BFLOAT16 = FloatInfo(16, 2.0**-7, LARGEST_BFLOAT16, -LARGEST_BFLOAT16, 2.0**-126, bfloat16)


def _dtype_of(value: DType | Tensor) -> DType:
    return value.dtype if isinstance(value, Tensor) else value


def finfo(type: DType | Tensor, /) -> FloatInfo:
    """Limits of a float dtype; `DTypeError` for another one."""
    dtype = _dtype_of(type)
    if dtype.kind != "float":
        raise DTypeError(f"`finfo` takes a float dtype; got {dtype}: `iinfo` takes ints.")
    if dtype is bfloat16:
        return BFLOAT16
    info = np.finfo(dtype.name)
    return FloatInfo(
        info.bits,
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        dtype,
    )


def iinfo(type: DType | Tensor, /) -> IntInfo:
    """Limits of an int dtype; `DTypeError` for another one."""
    dtype = _dtype_of(type)
    if dtype.kind != "int":
        raise DTypeError(f"`iinfo` takes an int dtype; got {dtype}: `finfo` takes floats.")
    info = np.iinfo(dtype.name)
    return IntInfo(info.bits, int(info.max), int(info.min), dtype)


def isdtype(dtype: DType, kind: Selector | tuple[Selector, ...]) -> bool:
    """Whether a dtype is the given one, or of the kind of that name, or of one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, DType):
        return dtype is kind
    names = NAMED_KINDS.get(kind)
    if names is None:
        raise DTypeError(f"`isdtype` knows the kinds {', '.join(NAMED_KINDS)}; got {kind!r}.")
    return dtype.name in names


def result_type(*arrays_and_dtypes: Tensor | DType | Scalar) -> DType:
    """The dtype that these become together; a number has no say unless it fits nothing."""
    dtypes = [_dtype_of(v) for v in arrays_and_dtypes if isinstance(v, Tensor | DType)]
    if not dtypes:
        raise DTypeError("`result_type` takes at least one tensor or dtype; got none.")
    result = dtypes[0]
    for other in dtypes[1:]:
        result = promote(result, other)
    for number in arrays_and_dtypes:
        if not isinstance(number, Tensor | DType):
            _require_fit(result, number)
    return result


def _require_fit(dtype: DType, number: Scalar) -> None:
    rank = {"bool": 0, "int": 1, "float": 2}
    kind = "bool" if isinstance(number, bool) else "int" if isinstance(number, int) else "float"
    if rank[kind] > rank[dtype.kind]:
        raise DTypeError(f"{number!r} beside {dtype} has no common dtype.")


def can_cast(from_: DType | Tensor, to: DType, /) -> bool:
    """Whether values keep their meaning: inside a kind, to a dtype that holds them all."""
    source = _dtype_of(from_)
    if source.kind != to.kind:
        return False
    try:
        return promote(source, to) is to
    except DTypeError:
        return False


def astype(
    x: Tensor, dtype: DType, /, *, copy: bool = True, device: Device | None = None
) -> Tensor:
    """`x` in another dtype. Tensors are immutable, so `copy` changes nothing."""
    moved = x if device is None else x.to(device)
    return moved.cast(dtype)
