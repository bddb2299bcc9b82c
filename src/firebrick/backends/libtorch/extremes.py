"""Greatest and least elements, where they are, and running ones. NaN counts as both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import as_positions, axis, own_positions
from firebrick.core import DType

if TYPE_CHECKING:
    from torch import Tensor


class Extremes:
    """Of equal elements the first is meant; of several NaN too."""

    def float_max(self, tensor: Tensor) -> Tensor:
        return torch.amax(tensor)

    def float_max_dim(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.amax(tensor, axis(tensor, dim), keepdim=True)

    def float_max_dim_with_indices(
        self, tensor: Tensor, dim: int, indices_dtype: DType
    ) -> tuple[Tensor, Tensor]:
        values, positions = torch.max(tensor, axis(tensor, dim), keepdim=True)
        return values, as_positions(positions, tensor, dim, indices_dtype)

    def float_min(self, tensor: Tensor) -> Tensor:
        return torch.amin(tensor)

    def float_min_dim(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.amin(tensor, axis(tensor, dim), keepdim=True)

    def float_min_dim_with_indices(
        self, tensor: Tensor, dim: int, indices_dtype: DType
    ) -> tuple[Tensor, Tensor]:
        values, positions = torch.min(tensor, axis(tensor, dim), keepdim=True)
        return values, as_positions(positions, tensor, dim, indices_dtype)

    def float_max_abs(self, tensor: Tensor) -> Tensor:
        return torch.amax(torch.abs(tensor))

    def float_max_abs_dim(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.amax(torch.abs(tensor), axis(tensor, dim), keepdim=True)

    def float_argmax(self, tensor: Tensor, dim: int, out_dtype: DType) -> Tensor:
        positions = torch.argmax(tensor, axis(tensor, dim), keepdim=True)
        return as_positions(positions, tensor, dim, out_dtype)

    def float_argmin(self, tensor: Tensor, dim: int, out_dtype: DType) -> Tensor:
        positions = torch.argmin(tensor, axis(tensor, dim), keepdim=True)
        return as_positions(positions, tensor, dim, out_dtype)

    def float_cummax(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.cummax(tensor, axis(tensor, dim)).values

    def float_cummin(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.cummin(tensor, axis(tensor, dim)).values

    int_max = float_max
    int_max_dim = float_max_dim
    int_min = float_min
    int_min_dim = float_min_dim
    int_max_abs = float_max_abs
    int_max_abs_dim = float_max_abs_dim
    int_cummax = float_cummax
    int_cummin = float_cummin

    def int_max_dim_with_indices(self, tensor: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        values, positions = torch.max(tensor, axis(tensor, dim), keepdim=True)
        return values, own_positions(positions, tensor, dim)

    def int_min_dim_with_indices(self, tensor: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        values, positions = torch.min(tensor, axis(tensor, dim), keepdim=True)
        return values, own_positions(positions, tensor, dim)

    def int_argmax(self, tensor: Tensor, dim: int) -> Tensor:
        positions = torch.argmax(tensor, axis(tensor, dim), keepdim=True)
        return own_positions(positions, tensor, dim)

    def int_argmin(self, tensor: Tensor, dim: int) -> Tensor:
        positions = torch.argmin(tensor, axis(tensor, dim), keepdim=True)
        return own_positions(positions, tensor, dim)
