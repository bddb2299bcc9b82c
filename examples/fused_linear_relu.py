"""A layer as one operation: `relu(lhs @ rhs + bias)`, with its own backward pass.

The default body composes built-in operations and serves any backend. The two NumPy backends get
an implementation that reuses one buffer; on PyTorch the default body is as good. The backward
pass needs the output only, so nothing between input and output is kept.
"""

from __future__ import annotations

import numpy as np

from firebrick import Device, Tensor
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Flex,
    Float,
    Grads,
    LibTorch,
    NdArray,
    Need,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    from_dispatch,
    gradient,
    into_dispatch,
)


@backend_extension(Autodiff, Flex, NdArray, LibTorch)
class LinearOps(OpSet[P]):
    """Layers that compute in one go."""

    def linear_relu(
        self, lhs: Float[P, "m k"], rhs: Float[P, "k n"], bias: Float[P, "n"]
    ) -> Float[P, "m n"]:
        """Returns `max(lhs @ rhs + bias, 0)`."""
        b = self.backend
        return b.relu(b.float_add(b.float_matmul(lhs, rhs), bias))


class InPlace:
    """What both NumPy backends do: one buffer instead of three."""

    def linear_relu(self, lhs: np.ndarray, rhs: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The product is ours, so bias and relu may be written over it."""
        out = np.matmul(lhs, rhs)
        out += bias
        return np.maximum(out, 0, out=out)


class FlexLinear(InPlace, LinearOps[np.ndarray], on=Flex):
    """`LinearOps` on Flex."""


class NdArrayLinear(InPlace, LinearOps[np.ndarray], on=NdArray):
    """`LinearOps` on NdArray."""


LinearOps.default_on(LibTorch)


class AutodiffLinear(LinearOps[AutodiffTensor], on=Autodiff):
    """The backward pass."""

    @gradient(save=("lhs", "rhs", "out"))
    def linear_relu(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The gradient passes where the output is positive; then it is that of a product."""
        b = self.inner.backend
        grad = b.relu_backward(saved.out, grad)
        return {
            "lhs": b.float_matmul(grad, b.float_transpose(saved.rhs)) if need.lhs else None,
            "rhs": b.float_matmul(b.float_transpose(saved.lhs), grad) if need.rhs else None,
            "bias": grad if need.bias else None,  # summed over the rows by firebrick
        }


def linear_relu(lhs: Tensor, rhs: Tensor, bias: Tensor) -> Tensor:
    """`max(lhs @ rhs + bias, 0)` of shapes `[m, k]`, `[k, n]` and `[n]`; differentiable."""
    return from_dispatch(dispatch(LinearOps).linear_relu(*into_dispatch((lhs, rhs, bias))))


def main() -> None:
    """Prints the output of a small layer and the gradient of its bias."""
    device = Device.default().autodiff()
    lhs = Tensor([[1.0, -2.0, 3.0], [0.0, 1.0, -1.0]], device)
    rhs = Tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]], device)
    bias = Tensor([4.0, 1.0], device).require_grad()
    out = linear_relu(lhs, rhs, bias)
    gradients = out.sum().backward()
    print(f"linear_relu: {out.tolist()}, gradient of bias: {bias.grad(gradients).tolist()}")


if __name__ == "__main__":
    main()
