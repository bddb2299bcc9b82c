"""What one call of an operation costs on the host, at 1 to 8 elements.

    python -m benchmarks.dispatch [--quick] [--json FILE]

Two questions. Against PyTorch: an extension operation `x * x` of ours on NdArray, and the same
operation registered with `torch.library.custom_op` and an autograd formula; untracked, and
forward with an input that requires grad. Against nothing: what routing, checks and wrapping add
to the bare NumPy call, in microseconds (bars: 0.8 for one input, 1.0 for two with dimensions).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks.harness import FULL, QUICK, Plan, Result, compare, options, publish, result
from firebrick import Device, Tensor
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Float,
    FloatTensor,
    Grads,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)

SIZES = (1, 8)
ONE_INPUT_BAR_US = 0.8
TWO_INPUTS_BAR_US = 1.0


@backend_extension(Autodiff, NdArray)
class Measured(OpSet[P]):
    """Operations whose own work is as small as NumPy allows."""

    def square(self, x: FloatTensor[P]) -> FloatTensor[P]:
        """`x * x`."""
        raise NoDefault

    def product(self, lhs: Float[P, "m k"], rhs: Float[P, "k n"]) -> Float[P, "m n"]:
        """`lhs @ rhs`."""
        raise NoDefault


class NdArrayMeasured(Measured[np.ndarray], on=NdArray):
    """The bodies."""

    def square(self, x: np.ndarray) -> np.ndarray:
        """As declared."""
        return x * x

    def product(self, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """As declared."""
        return np.matmul(lhs, rhs)


class AutodiffMeasured(Measured[AutodiffTensor], on=Autodiff):
    """The gradients, as the peer has one."""

    @gradient(save=("x",))
    def square(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`2 * x * grad`."""
        b = self.inner.backend
        return {"x": b.float_mul_scalar(b.float_mul(saved.x, grad), 2.0)}

    product = gradient(None)


@torch.library.custom_op("firebrick_benchmarks::square", mutates_args=())
def torch_square(x: torch.Tensor) -> torch.Tensor:
    """`x * x`, as PyTorch's own custom operator."""
    return x * x


def _keep(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
    ctx.save_for_backward(inputs[0])


def _backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    (x,) = ctx.saved_tensors
    return 2.0 * x * grad


# torch annotates the callables without what they return
torch_square.register_autograd(_backward, setup_context=_keep)  # pyright: ignore[reportUnknownMemberType]


def against_torch(plan: Plan) -> list[Result]:
    """Our extension call over PyTorch's, untracked and tracked."""
    results: list[Result] = []
    square = dispatch(Measured).square
    for size in SIZES:
        values = np.linspace(0.5, 1.5, size, dtype=np.float32)
        theirs = torch.tensor(values.tolist())
        wanting = theirs.clone().requires_grad_()
        plain = Tensor.from_numpy(values, Device.ndarray()).into_dispatch()
        tracked = Tensor.from_numpy(values, Device.ndarray().autodiff()).require_grad()
        ours = tracked.into_dispatch()
        results += [
            compare(
                f"extension call, untracked, {size} elements",
                lambda x=plain: square(x),
                lambda x=theirs: torch_square(x),
                plan,
            ),
            compare(
                f"extension call, tracked forward, {size} elements",
                lambda x=ours: square(x),
                lambda x=wanting: torch_square(x),
                plan,
            ),
        ]
    return results


def over_numpy(plan: Plan) -> list[Result]:
    """What a call adds to the NumPy call that it makes, over what it may add."""
    call = dispatch(Measured)
    x = np.ones(8, np.float32)
    lhs, rhs = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    ours_x, ours_lhs, ours_rhs = (
        Tensor.from_numpy(array, Device.ndarray()).into_dispatch() for array in (x, lhs, rhs)
    )
    square, product = call.square, call.product
    one = compare("one input", lambda: square(ours_x), lambda: x * x, plan)
    two = compare(
        "two inputs", lambda: product(ours_lhs, ours_rhs), lambda: np.matmul(lhs, rhs), plan
    )
    return [
        result("call over x * x, added / allowed", one.ours - one.peer, ONE_INPUT_BAR_US, "us"),
        result(
            "call with dimensions over matmul, added / allowed",
            two.ours - two.peer,
            TWO_INPUTS_BAR_US,
            "us",
        ),
    ]


def main() -> None:
    """Measures and prints."""
    chosen = options("what one call of an operation costs on the host")
    plan = QUICK if chosen.quick else FULL
    torch.set_num_threads(1)
    publish([*against_torch(plan), *over_numpy(plan)], chosen.json)


if __name__ == "__main__":
    main()
