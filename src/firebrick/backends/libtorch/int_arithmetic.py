"""Arithmetic of ints: it stays in their dtype and wraps there.

Torch stops the process at a division of the least integer by -1, and raises at a division by 0;
NumPy wraps the one and answers 0 to the other, and so do we. Numbers that the dtype does not hold
are refused: torch would wrap them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backend.shapes import matmul
from firebrick.backends.libtorch.dtypes import int_range, int_scalar
from firebrick.backends.libtorch.int_matmul import int_matmul
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Scalar, Shape

if TYPE_CHECKING:
    from torch import Tensor


class IntArithmetic:
    """Operations on ints that take a second operand, and the sign."""

    def int_add(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.add(lhs, rhs)

    def int_add_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.add(lhs, int_scalar(rhs, lhs.dtype))

    def int_sub(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.sub(lhs, rhs)

    def int_sub_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.sub(lhs, int_scalar(rhs, lhs.dtype))

    def int_mul(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.mul(lhs, rhs)

    def int_mul_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.mul(lhs, int_scalar(rhs, lhs.dtype))

    def int_square(self, tensor: Tensor) -> Tensor:
        return torch.mul(tensor, tensor)

    def int_div(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        zero = rhs == 0
        if not rhs.dtype.is_signed:
            quotient = torch.div(lhs, rhs.masked_fill(zero, 1), rounding_mode="trunc")
            return quotient.masked_fill(zero, 0)
        minus = rhs == -1
        quotient = torch.div(lhs, rhs.masked_fill(zero | minus, 1), rounding_mode="trunc")
        return torch.where(minus, torch.neg(lhs), quotient).masked_fill(zero, 0)

    def int_div_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        divisor = int_scalar(rhs, lhs.dtype)
        if divisor == 0:
            return torch.zeros_like(lhs)
        if divisor == -1:
            return torch.neg(lhs)
        return torch.div(lhs, divisor, rounding_mode="trunc")

    def int_remainder(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        zero = rhs == 0
        return torch.remainder(lhs, rhs.masked_fill(zero, 1)).masked_fill(zero, 0)

    def int_remainder_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        divisor = int_scalar(rhs, lhs.dtype)
        return torch.remainder(lhs, divisor) if divisor else torch.zeros_like(lhs)

    def int_powi(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.pow(lhs, rhs)

    def int_powi_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        power = int_scalar(rhs, torch.int64)
        if 0 <= power <= int_range(lhs.dtype)[1]:
            return torch.pow(lhs, power)
        # Torch takes a negative power from a tensor only. Wrapped, the result is the same.
        exponent = torch.tensor(power, device=lhs.device)
        return torch.pow(lhs.long(), exponent).to(lhs.dtype)

    def int_clamp_min(self, tensor: Tensor, min: Scalar) -> Tensor:
        return torch.clamp(tensor, min=_bound(min, tensor))

    def int_clamp_max(self, tensor: Tensor, max: Scalar) -> Tensor:
        return torch.clamp(tensor, max=_bound(max, tensor))

    def int_clamp(self, tensor: Tensor, min: Scalar, max: Scalar) -> Tensor:
        return torch.clamp(tensor, _bound(min, tensor), _bound(max, tensor))

    def int_matmul(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        if min(lhs.ndim, rhs.ndim) < 2:
            # Torch takes vectors; this refuses them.
            matmul(Shape(lhs.shape), Shape(rhs.shape))
        return torch.matmul(lhs, rhs) if lhs.is_cpu else int_matmul(lhs, rhs)

    def int_neg(self, tensor: Tensor) -> Tensor:
        return torch.neg(tensor)

    def int_abs(self, tensor: Tensor) -> Tensor:
        return torch.abs(tensor)

    def int_sign(self, tensor: Tensor) -> Tensor:
        return torch.sign(tensor)


def _bound(value: Scalar, tensor: Tensor) -> int:
    """The number of the tensor's dtype that is nearest to a bound outside of it."""
    low, high = int_range(tensor.dtype)
    return int(min(max(value, low), high))
