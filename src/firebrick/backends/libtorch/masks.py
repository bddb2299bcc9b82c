"""Operations that take a bool tensor of places; the same code for every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backend.dtypes import check_positions
from firebrick.backends.libtorch.dtypes import float_scalar, int_scalar, torch_dtype
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import DType, Scalar

if TYPE_CHECKING:
    from torch import Tensor


class Masks:
    """Choosing, filling, picking by a mask, and the coordinates of what is true."""

    def float_mask_where(self, tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor:
        return torch.where(mask, value, tensor)

    def float_mask_fill(self, tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor:
        return tensor.masked_fill(mask, float_scalar(value, tensor.dtype))

    def int_mask_fill(self, tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor:
        return tensor.masked_fill(mask, int_scalar(value, tensor.dtype))

    def bool_mask_fill(self, tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor:
        return tensor.masked_fill(mask, bool(value))

    def float_mask_select(self, tensor: Tensor, mask: Tensor) -> Tensor:
        return torch.masked_select(tensor, mask.expand(tensor.shape))

    def bool_argwhere(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        for dim in range(tensor.ndim):
            check_positions(tensor.shape, dim, out_dtype)
        return torch.argwhere(tensor).to(torch_dtype(out_dtype, "int"))

    int_mask_where = bool_mask_where = float_mask_where
    int_mask_select = bool_mask_select = float_mask_select
