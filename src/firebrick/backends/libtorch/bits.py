"""Operations on the bits of integers.

A shift by a negative number, or by at least the width of the dtype, leaves what NumPy leaves:
nothing, or the sign of a negative number that is shifted to the right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.dtypes import int_scalar
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Scalar

if TYPE_CHECKING:
    from torch import Tensor


class Bits:
    """`&`, `|`, `^`, `~`, `<<` and `>>` on ints."""

    def bitwise_and(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.bitwise_and(lhs, rhs)

    def bitwise_and_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.bitwise_and(lhs, int_scalar(rhs, lhs.dtype))

    def bitwise_or(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.bitwise_or(lhs, rhs)

    def bitwise_or_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.bitwise_or(lhs, int_scalar(rhs, lhs.dtype))

    def bitwise_xor(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.bitwise_xor(lhs, rhs)

    def bitwise_xor_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.bitwise_xor(lhs, int_scalar(rhs, lhs.dtype))

    def bitwise_not(self, tensor: Tensor) -> Tensor:
        return torch.bitwise_not(tensor)

    def bitwise_left_shift(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.bitwise_left_shift(lhs, rhs)

    def bitwise_left_shift_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.bitwise_left_shift(lhs, int_scalar(rhs, lhs.dtype))

    def bitwise_right_shift(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.bitwise_right_shift(lhs, rhs)

    def bitwise_right_shift_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.bitwise_right_shift(lhs, int_scalar(rhs, lhs.dtype))
