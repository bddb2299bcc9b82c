"""Runs generated CUDA text on a GPU: a launcher for tests only."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.cube.wgpu_launch import Array, sizes_of

from firebrick.cube.codegen import cuda
from firebrick.cube.codegen.layout import metadata
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.ir.nodes import Function


def nvrtc_compile(text: str, architecture: str) -> bytes:
    """A cubin; the compiler's log if there is none."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="needs the package cuda-bindings")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:  # what cuda-bindings raises where the library is missing
        pytest.skip("needs the package nvidia-cuda-nvrtc")
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])
    options = [f"--gpu-architecture={architecture}".encode(), b"--fmad=false", b"--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise AssertionError(log.decode())
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = b" " * size
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


def together(functions: Sequence[Function], emit: Any) -> str:
    """One text with many kernels, each in a namespace of its own."""
    return "\n".join(
        f"namespace n_{entry_point(function.name)} {{\n{emit(function)}\n}}"
        for function in functions
    )


class CudaLibrary:
    """Kernels, compiled together for the first GPU; their names are different."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self._driver = pytest.importorskip("cuda.bindings.driver", reason="needs cuda-bindings")
        try:
            (status,) = self._driver.cuInit(0)
        except RuntimeError:  # what cuda-bindings raises where the library is missing
            pytest.skip("there is no CUDA driver on this machine")
        if status:
            pytest.skip("there is no CUDA device on this machine")
        device = self._call("cuDeviceGet", 0)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", device))
        attribute = self._driver.CUdevice_attribute
        major, minor = (
            self._call("cuDeviceGetAttribute", name, device)
            for name in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        cubin = nvrtc_compile(together(functions, cuda.emit), f"sm_{major}{minor}")
        self._module = self._call("cuModuleLoadData", cubin)

    def _call(self, name: str, *arguments: Any) -> Any:
        status, *results = getattr(self._driver, name)(*arguments)
        assert not status, f"{name}: {status}"
        return results[0] if results else None

    def launch(
        self,
        function: Function,
        arrays: Sequence[Array],
        numbers: Sequence[bool | int | float] = (),
        cubes: tuple[int, int, int] = (1, 1, 1),
    ) -> list[Array]:
        """Contents of all arrays after a launch; they stand in the order of their positions."""
        kernel = self._call(
            "cuModuleGetFunction", self._module, entry_point(function.name).encode()
        )
        words = np.frombuffer(
            metadata(function, [sizes_of(array) for array in arrays], numbers), np.uint8
        )
        used = [np.ascontiguousarray(arrays[buffer.position]) for buffer in function.buffers]
        memory = [self._call("cuMemAlloc", max(array.nbytes, 8)) for array in (*used, words)]
        for place, array in zip(memory, (*used, words), strict=True):
            self._call("cuMemcpyHtoD", place, array.ctypes.data, array.nbytes)
        pointers = tuple(int(place) for place in memory)
        given = (pointers, (ctypes.c_void_p,) * len(pointers))
        self._call("cuLaunchKernel", kernel, *cubes, *function.cube_dim, 0, 0, given, 0)
        self._call("cuCtxSynchronize")
        results = [array.copy() for array in arrays]
        for buffer, place in zip(function.buffers, memory, strict=False):
            array = results[buffer.position]
            self._call("cuMemcpyDtoH", array.ctypes.data, place, array.nbytes)
        for place in memory:
            self._call("cuMemFree", place)
        return results
