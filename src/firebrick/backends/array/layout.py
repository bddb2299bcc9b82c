"""Arrays in another shape or order; views wherever NumPy gives one. All kinds alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from firebrick.backend.options import Array
from firebrick.backend.shapes import unfolded
from firebrick.core import Shape, normalize_dim


class Layout:
    """Shapes and orders of dimensions."""

    def float_reshape(self, tensor: Array, shape: Sequence[int]) -> Array:
        return tensor.reshape(tuple(shape))

    def float_swap_dims(self, tensor: Array, dim1: int, dim2: int) -> Array:
        return tensor.swapaxes(dim1, dim2)

    def float_permute(self, tensor: Array, axes: Sequence[int]) -> Array:
        return tensor.transpose(tuple(axes))

    def float_flip(self, tensor: Array, axes: Sequence[int]) -> Array:
        return np.flip(tensor, tuple(axes))

    def float_expand(self, tensor: Array, shape: Sequence[int]) -> Array:
        return np.broadcast_to(tensor, tuple(shape))

    def float_cat(self, tensors: Sequence[Array], dim: int) -> Array:
        return np.concatenate(list(tensors), dim)

    def float_unfold(self, tensor: Array, dim: int, size: int, step: int) -> Array:
        wanted = unfolded(Shape(tensor.shape), dim, size, step)
        position = normalize_dim(dim, tensor.ndim)
        if wanted[position] == 0:
            return np.empty(wanted, tensor.dtype)
        windows = sliding_window_view(tensor, size, position)
        return windows[(*[slice(None)] * position, slice(None, None, step))]

    int_reshape = bool_reshape = float_reshape
    int_swap_dims = bool_swap_dims = float_swap_dims
    int_permute = bool_permute = float_permute
    int_flip = bool_flip = float_flip
    int_expand = bool_expand = float_expand
    int_cat = bool_cat = float_cat
    int_unfold = bool_unfold = float_unfold
