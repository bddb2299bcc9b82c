"""The smallest operation: elementwise square.

One declaration with a default body, opened to two CPU backends, PyTorch and autodiff. Nothing
else is written: the default body runs on every backend, and its gradient follows from the
operations it is made of.
"""

from __future__ import annotations

from firebrick import Device, Tensor
from firebrick.extension import (
    Autodiff,
    Flex,
    FloatTensor,
    LibTorch,
    NdArray,
    OpSet,
    P,
    backend_extension,
    dispatch,
)


@backend_extension(Autodiff, Flex, NdArray, LibTorch)
class SquareOps(OpSet[P]):
    """Elementwise square."""

    def square(self, input: FloatTensor[P]) -> FloatTensor[P]:
        """Returns `input * input`, same shape and dtype."""
        return self.backend.float_mul(input, input)


SquareOps.default_on(Autodiff, Flex, NdArray, LibTorch)


def square(input: Tensor) -> Tensor:
    """`input * input`, same shape and dtype."""
    return Tensor.from_dispatch(dispatch(SquareOps).square(input.into_dispatch()))


def main() -> None:
    """Prints the squares of two numbers, and the gradient of their sum."""
    x = Tensor.from_floats([2.0, 3.0], Device.default().autodiff()).require_grad()
    squares = square(x)
    gradients = squares.sum().backward()
    print(f"square: {squares.tolist()}, gradient: {x.grad(gradients).tolist()}")


if __name__ == "__main__":
    main()
