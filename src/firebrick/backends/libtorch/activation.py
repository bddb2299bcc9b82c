"""Activations and their derivatives.

What is composed here is computed in float32 for floats of 16 bits, as torch does inside its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firebrick.backends.libtorch.dtypes import accumulator
from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import axis
from firebrick.core import Scalar

if TYPE_CHECKING:
    from torch import Tensor

SQRT_HALF = math.sqrt(0.5)
DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)
"""Of the standard normal distribution."""


class Activation:
    """Each by torch's own operation, except where that is wrong or inexact."""

    def relu(self, tensor: Tensor) -> Tensor:
        return torch.relu(tensor)

    def relu_backward(self, output: Tensor, grad: Tensor) -> Tensor:
        return torch.where(output > 0, grad, 0.0)

    def leaky_relu(self, tensor: Tensor, negative_slope: Scalar) -> Tensor:
        return torch.nn.functional.leaky_relu(tensor, float(negative_slope))

    def prelu(self, tensor: Tensor, alpha: Tensor) -> Tensor:
        return torch.where(tensor >= 0, tensor, alpha * tensor)

    def gelu(self, tensor: Tensor) -> Tensor:
        # Not torch's: it has NaN at infinity, and no digits left below -5.
        x = tensor.to(accumulator(tensor.dtype))
        return (x * _normal_below(x)).to(tensor.dtype)

    def gelu_backward(self, x: Tensor, grad: Tensor) -> Tensor:
        wide = x.to(accumulator(x.dtype))
        density = torch.exp(wide * wide * -0.5) * DENSITY_AT_0
        return ((_normal_below(wide) + wide * density) * grad).to(grad.dtype)

    def sigmoid(self, tensor: Tensor) -> Tensor:
        return torch.sigmoid(tensor)

    def sigmoid_backward(self, output: Tensor, grad: Tensor) -> Tensor:
        return output * (1 - output) * grad

    def hard_sigmoid(self, tensor: Tensor, alpha: Scalar, beta: Scalar) -> Tensor:
        x = tensor.to(accumulator(tensor.dtype))
        return torch.clamp(x * float(alpha) + float(beta), 0.0, 1.0).to(tensor.dtype)

    def log_sigmoid(self, tensor: Tensor) -> Tensor:
        return torch.nn.functional.logsigmoid(tensor)

    def log_sigmoid_backward(self, x: Tensor, grad: Tensor) -> Tensor:
        return torch.sigmoid(-x) * grad

    def softmax(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.softmax(tensor, axis(tensor, dim))

    def softmin(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.softmax(-tensor, axis(tensor, dim))

    def log_softmax(self, tensor: Tensor, dim: int) -> Tensor:
        return torch.log_softmax(tensor, axis(tensor, dim))


def _normal_below(x: Tensor) -> Tensor:
    """The standard normal distribution function, (1 + erf(x / sqrt 2)) / 2 without cancellation."""
    return torch.erfc(x * -SQRT_HALF) * 0.5
