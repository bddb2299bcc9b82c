"""Float tensors in another shape or order: the elements stay what they are.

Outputs may be views. Negative dimensions count from the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from firebrick.backend import forms
from firebrick.backend.windows import window_positions
from firebrick.core import normalize_dim
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import FloatTensor, P


class FloatLayout(OpSet[P], builtin=True):
    """Shapes and orders of dimensions."""

    @views("tensor")
    @forms.reshaped
    def float_reshape(self, tensor: FloatTensor[P], shape: Sequence[int]) -> FloatTensor[P]:
        """Same element count."""
        raise NoDefault

    @views("tensor")
    @forms.transposed
    def float_transpose(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Swap the last two dims."""
        return self.backend.float_swap_dims(tensor, -2, -1)

    @views("tensor")
    @forms.swapped
    def float_swap_dims(self, tensor: FloatTensor[P], dim1: int, dim2: int) -> FloatTensor[P]:
        """Swap two dims (view where possible)."""
        ndim = len(tensor.shape)
        first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
        axes = list(range(ndim))
        axes[first], axes[second] = second, first
        return self.backend.float_permute(tensor, axes)

    @views("tensor")
    @forms.permuted
    def float_permute(self, tensor: FloatTensor[P], axes: Sequence[int]) -> FloatTensor[P]:
        """Reorder dims."""
        raise NoDefault

    @views("tensor")
    @forms.flipped
    def float_flip(self, tensor: FloatTensor[P], axes: Sequence[int]) -> FloatTensor[P]:
        """Reverse along axes."""
        ndim = len(tensor.shape)
        slices = [slice(None)] * ndim
        for axis in axes:
            slices[normalize_dim(axis, ndim)] = slice(None, None, -1)
        return self.backend.float_slice(tensor, slices)

    @views("tensor")
    @forms.expanded
    def float_expand(self, tensor: FloatTensor[P], shape: Sequence[int]) -> FloatTensor[P]:
        """Broadcast view to shape."""
        raise NoDefault

    @views("tensor")
    @forms.repeated
    def float_repeat_dim(self, tensor: FloatTensor[P], dim: int, times: int) -> FloatTensor[P]:
        """Tile `times` along dim."""
        b = self.backend
        sizes = list(tensor.shape)
        position = normalize_dim(dim, len(sizes))
        before, size, after = sizes[:position], sizes[position], sizes[position + 1 :]
        single = b.float_reshape(tensor, (*before, 1, size, *after))
        tiled = b.float_expand(single, (*before, times, size, *after))
        return b.float_reshape(tiled, (*before, times * size, *after))

    @forms.concatenated
    def float_cat(self, tensors: Sequence[FloatTensor[P]], dim: int) -> FloatTensor[P]:
        """Join along dim; at least one tensor."""
        raise NoDefault

    @views("tensor")
    @forms.unfolded
    def float_unfold(
        self, tensor: FloatTensor[P], dim: int, size: int, step: int
    ) -> FloatTensor[P]:
        """Windows of `size` every `step`, window dim last; (dim - size) // step + 1 of them."""
        b = self.backend
        positions, windows, axes = window_positions(tensor.shape, dim, size, step)
        picked = b.float_select(tensor, dim, b.int_from_data(positions, b.device_of(tensor)))
        return b.float_permute(b.float_reshape(picked, windows), axes)
