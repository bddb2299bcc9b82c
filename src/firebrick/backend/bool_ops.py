"""Built-in operations on boolean tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firebrick.backend import forms
from firebrick.backend.options import Array, Scalar
from firebrick.backend.windows import window_positions
from firebrick.core import Device, DType, normalize_dim, to_numpy_dtype
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import BoolTensor, FloatTensor, IntTensor, P


class BoolOps(OpSet[P], builtin=True):
    """Built-in operations on boolean tensors. Broadcasting is NumPy's."""

    @forms.new_bool
    def bool_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> BoolTensor[P]:
        """Uninitialised contents."""
        return self.backend.bool_zeros(shape, device, dtype)

    @forms.new_bool
    def bool_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> BoolTensor[P]:
        """All false."""
        data = np.zeros(tuple(shape), to_numpy_dtype(dtype))
        return self.backend.bool_from_data(data, device)

    @forms.new_bool
    def bool_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> BoolTensor[P]:
        """All true."""
        return self.backend.bool_not(self.backend.bool_zeros(shape, device, dtype))

    @forms.host_read
    def bool_into_data(self, tensor: BoolTensor[P]) -> Array:
        """The values on the host, not to be written; deferred errors surface here."""
        raise NoDefault

    @forms.bool_data
    def bool_from_data(self, data: Array, device: Device) -> BoolTensor[P]:
        """Build from host data; dtype and shape are those of the data.

        Data that cannot be written may be shared; other data is copied.
        """
        raise NoDefault

    @forms.as_int
    def bool_into_int(self, tensor: BoolTensor[P], out_dtype: DType) -> IntTensor[P]:
        """False -> 0, true -> 1."""
        raise NoDefault

    @forms.as_float
    def bool_into_float(self, tensor: BoolTensor[P], out_dtype: DType) -> FloatTensor[P]:
        """False -> 0.0, true -> 1.0."""
        raise NoDefault

    @views("tensor")
    @forms.elementwise
    def bool_to_device(self, tensor: BoolTensor[P], device: Device) -> BoolTensor[P]:
        """Move; same device returns the input."""
        raise NoDefault

    @views("tensor")
    @forms.reshaped
    def bool_reshape(self, tensor: BoolTensor[P], shape: Sequence[int]) -> BoolTensor[P]:
        """Same element count."""
        raise NoDefault

    @views("tensor")
    @forms.sliced
    def bool_slice(self, tensor: BoolTensor[P], slices: Sequence[slice]) -> BoolTensor[P]:
        """per-dim start/end/step; negative step reverses."""
        raise NoDefault

    @forms.slice_assigned
    def bool_slice_assign(
        self, tensor: BoolTensor[P], slices: Sequence[slice], value: BoolTensor[P]
    ) -> BoolTensor[P]:
        """Write a block; value has the shape of the slice."""
        raise NoDefault

    @forms.choice
    def bool_mask_where(
        self, tensor: BoolTensor[P], mask: BoolTensor[P], value: BoolTensor[P]
    ) -> BoolTensor[P]:
        """Value where mask is true, else tensor; all three broadcast."""
        b = self.backend
        return b.bool_or(b.bool_and(mask, value), b.bool_and(b.bool_not(mask), tensor))

    @forms.fill
    def bool_mask_fill(
        self, tensor: BoolTensor[P], mask: BoolTensor[P], value: Scalar
    ) -> BoolTensor[P]:
        """Scalar where mask is true."""
        b = self.backend
        return b.bool_or(tensor, mask) if value else b.bool_and(tensor, b.bool_not(mask))

    @forms.host_read
    def bool_mask_select(self, tensor: BoolTensor[P], mask: BoolTensor[P]) -> BoolTensor[P]:
        """1-D values where mask is true; waits for the mask, which expands to the tensor."""
        b = self.backend
        whole = b.bool_reshape(b.bool_expand(mask, tensor.shape), (-1,))
        index_dtype = b.default_dtypes(b.device_of(tensor))["int"]
        positions = b.bool_argwhere(whole, index_dtype)
        return b.bool_select(b.bool_reshape(tensor, (-1,)), 0, b.int_reshape(positions, (-1,)))

    @forms.gathered
    def bool_gather(self, dim: int, tensor: BoolTensor[P], indices: IntTensor[P]) -> BoolTensor[P]:
        """out[i..]=t[.., idx[i..], ..] along dim; index rank equals tensor rank."""
        raise NoDefault

    @forms.scattered
    def bool_scatter_or(
        self, dim: int, tensor: BoolTensor[P], indices: IntTensor[P], value: BoolTensor[P]
    ) -> BoolTensor[P]:
        """logical-or value at index along dim."""
        raise NoDefault

    @forms.selected
    def bool_select(self, tensor: BoolTensor[P], dim: int, indices: IntTensor[P]) -> BoolTensor[P]:
        """Pick rows given by a 1-D index tensor along dim."""
        raise NoDefault

    @forms.select_assigned
    def bool_select_or(
        self, tensor: BoolTensor[P], dim: int, indices: IntTensor[P], value: BoolTensor[P]
    ) -> BoolTensor[P]:
        """logical-or rows along dim."""
        raise NoDefault

    @views("tensor")
    @forms.repeated
    def bool_repeat_dim(self, tensor: BoolTensor[P], dim: int, times: int) -> BoolTensor[P]:
        """Tile `times` along dim."""
        b = self.backend
        sizes = list(tensor.shape)
        position = normalize_dim(dim, len(sizes))
        before, size, after = sizes[:position], sizes[position], sizes[position + 1 :]
        single = b.bool_reshape(tensor, (*before, 1, size, *after))
        tiled = b.bool_expand(single, (*before, times, size, *after))
        return b.bool_reshape(tiled, (*before, times * size, *after))

    @forms.concatenated
    def bool_cat(self, tensors: Sequence[BoolTensor[P]], dim: int) -> BoolTensor[P]:
        """Join along dim; at least one tensor."""
        raise NoDefault

    @forms.binary
    def bool_equal(self, lhs: BoolTensor[P], rhs: BoolTensor[P]) -> BoolTensor[P]:
        """Elementwise equality; no out_dtype: result store follows the input."""
        return self.backend.bool_not(self.backend.bool_xor(lhs, rhs))

    @forms.binary
    def bool_not_equal(self, lhs: BoolTensor[P], rhs: BoolTensor[P]) -> BoolTensor[P]:
        """Not equal."""
        return self.backend.bool_xor(lhs, rhs)

    @forms.with_scalar
    def bool_equal_elem(self, lhs: BoolTensor[P], rhs: Scalar) -> BoolTensor[P]:
        """== scalar."""
        b = self.backend
        if rhs in (0, 1):
            return lhs if rhs else b.bool_not(lhs)
        return b.bool_and(lhs, b.bool_not(lhs))

    @forms.with_scalar
    def bool_not_equal_elem(self, lhs: BoolTensor[P], rhs: Scalar) -> BoolTensor[P]:
        """Not equal elem."""
        return self.backend.bool_not(self.backend.bool_equal_elem(lhs, rhs))

    @forms.elementwise
    def bool_not(self, tensor: BoolTensor[P]) -> BoolTensor[P]:
        """Logical not."""
        raise NoDefault

    @forms.binary
    def bool_and(self, lhs: BoolTensor[P], rhs: BoolTensor[P]) -> BoolTensor[P]:
        """Logical and."""
        raise NoDefault

    @forms.binary
    def bool_or(self, lhs: BoolTensor[P], rhs: BoolTensor[P]) -> BoolTensor[P]:
        """Logical or."""
        raise NoDefault

    @forms.binary
    def bool_xor(self, lhs: BoolTensor[P], rhs: BoolTensor[P]) -> BoolTensor[P]:
        """Xor."""
        b = self.backend
        return b.bool_and(b.bool_or(lhs, rhs), b.bool_not(b.bool_and(lhs, rhs)))

    @views("tensor")
    @forms.transposed
    def bool_transpose(self, tensor: BoolTensor[P]) -> BoolTensor[P]:
        """Swap the last two dims."""
        return self.backend.bool_swap_dims(tensor, -2, -1)

    @views("tensor")
    @forms.swapped
    def bool_swap_dims(self, tensor: BoolTensor[P], dim1: int, dim2: int) -> BoolTensor[P]:
        """Swap two dims (view where possible)."""
        ndim = len(tensor.shape)
        first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
        axes = list(range(ndim))
        axes[first], axes[second] = second, first
        return self.backend.bool_permute(tensor, axes)

    @views("tensor")
    @forms.permuted
    def bool_permute(self, tensor: BoolTensor[P], axes: Sequence[int]) -> BoolTensor[P]:
        """Reorder dims."""
        raise NoDefault

    @views("tensor")
    @forms.flipped
    def bool_flip(self, tensor: BoolTensor[P], axes: Sequence[int]) -> BoolTensor[P]:
        """Reverse along axes."""
        ndim = len(tensor.shape)
        slices = [slice(None)] * ndim
        for axis in axes:
            slices[normalize_dim(axis, ndim)] = slice(None, None, -1)
        return self.backend.bool_slice(tensor, slices)

    @forms.total
    def bool_any(self, tensor: BoolTensor[P]) -> BoolTensor[P]:
        """Any."""
        b = self.backend
        return b.bool_reshape(b.bool_any_dim(b.bool_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def bool_any_dim(self, tensor: BoolTensor[P], dim: int) -> BoolTensor[P]:
        """As any, dim kept."""
        b = self.backend
        count_dtype = b.default_dtypes(b.device_of(tensor))["int"]
        count = b.int_sum_dim(b.bool_into_int(tensor, count_dtype), dim)
        return b.int_not_equal_elem(count, 0, b.dtype_of(tensor))

    @forms.total
    def bool_all(self, tensor: BoolTensor[P]) -> BoolTensor[P]:
        """All."""
        return self.backend.bool_not(self.backend.bool_any(self.backend.bool_not(tensor)))

    @forms.reduced
    def bool_all_dim(self, tensor: BoolTensor[P], dim: int) -> BoolTensor[P]:
        """As all, dim kept."""
        return self.backend.bool_not(self.backend.bool_any_dim(self.backend.bool_not(tensor), dim))

    @forms.host_read
    def bool_argwhere(self, tensor: BoolTensor[P], out_dtype: DType) -> IntTensor[P]:
        """Coordinates of true elements, shape [count, rank]."""
        b = self.backend
        found = np.argwhere(b.bool_into_data(tensor)).astype(to_numpy_dtype(out_dtype))
        return b.int_from_data(found, b.device_of(tensor))

    @views("tensor")
    @forms.expanded
    def bool_expand(self, tensor: BoolTensor[P], shape: Sequence[int]) -> BoolTensor[P]:
        """Broadcast view to shape."""
        raise NoDefault

    @views("tensor")
    @forms.unfolded
    def bool_unfold(self, tensor: BoolTensor[P], dim: int, size: int, step: int) -> BoolTensor[P]:
        """Sliding windows of `size` every `step` along dim, window dim appended last."""
        b = self.backend
        positions, windows, axes = window_positions(tensor.shape, dim, size, step)
        picked = b.bool_select(tensor, dim, b.int_from_data(positions, b.device_of(tensor)))
        return b.bool_permute(b.bool_reshape(picked, windows), axes)
