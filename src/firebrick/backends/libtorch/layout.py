"""Operations that rearrange elements: views where torch has one, the same code for every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from firebrick.backend.shapes import concatenated, expanded, unfolded
from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import axis
from firebrick.core import Shape

if TYPE_CHECKING:
    from torch import Tensor


class Layout:
    """Reshaping, permuting, expanding, flipping, repeating, joining and windows."""

    def float_reshape(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        return tensor.reshape(tuple(shape))

    def float_transpose(self, tensor: Tensor) -> Tensor:
        return tensor.transpose(-2, -1)

    def float_swap_dims(self, tensor: Tensor, dim1: int, dim2: int) -> Tensor:
        return tensor.transpose(axis(tensor, dim1), axis(tensor, dim2))

    def float_permute(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        return tensor.permute(tuple(axes))

    def float_flip(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        return tensor.flip([axis(tensor, dim) for dim in axes])

    def float_expand(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        return tensor.expand(expanded(Shape(tensor.shape), shape))

    def float_repeat_dim(self, tensor: Tensor, dim: int, times: int) -> Tensor:
        counts = [1] * tensor.ndim
        counts[axis(tensor, dim)] = times
        return tensor.repeat(counts)

    def float_cat(self, tensors: Sequence[Tensor], dim: int) -> Tensor:
        # Torch would skip a tensor of shape [0], whatever the others are.
        concatenated([Shape(tensor.shape) for tensor in tensors], dim)
        return torch.cat(list(tensors), dim)

    def float_unfold(self, tensor: Tensor, dim: int, size: int, step: int) -> Tensor:
        windows = unfolded(Shape(tensor.shape), dim, size, step)
        if windows[axis(tensor, dim)] == 0:
            # Torch takes no windows that are larger than the dimension.
            return tensor.new_empty(windows)
        return tensor.unfold(dim, size, step)

    int_reshape = bool_reshape = float_reshape
    int_transpose = bool_transpose = float_transpose
    int_swap_dims = bool_swap_dims = float_swap_dims
    int_permute = bool_permute = float_permute
    int_flip = bool_flip = float_flip
    int_expand = bool_expand = float_expand
    int_repeat_dim = bool_repeat_dim = float_repeat_dim
    int_cat = bool_cat = float_cat
    int_unfold = bool_unfold = float_unfold
