"""Runs kernels on the processor runtime: a launcher for tests only, with no cache on disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest

from firebrick.cube.cache import KernelCache
from firebrick.cube.ir.nodes import Function
from firebrick.cube.runtime.base import (
    Memory,
    Runtime,
    TensorArgument,
    Triple,
    contiguous_strides,
)

if TYPE_CHECKING:
    from firebrick.cube.runtime.cpu.driver import CpuDriver

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Numbers = Sequence[bool | int | float]


@cache
def driver(threads: int = 2, *, checked: bool = True) -> CpuDriver:
    """The driver, or the test is skipped."""
    pytest.importorskip("llvmlite", reason="needs the package llvmlite")
    from firebrick.cube.runtime.cpu.driver import CpuDriver

    return CpuDriver(threads, KernelCache(), checked=checked)


@cache
def cpu_runtime(threads: int = 2) -> Runtime:
    """The driver as a runtime."""
    return Runtime(driver(threads))


def argument(array: Array) -> TensorArgument:
    """A copy of a contiguous array on the device."""
    runtime = cpu_runtime()
    raw = runtime.driver.allocate(max(array.nbytes, 1))
    if array.size:
        runtime.driver.upload(raw, np.ascontiguousarray(array))
    memory = Memory(runtime, raw, array.nbytes)
    return TensorArgument(memory, array.shape, contiguous_strides(array.shape), array.size)


def contents(tensor: TensorArgument, like: Array) -> Array:
    """What a device holds, as an array of the same kind."""
    raw = cpu_runtime().driver.read(tensor.memory.raw, tensor.memory.size_bytes)
    return np.frombuffer(raw, like.dtype).reshape(like.shape)


def launch(
    function: Function,
    arrays: Sequence[Array],
    numbers: Numbers = (),
    cubes: Triple = (1, 1, 1),
    *,
    threads: int = 2,
    checked: bool = True,
) -> list[Array]:
    """Contents of all arrays after a launch; they stand in the order of their positions."""
    runner = driver(threads, checked=checked)
    tensors = [argument(array) for array in arrays]
    runner.launch(runner.compile(function), cubes, tensors, numbers)
    return [contents(t, array) for t, array in zip(tensors, arrays, strict=True)]
