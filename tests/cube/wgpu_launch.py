"""Runs generated WGSL on the software drivers of this machine: a launcher for tests only.

Drivers are lavapipe (Debian's `mesa-vulkan-drivers`) and SwiftShader (in Debian's
`chromium-common`; its manifest is looked for where that package puts it, or where the environment
variable `FIREBRICK_SWIFTSHADER` says). Real GPUs are left alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

from firebrick.cube.codegen.layout import metadata
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.codegen.target import Target
from firebrick.cube.codegen.wgsl import (
    FEATURES,
    SUBGROUP_BARRIER,
    SUBGROUPS,
    WIDE_ATOMICS,
    device_target,
    emit,
)
from firebrick.cube.ir.nodes import Function
from firebrick.cube.runtime.base import Properties, contiguous_strides

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
DRIVERS = {"lavapipe": "llvmpipe", "swiftshader": "SwiftShader"}
"""What the drivers call themselves."""
MANIFEST = Path(
    os.environ.get("FIREBRICK_SWIFTSHADER", "/usr/lib/chromium/vk_swiftshader_icd.json")
)
WANTED = (*FEATURES, SUBGROUPS, SUBGROUP_BARRIER, WIDE_ATOMICS)


class Sizes(NamedTuple):
    """What a kernel is told of an array."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    length: int


def sizes_of(array: Array) -> Sizes:
    """Those of a contiguous array."""
    return Sizes(array.shape, contiguous_strides(array.shape), array.size)


class Launcher:
    """A device of one driver."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self._wgpu = pytest.importorskip("wgpu", reason="needs the package wgpu")
        adapter = _adapters().get(driver)
        if adapter is None:
            pytest.skip(f"there is no Vulkan driver {driver} on this machine")
        features = [name for name in WANTED if name in adapter.features]
        limits = dict(adapter.limits)
        self.device = adapter.request_device_sync(
            required_features=features, required_limits=limits
        )
        self.target = _target(features, limits)

    def compile(self, function: Function) -> Any:
        """The pipeline of a kernel."""
        return self.pipeline(emit(function, self.target), entry_point(function.name))

    def pipeline(self, text: str, entry: str) -> Any:
        """The pipeline of a text; raises what the driver complains of."""
        module = self.device.create_shader_module(code=text)
        return self.device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": entry}
        )

    def launch(
        self,
        function: Function,
        arrays: Sequence[Array],
        numbers: Sequence[bool | int | float] = (),
        cubes: tuple[int, int, int] = (1, 1, 1),
    ) -> list[Array]:
        """Contents of all arrays after a launch; they stand in the order of their positions."""
        pipeline = self.compile(function)
        words = metadata(function, [sizes_of(array) for array in arrays], numbers)
        used = [arrays[buffer.position].tobytes() for buffer in function.buffers]
        buffers = [self._buffer(data) for data in (*used, words)]
        entries = [
            {"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}}
            for i, b in enumerate(buffers)
        ]
        group = self.device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0), entries=entries
        )
        encoder = self.device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*cubes)
        work.end()
        self.device.queue.submit([encoder.finish()])
        result = list(arrays)
        for buffer, memory in zip(function.buffers, buffers, strict=False):
            array = arrays[buffer.position]
            raw = self.device.queue.read_buffer(memory)
            result[buffer.position] = np.frombuffer(raw, array.dtype, array.size).reshape(
                array.shape
            )
        return result

    def _buffer(self, data: bytes) -> Any:
        usage = self._wgpu.BufferUsage.STORAGE | self._wgpu.BufferUsage.COPY_SRC
        padded = data.ljust(max(-(-len(data) // 4) * 4, 4), b"\0")
        return self.device.create_buffer_with_data(data=padded, usage=usage)


def _target(features: Sequence[str], limits: dict[str, int]) -> Target:
    axis = [limits[f"max-compute-workgroup-size-{axis}"] for axis in "xyz"]
    return device_target(
        features,
        Properties(
            types=frozenset(),
            max_units=limits["max-compute-invocations-per-workgroup"],
            max_cube_dim=(axis[0], axis[1], axis[2]),
            max_shared_bytes=limits["max-compute-workgroup-storage-size"],
            max_buffers=limits["max-storage-buffers-per-shader-stage"] - 1,
        ),
    )


@cache
def _adapters() -> dict[str, Any]:
    wgpu = pytest.importorskip("wgpu", reason="needs the package wgpu")
    os.environ.setdefault("XDG_RUNTIME_DIR", "/tmp")  # llvmpipe says on stderr that it wants it
    if MANIFEST.exists():
        os.environ.setdefault("VK_ADD_DRIVER_FILES", str(MANIFEST))
    vulkan = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "Vulkan"]
    return {
        name: adapter
        for name, title in DRIVERS.items()
        for adapter in vulkan
        if adapter.info["device"].startswith(title)
    }
