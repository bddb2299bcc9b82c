"""What kernels cost on the processor runtime: large ones in bandwidth, small ones in launches.

    python -m benchmarks.kernels [--quick] [--json FILE]

Bars: a GELU of 10 million float32 takes at most 1.3 times as long as NumPy copies them; the
driver's part of a launch takes 1.5 us, the whole launch of a kernel 4 us. PyTorch's compiler is a
second peer where it is installed with a C++ compiler.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import firebrick.cube as cube
from benchmarks.harness import Plan, Result, compare, options, publish, result
from firebrick.cube.runtime.base import DeviceTensor, Runtime, TensorArgument

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound=cube.Float)

ELEMENTS = 10_000_000
UNITS = 256
COPY_BAR = 1.3
LAUNCH_BAR_US = 4.0
DRIVER_BAR_US = 1.5
LARGE = Plan(rounds=41, calls=3)
LARGE_QUICK = Plan(rounds=9, calls=2)
SMALL = Plan(rounds=41, calls=2000)
SMALL_QUICK = Plan(rounds=9, calls=300)


@cube.kernel
def gelu(x: cube.Tensor[F], out: cube.Mut[cube.Tensor[F]]) -> None:
    """The tanh form of GELU."""
    i = cube.ABSOLUTE_POS
    if i < len(out):
        v = x[i]
        out[i] = 0.5 * v * (1.0 + cube.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


def numpy_gelu(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The oracle."""
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def large(runtime: Runtime, plan: Plan) -> list[Result]:
    """One pass over more elements than caches hold."""
    values = np.random.default_rng(0).normal(size=ELEMENTS).astype(np.float32)
    copied = np.empty_like(values)
    x, out = runtime.tensor(values), runtime.zeros(ELEMENTS, cube.f32)
    launcher = gelu[-(-ELEMENTS // UNITS), UNITS]
    launcher(x, out)
    np.testing.assert_allclose(
        out.numpy(), numpy_gelu(values.astype(np.float64)), rtol=1e-5, atol=1e-6
    )

    def ours() -> None:
        launcher(x, out)

    copy = compare("GELU / copy", ours, lambda: np.copyto(copied, values), plan)
    bars = [
        result("GELU of 10M float32 / 1.3 copies by NumPy", copy.ours, COPY_BAR * copy.peer, "us")
    ]
    peer = torch_gelu(values)
    if peer is not None:
        bars.append(compare("GELU of 10M float32 / torch.compile", ours, peer, plan))
    return bars


def torch_gelu(values: np.ndarray[Any, Any]) -> Callable[[], object] | None:
    """PyTorch's compiled GELU, where it can compile."""
    if find_spec("torch") is None or shutil.which("g++") is None:
        return None
    import torch

    x = torch.from_numpy(values)  # pyright: ignore[reportUnknownMemberType] - torch's stub
    module = torch.nn.GELU(approximate="tanh")
    compiled: Any = torch.compile(module)  # pyright: ignore[reportUnknownMemberType] - torch's stub

    def call() -> object:
        with torch.no_grad():
            return compiled(x)

    call()
    return call


def small(runtime: Runtime, plan: Plan) -> list[Result]:
    """Launches whose kernel has next to nothing to do."""
    x, out = runtime.tensor(np.ones(8, np.float32)), runtime.zeros(8, cube.f32)
    compiled = gelu.variant(gelu.bind((x, out)), (8, 1, 1)).compiled
    driver, tensors = runtime.driver, [argument(x), argument(out)]

    def nothing() -> None:
        """The harness's own time."""

    whole = compare("a launch", lambda: gelu[1, 8](x, out), nothing, plan)
    inner = compare(
        "the driver's part", lambda: driver.launch(compiled, (1, 1, 1), tensors, ()), nothing, plan
    )
    return [
        result("launch of 8 units / allowed", whole.ours, LAUNCH_BAR_US, "us"),
        result("the driver's part of it / allowed", inner.ours, DRIVER_BAR_US, "us"),
    ]


def argument(tensor: DeviceTensor) -> TensorArgument:
    """A tensor as a driver takes it."""
    return TensorArgument(tensor.handle, tensor.shape, tensor.strides, tensor.shape.num_elements())


def measure(*, quick: bool) -> list[Result]:
    """All bars."""
    runtime = cube.runtime("cpu")
    return [
        *large(runtime, LARGE_QUICK if quick else LARGE),
        *small(runtime, SMALL_QUICK if quick else SMALL),
    ]


def main() -> None:
    """Measures and prints."""
    chosen = options("what kernels cost on the processor runtime")
    publish(measure(quick=chosen.quick), chosen.json)


if __name__ == "__main__":
    main()
