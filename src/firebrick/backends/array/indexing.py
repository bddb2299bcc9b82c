"""Parts of arrays: slices, masks, and elements or rows picked by indices. All kinds alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firebrick.backend.dtypes import check_positions
from firebrick.backend.options import Array, Scalar, Update
from firebrick.backend.shapes import gathered, scattered, select_assigned, selected, slice_assigned
from firebrick.backends.array.elementwise import whole
from firebrick.backends.array.quiet import quietly
from firebrick.core import DType, Shape, normalize_dim, to_numpy_dtype
from firebrick.errors import ShapeError

UPDATES: dict[Update, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
"""What combines an old value and a new one; `assign` needs nothing."""


class Indexing:
    """Reading and writing parts; what is written is a copy."""

    def float_gather(self, dim: int, tensor: Array, indices: Array) -> Array:
        gathered(dim, Shape(tensor.shape), Shape(indices.shape))
        position = normalize_dim(dim, tensor.ndim)
        _check_indices(indices, tensor.shape[position])
        return tensor[_places(indices, position)]

    def float_scatter(
        self, dim: int, tensor: Array, indices: Array, value: Array, update: Update
    ) -> Array:
        scattered(dim, Shape(tensor.shape), Shape(indices.shape), Shape(value.shape))
        position = normalize_dim(dim, tensor.ndim)
        _check_indices(indices, tensor.shape[position])
        return _updated(tensor, _places(indices, position), value, update)

    def float_select(self, tensor: Array, dim: int, indices: Array) -> Array:
        selected(Shape(tensor.shape), dim, Shape(indices.shape))
        _check_indices(indices, tensor.shape[dim])
        return tensor.take(indices, dim)

    def float_select_assign(
        self, tensor: Array, dim: int, indices: Array, value: Array, update: Update
    ) -> Array:
        shapes = Shape(tensor.shape), dim, Shape(indices.shape), Shape(value.shape)
        select_assigned(*shapes)
        position = normalize_dim(dim, tensor.ndim)
        _check_indices(indices, tensor.shape[position])
        return _updated(tensor, (*[slice(None)] * position, indices), value, update)

    def bool_scatter_or(self, dim: int, tensor: Array, indices: Array, value: Array) -> Array:
        return self.float_scatter(dim, tensor, indices, value, "max")

    def bool_select_or(self, tensor: Array, dim: int, indices: Array, value: Array) -> Array:
        return self.float_select_assign(tensor, dim, indices, value, "max")

    def float_slice(self, tensor: Array, slices: Sequence[slice]) -> Array:
        return np.asarray(tensor[tuple(slices)])

    def float_slice_assign(self, tensor: Array, slices: Sequence[slice], value: Array) -> Array:
        slice_assigned(Shape(tensor.shape), slices, Shape(value.shape))
        out = tensor.copy()
        out[tuple(slices)] = value
        return out

    def float_mask_where(self, tensor: Array, mask: Array, value: Array) -> Array:
        return np.where(mask, value, tensor)

    def float_mask_fill(self, tensor: Array, mask: Array, value: Scalar) -> Array:
        filling = quietly(np.asarray, float(value), tensor.dtype)
        return np.where(mask, filling, tensor)

    def int_mask_fill(self, tensor: Array, mask: Array, value: Scalar) -> Array:
        return np.where(mask, np.asarray(whole(value), tensor.dtype), tensor)

    def bool_mask_fill(self, tensor: Array, mask: Array, value: Scalar) -> Array:
        return np.where(mask, np.asarray(value, np.bool_), tensor)

    def float_mask_select(self, tensor: Array, mask: Array) -> Array:
        return tensor[np.broadcast_to(mask, tensor.shape)]

    def bool_argwhere(self, tensor: Array, out_dtype: DType) -> Array:
        for dim in range(tensor.ndim):
            check_positions(tensor.shape, dim, out_dtype)
        return np.argwhere(tensor).astype(to_numpy_dtype(out_dtype))

    int_gather = bool_gather = float_gather
    int_scatter = float_scatter
    int_select = bool_select = float_select
    int_select_assign = float_select_assign
    int_slice = bool_slice = float_slice
    int_slice_assign = bool_slice_assign = float_slice_assign
    int_mask_where = bool_mask_where = float_mask_where
    int_mask_select = bool_mask_select = float_mask_select


def _check_indices(indices: Array, size: int) -> None:
    """NumPy counts negative indices from the end; here they are out of range."""
    if indices.size == 0:
        return
    least, greatest = int(indices.min()), int(indices.max())
    if least < 0 or greatest >= size:
        wrong = least if least < 0 else greatest
        raise ShapeError(
            f"index {wrong} is out of range: indices along a dimension of size {size} are from 0 "
            f"to {size - 1}."
            if size
            else f"index {wrong} is out of range: the dimension has size 0."
        )


def _places(indices: Array, position: int) -> tuple[Array, ...]:
    """For each index, where it points: its own place except along `position`."""
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[position] = indices
    return tuple(places)


def _updated(tensor: Array, places: tuple[Any, ...], value: Array, update: Update) -> Array:
    if update == "assign":
        out = tensor.copy()
        out[places] = value
        return out
    # float16 is accumulated in float32 and rounded once
    narrow = tensor.dtype == np.float16
    out = tensor.astype(np.float32) if narrow else tensor.copy()
    quietly(UPDATES[update].at, out, places, value)
    return out.astype(np.float16) if narrow else out
