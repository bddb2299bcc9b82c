"""Functions of one float, each by torch's operation of that name; and the angle of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


class FloatMath:
    """Exponentials, logarithms, circular and hyperbolic functions, rounding, the error function."""

    def float_exp(self, tensor: Tensor) -> Tensor:
        return torch.exp(tensor)

    def float_log(self, tensor: Tensor) -> Tensor:
        return torch.log(tensor)

    def float_log1p(self, tensor: Tensor) -> Tensor:
        return torch.log1p(tensor)

    def float_sqrt(self, tensor: Tensor) -> Tensor:
        return torch.sqrt(tensor)

    def float_cos(self, tensor: Tensor) -> Tensor:
        return torch.cos(tensor)

    def float_sin(self, tensor: Tensor) -> Tensor:
        return torch.sin(tensor)

    def float_tan(self, tensor: Tensor) -> Tensor:
        return torch.tan(tensor)

    def float_cosh(self, tensor: Tensor) -> Tensor:
        return torch.cosh(tensor)

    def float_sinh(self, tensor: Tensor) -> Tensor:
        return torch.sinh(tensor)

    def float_tanh(self, tensor: Tensor) -> Tensor:
        return torch.tanh(tensor)

    def float_acos(self, tensor: Tensor) -> Tensor:
        return torch.acos(tensor)

    def float_acosh(self, tensor: Tensor) -> Tensor:
        return torch.acosh(tensor)

    def float_asin(self, tensor: Tensor) -> Tensor:
        return torch.asin(tensor)

    def float_asinh(self, tensor: Tensor) -> Tensor:
        return torch.asinh(tensor)

    def float_atan(self, tensor: Tensor) -> Tensor:
        return torch.atan(tensor)

    def float_atanh(self, tensor: Tensor) -> Tensor:
        return torch.atanh(tensor)

    def float_round(self, tensor: Tensor) -> Tensor:
        return torch.round(tensor)

    def float_floor(self, tensor: Tensor) -> Tensor:
        return torch.floor(tensor)

    def float_ceil(self, tensor: Tensor) -> Tensor:
        return torch.ceil(tensor)

    def float_trunc(self, tensor: Tensor) -> Tensor:
        return torch.trunc(tensor)

    def float_erf(self, tensor: Tensor) -> Tensor:
        return torch.erf(tensor)

    def float_atan2(self, lhs: Tensor, rhs: Tensor) -> Tensor:
        return torch.atan2(lhs, rhs)
