"""Kernels and the fixture that the tests of the wgpu runtime share."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import firebrick.cube as cube
from firebrick.errors import BackendUnavailableError

F = TypeVar("F", bound=cube.Float)
N = TypeVar("N", bound=cube.Numeric)

ADAPTERS = (0, 1)
"""Two software drivers can be there at once: `VK_DRIVER_FILES` lists both (`tools/vulkan.sh`)."""


def open_runtime(index: int) -> cube.Runtime:
    """The runtime of an adapter, or a visible skip."""
    try:
        return cube.runtime("wgpu", index)
    except BackendUnavailableError as reason:
        pytest.skip(f"wgpu {index}: {reason}")


@cube.kernel
def increment(x: cube.Mut[cube.Tensor[N]]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(x):
        x[i] += 1


@cube.kernel
def scale(x: cube.Tensor[F], factor: F, out: cube.Mut[cube.Tensor[F]]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * factor


@cube.kernel
def with_unused(
    first: cube.Tensor[F], second: cube.Tensor[F], out: cube.Mut[cube.Tensor[F]]
) -> None:
    out[cube.ABSOLUTE_POS] = second[cube.ABSOLUTE_POS]


@cube.kernel
def fill_shared(elements: cube.Comptime[int], out: cube.Mut[cube.Tensor[cube.u32]]) -> None:
    memory = cube.shared(cube.u32, elements)
    memory[elements - 1] = 7
    cube.sync_cube()
    out[0] = memory[elements - 1]


@cube.kernel
def flip(x: cube.Tensor[bool], out: cube.Mut[cube.Tensor[bool]]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(out):
        out[i] = not x[i]


def check_works(runtime: cube.Runtime) -> None:
    """An ordinary launch, right."""
    x, out = runtime.tensor(np.array([1, 2, 3], np.float32)), runtime.zeros(3, cube.f32)
    scale[1, 4](x, 3.0, out)
    assert out.numpy().tolist() == [3, 6, 9]


def launch_unchecked(runtime: cube.Runtime, kernel: Any, cubes: int, *values: Any) -> None:
    """A launch that passes by the host's checks, down to the driver."""
    bound = kernel.bind(values)
    compiled = kernel.variant(bound, (1, 1, 1)).compiled
    runtime.driver.launch(compiled, (cubes, 1, 1), bound.tensors, bound.numbers)
