"""Operations on bool tensors that other kinds do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import axis
from firebrick.core import Scalar

if TYPE_CHECKING:
    from torch import Tensor


class Logic:
    """Connectives, equality and whether any or all are true."""

    def bool_not(self, tensor: Tensor) -> Tensor:
        return torch.logical_not(tensor)

    def bool_and(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.logical_and(lhs, rhs)

    def bool_or(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.logical_or(lhs, rhs)

    def bool_xor(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.logical_xor(lhs, rhs)

    def bool_equal(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.eq(lhs, rhs)

    def bool_not_equal(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.ne(lhs, rhs)

    def bool_equal_elem(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.eq(lhs, rhs)

    def bool_not_equal_elem(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.ne(lhs, rhs)

    def bool_any(self, tensor: Tensor) -> Tensor:
        return torch.any(tensor)

    def bool_any_dim(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.any(tensor, axis(tensor, dim), keepdim=True)

    def bool_all(self, tensor: Tensor) -> Tensor:
        return torch.all(tensor)

    def bool_all_dim(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.all(tensor, axis(tensor, dim), keepdim=True)
