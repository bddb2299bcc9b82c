"""Sums, products, means and truth of floats and ints, over everything or along a dimension.

16-bit floats are combined in float32. Ints keep their dtype and wrap, except that the sum
behind a mean is taken in int64. Extremes are in `extremes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.dtypes import accumulator
from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import axis
from firebrick.core import DType

if TYPE_CHECKING:
    from torch import Tensor


class Reduction:
    """Reductions with `dim` keep it with size 1; those without give 0-d."""

    def float_sum(self, tensor: Tensor) -> Tensor:
        return torch.sum(tensor, dtype=accumulator(tensor.dtype)).to(tensor.dtype)

    def float_sum_dim(self, tensor: Tensor, dim: int) -> Tensor:
        wide = accumulator(tensor.dtype)
        return torch.sum(tensor, axis(tensor, dim), keepdim=True, dtype=wide).to(tensor.dtype)

    def float_prod(self, tensor: Tensor) -> Tensor:
        return torch.prod(tensor, dtype=accumulator(tensor.dtype)).to(tensor.dtype)

    def float_prod_dim(self, tensor: Tensor, dim: int) -> Tensor:
        wide = accumulator(tensor.dtype)
        return torch.prod(tensor, axis(tensor, dim), keepdim=True, dtype=wide).to(tensor.dtype)

    def float_mean(self, tensor: Tensor) -> Tensor:
        return torch.mean(tensor, dtype=accumulator(tensor.dtype)).to(tensor.dtype)

    def float_mean_dim(self, tensor: Tensor, dim: int) -> Tensor:
        wide = accumulator(tensor.dtype)
        return torch.mean(tensor, axis(tensor, dim), keepdim=True, dtype=wide).to(tensor.dtype)

    def float_cumsum(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.cumsum(tensor, axis(tensor, dim), dtype=accumulator(tensor.dtype)).to(
            tensor.dtype
        )

    def float_cumprod(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.cumprod(tensor, axis(tensor, dim), dtype=accumulator(tensor.dtype)).to(
            tensor.dtype
        )

    # The accumulator of an int dtype is that dtype.
    int_sum = float_sum
    int_sum_dim = float_sum_dim
    int_prod = float_prod
    int_prod_dim = float_prod_dim
    int_cumsum = float_cumsum
    int_cumprod = float_cumprod

    def int_mean(self, tensor: Tensor) -> Tensor:
        total = torch.sum(tensor, dtype=torch.int64)
        # Of no element, the sum is 0, and so is the mean.
        count = max(tensor.numel(), 1)
        return torch.div(total, count, rounding_mode="trunc").to(tensor.dtype)

    def int_mean_dim(self, tensor: Tensor, dim: int) -> Tensor:
        total = torch.sum(tensor, axis(tensor, dim), keepdim=True, dtype=torch.int64)
        count = max(tensor.shape[dim], 1)
        return torch.div(total, count, rounding_mode="trunc").to(tensor.dtype)

    def float_any(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return torch.any(tensor != 0)

    def float_any_dim(self, tensor: Tensor, dim: int, out_dtype: DType) -> Tensor:
        return torch.any(tensor != 0, axis(tensor, dim), keepdim=True)

    def float_all(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return torch.all(tensor != 0)

    def float_all_dim(self, tensor: Tensor, dim: int, out_dtype: DType) -> Tensor:
        return torch.all(tensor != 0, axis(tensor, dim), keepdim=True)

    int_any = float_any
    int_any_dim = float_any_dim
    int_all = float_all
    int_all_dim = float_all_dim
