"""Arithmetic of floats: with tensors, with numbers, products of matrices and vectors, powers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backend.shapes import cross, matmul
from firebrick.backends.libtorch.dtypes import float_scalar
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Scalar, Shape

if TYPE_CHECKING:
    from torch import Tensor


EXACT_EXPONENT = 256
"""Up to here every float dtype holds all integers, bfloat16 with its 8 bits too.

Torch rounds an exponent to the dtype of the base, which can lose whether it is odd.
"""


class FloatArithmetic:
    """Operations on floats that take a second operand, and the sign.

    Numbers are made floats first: torch takes no integers beyond 64 bits.
    """

    def float_add(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.add(lhs, rhs)

    def float_add_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.add(lhs, float(rhs))

    def float_sub(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.sub(lhs, rhs)

    def float_sub_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.sub(lhs, float(rhs))

    def float_mul(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.mul(lhs, rhs)

    def float_mul_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.mul(lhs, float(rhs))

    def float_div(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.div(lhs, rhs)

    def float_div_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.div(lhs, float(rhs))

    def float_remainder(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.remainder(lhs, rhs)

    def float_remainder_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        return torch.remainder(lhs, float(rhs))

    def float_matmul(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        if min(lhs.ndim, rhs.ndim) < 2:
            # Torch takes vectors; this refuses them.
            matmul(Shape(lhs.shape), Shape(rhs.shape))
        return torch.matmul(lhs, rhs)

    def float_cross(self, lhs: Tensor, rhs: Tensor, dim: int) -> Tensor:
        shape = cross(Shape(lhs.shape), Shape(rhs.shape), dim)
        return torch.cross(lhs.expand(shape), rhs.expand(shape), dim=dim)

    def float_hypot(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.hypot(lhs, rhs)

    def float_clamp_min(self, tensor: Tensor, min: Scalar) -> Tensor:
        return torch.clamp(tensor, min=float_scalar(min, tensor.dtype))

    def float_clamp_max(self, tensor: Tensor, max: Scalar) -> Tensor:
        return torch.clamp(tensor, max=float_scalar(max, tensor.dtype))

    def float_clamp(self, tensor: Tensor, min: Scalar, max: Scalar) -> Tensor:
        low, high = float_scalar(min, tensor.dtype), float_scalar(max, tensor.dtype)
        return torch.clamp(tensor, low, high)

    def float_powf(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.pow(lhs, rhs)

    def float_powf_scalar(self, tensor: Tensor, value: Scalar) -> Tensor:
        return torch.pow(tensor, float(value))

    def float_powi(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        magnitude = torch.pow(torch.abs(lhs), rhs)
        return torch.where(rhs % 2 == 1, torch.copysign(magnitude, lhs), magnitude)

    def float_powi_scalar(self, lhs: Tensor, rhs: Scalar) -> Tensor:
        if abs(rhs) <= EXACT_EXPONENT:
            return torch.pow(lhs, rhs)
        magnitude = torch.pow(torch.abs(lhs), float(rhs))
        return torch.copysign(magnitude, lhs) if rhs % 2 == 1 else magnitude

    def float_neg(self, tensor: Tensor) -> Tensor:
        return torch.neg(tensor)

    def float_abs(self, tensor: Tensor) -> Tensor:
        return torch.abs(tensor)

    def float_sign(self, tensor: Tensor) -> Tensor:
        return torch.sign(tensor)

    def float_recip(self, tensor: Tensor) -> Tensor:
        return torch.reciprocal(tensor)
