"""Making tensors. Without `device`: `Device.default()`, or that of the tensor given.

https://data-apis.org/array-api/2024.12/API_specification/creation_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.core import Device, DType, broadcast_shapes
from firebrick.errors import DeviceError, ShapeError
from firebrick.tensor.array_namespace.operands import device_of
from firebrick.tensor.checks import shape_of
from firebrick.tensor.convert import supported
from firebrick.tensor.operations import every
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from firebrick.core import Scalar

    Size: TypeAlias = int | Sequence[int]

EMPTY = every("empty")


def _sizes(shape: Size) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    copy: bool | None = None,
) -> Tensor:
    """A tensor of these values; a tensor stays as it is, since nobody can write to it.

    `copy=False` shares memory, and is a `DeviceError` where that cannot be done.
    """
    if isinstance(obj, Tensor):
        moved = obj if device is None else obj.to(device)
        return moved if dtype is None else moved.cast(dtype)
    if copy is False:
        if not hasattr(obj, "__dlpack__"):
            raise DeviceError(
                f"`asarray` cannot share the memory of {type(obj).__name__}; leave `copy` out."
            )
        shared = Tensor.from_dlpack(obj, device)
        return shared if dtype is None else shared.cast(dtype)
    return Tensor(obj, device, dtype=dtype)


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of `x`, or a copy if asked for."""
    return Tensor(x, device) if copy else Tensor.from_dlpack(x, device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Tensor:
    """Evenly spaced numbers from `start` to before `stop`; of ints if all three are."""
    first, last = (0, start) if stop is None else (start, stop)
    if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
        numbers = Tensor.arange(first, last, step, device)
        return numbers if dtype is None else numbers.cast(dtype)
    where = device or Device.default()
    return Tensor(np.arange(first, last, step), where, dtype=dtype or where.float_dtype)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`."""
    where = device or Device.default()
    values = np.linspace(start, stop, num, endpoint=endpoint)
    return Tensor(values, where, dtype=dtype or where.float_dtype)


def empty(shape: Size, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """Contents that mean nothing."""
    where = device or Device.default()
    own = dtype or where.float_dtype
    supported(where, own)
    sizes = shape_of("empty", _sizes(shape))
    return Tensor.from_dispatch(EMPTY[own.kind](sizes, where, own))


def zeros(shape: Size, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """0 everywhere."""
    return Tensor.zeros(_sizes(shape), device, dtype=dtype)


def ones(shape: Size, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """1 everywhere."""
    return Tensor.ones(_sizes(shape), device, dtype=dtype)


def full(
    shape: Size, fill_value: Scalar, *, dtype: DType | None = None, device: Device | None = None
) -> Tensor:
    """One number everywhere."""
    return Tensor.full(_sizes(shape), fill_value, device, dtype=dtype)


def empty_like(x: Tensor, /, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """Contents that mean nothing, in the shape of `x`."""
    return empty(x.shape, dtype=dtype or x.dtype, device=device_of(x, device))


def zeros_like(x: Tensor, /, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """0 everywhere, in the shape of `x`."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device_of(x, device))


def ones_like(x: Tensor, /, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    """1 everywhere, in the shape of `x`."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device_of(x, device))


def full_like(
    x: Tensor, /, fill_value: Scalar, *, dtype: DType | None = None, device: Device | None = None
) -> Tensor:
    """One number everywhere, in the shape of `x`."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device_of(x, device))


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Tensor:
    """1 on the `k`-th diagonal, else 0."""
    where = device or Device.default()
    return Tensor(np.eye(n_rows, n_cols, k), where, dtype=dtype or where.float_dtype)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """0 above the `k`-th diagonal of the last two dimensions."""
    return x.mask_fill(~_below(x, k), 0)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """0 below the `k`-th diagonal of the last two dimensions."""
    return x.mask_fill(_below(x, k - 1), 0)


def _below(x: Tensor, k: int) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(f"a triangle needs at least 2 dimensions; got shape {list(x.shape)}.")
    rows, columns = x.shape[-2:]
    return Tensor(np.tri(rows, columns, k, dtype=np.bool_), x.device)


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> list[Tensor]:
    """One tensor of coordinates per dimension; `xy` exchanges the first two dimensions."""
    if indexing not in ("xy", "ij"):
        raise ShapeError(f"`meshgrid` has the indexings 'xy' and 'ij'; got {indexing!r}.")
    count = len(arrays)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = 1, 0
    spread = [
        x.reshape(*(-1 if place == order[dim] else 1 for place in range(count)))
        for dim, x in enumerate(arrays)
    ]
    shape = broadcast_shapes(*(x.shape for x in spread))
    return [x.expand(*shape) for x in spread]
