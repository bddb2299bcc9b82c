"""Integer tensors in another shape or order: the elements stay what they are.

Outputs may be views. Negative dimensions count from the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from firebrick.backend import forms
from firebrick.backend.windows import window_positions
from firebrick.core import normalize_dim
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import IntTensor, P


class IntLayout(OpSet[P], builtin=True):
    """Shapes and orders of dimensions."""

    @views("tensor")
    @forms.reshaped
    def int_reshape(self, tensor: IntTensor[P], shape: Sequence[int]) -> IntTensor[P]:
        """Same element count."""
        raise NoDefault

    @views("tensor")
    @forms.transposed
    def int_transpose(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Swap the last two dims."""
        return self.backend.int_swap_dims(tensor, -2, -1)

    @views("tensor")
    @forms.swapped
    def int_swap_dims(self, tensor: IntTensor[P], dim1: int, dim2: int) -> IntTensor[P]:
        """Swap two dims (view where possible)."""
        ndim = len(tensor.shape)
        first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
        axes = list(range(ndim))
        axes[first], axes[second] = second, first
        return self.backend.int_permute(tensor, axes)

    @views("tensor")
    @forms.permuted
    def int_permute(self, tensor: IntTensor[P], axes: Sequence[int]) -> IntTensor[P]:
        """Reorder dims."""
        raise NoDefault

    @views("tensor")
    @forms.flipped
    def int_flip(self, tensor: IntTensor[P], axes: Sequence[int]) -> IntTensor[P]:
        """Reverse along axes."""
        ndim = len(tensor.shape)
        slices = [slice(None)] * ndim
        for axis in axes:
            slices[normalize_dim(axis, ndim)] = slice(None, None, -1)
        return self.backend.int_slice(tensor, slices)

    @views("tensor")
    @forms.expanded
    def int_expand(self, tensor: IntTensor[P], shape: Sequence[int]) -> IntTensor[P]:
        """Broadcast view to shape."""
        raise NoDefault

    @views("tensor")
    @forms.repeated
    def int_repeat_dim(self, tensor: IntTensor[P], dim: int, times: int) -> IntTensor[P]:
        """Tile `times` along dim."""
        b = self.backend
        sizes = list(tensor.shape)
        position = normalize_dim(dim, len(sizes))
        before, size, after = sizes[:position], sizes[position], sizes[position + 1 :]
        single = b.int_reshape(tensor, (*before, 1, size, *after))
        tiled = b.int_expand(single, (*before, times, size, *after))
        return b.int_reshape(tiled, (*before, times * size, *after))

    @forms.concatenated
    def int_cat(self, tensors: Sequence[IntTensor[P]], dim: int) -> IntTensor[P]:
        """Join along dim; at least one tensor."""
        raise NoDefault

    @views("tensor")
    @forms.unfolded
    def int_unfold(self, tensor: IntTensor[P], dim: int, size: int, step: int) -> IntTensor[P]:
        """Windows of `size` every `step`, window dim last; (dim - size) // step + 1 of them."""
        b = self.backend
        positions, windows, axes = window_positions(tensor.shape, dim, size, step)
        picked = b.int_select(tensor, dim, b.int_from_data(positions, b.device_of(tensor)))
        return b.int_permute(b.int_reshape(picked, windows), axes)
