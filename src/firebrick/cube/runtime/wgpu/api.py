# ruff: noqa: D102 - wgpu-py and the WebGPU specification document what is only declared here
"""The door to wgpu-py, and the only module that knows it: what is used of it, with types.

wgpu-py has no complete type information. What is called is declared below; the objects are its
own, so that nothing stands between a launch and the library. Two things are reached that it keeps
to itself, both for want of a public way, and the range of versions in `pyproject.toml` is bound to
them: `_poll`, without which copies in the making are never freed, and the library's handle, which
a forked child must drop.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    import numpy as np

# Any: its modules are only partly typed
wgpu: Any = importlib.import_module("wgpu")
native: Any = importlib.import_module("wgpu.backends.wgpu_native._api")
extras: Any = importlib.import_module("wgpu.backends.wgpu_native.extras")

_usage: Any = wgpu.BufferUsage
STORAGE_USAGE: int = _usage.STORAGE | _usage.COPY_DST | _usage.COPY_SRC
STAGING_USAGE: int = _usage.COPY_DST | _usage.MAP_READ
_COMPUTE: int = wgpu.ShaderStage.COMPUTE
_FRAME = re.compile(r"Validation Error|Caused by:|In wgpu\w+")

VERSION: str = wgpu.__version__
DeviceFailure: type[Exception] = wgpu.GPUError
"""Whatever the library finds wrong; raised by the call that caused it."""
OutOfMemory: type[Exception] = wgpu.GPUOutOfMemoryError


class Opaque(Protocol):
    """An object that is only handed back to the library."""


class Buffer(Protocol):
    """Memory of a device."""

    def map_async(self, mode: str, offset: int, size: int) -> Promise: ...
    def read_mapped(self, offset: int, size: int, *, copy: bool) -> memoryview: ...
    def unmap(self) -> None: ...
    def destroy(self) -> None: ...


class Promise(Protocol):
    """Something that will have happened."""

    def sync_wait(self) -> object: ...


class ComputePass(Protocol):
    """Launches being recorded."""

    def set_pipeline(self, pipeline: Opaque) -> None: ...
    def set_bind_group(self, index: int, bind_group: Opaque) -> None: ...
    def dispatch_workgroups(self, x: int, y: int, z: int) -> None: ...
    def end(self) -> None: ...


class Encoder(Protocol):
    """Commands being recorded."""

    def begin_compute_pass(self) -> ComputePass: ...
    def copy_buffer_to_buffer(
        self,
        source: Buffer,
        source_offset: int,
        destination: Buffer,
        destination_offset: int,
        size: int,
    ) -> None: ...
    def finish(self) -> Opaque: ...


class Queue(Protocol):
    """What a device works through in order."""

    def submit(self, commands: Sequence[Opaque]) -> None: ...
    def write_buffer(
        self, buffer: Buffer, offset: int, data: bytes | np.ndarray[Any, Any]
    ) -> None: ...


class Device(Protocol):
    """An opened adapter."""

    @property
    def queue(self) -> Queue: ...
    def create_buffer(self, *, size: int, usage: int) -> Buffer: ...
    def create_shader_module(self, *, code: str) -> Opaque: ...
    def create_bind_group_layout(self, *, entries: Sequence[Mapping[str, object]]) -> Opaque: ...
    def create_pipeline_layout(self, *, bind_group_layouts: Sequence[Opaque]) -> Opaque: ...
    def create_compute_pipeline(
        self, *, layout: Opaque, compute: Mapping[str, object]
    ) -> Opaque: ...
    def create_bind_group(
        self, *, layout: Opaque, entries: Sequence[Mapping[str, object]]
    ) -> Opaque: ...
    def create_command_encoder(self) -> Encoder: ...
    def destroy(self) -> None: ...


class Adapter(Protocol):
    """A GPU, or a program that stands for one."""

    @property
    def info(self) -> Mapping[str, str]: ...
    @property
    def features(self) -> frozenset[str]: ...
    @property
    def limits(self) -> Mapping[str, int]: ...
    def request_device_sync(
        self, *, required_features: Sequence[str], required_limits: Mapping[str, int]
    ) -> Device: ...


def adapters() -> list[Adapter]:
    """All there are, without OpenGL unless somebody else has asked wgpu-py for adapters before.

    OpenGL cannot run the kernels, takes longest to look through, and its drivers crash the exit of
    a forked child.
    """
    with contextlib.suppress(RuntimeError), _headless():  # the library was started by others
        extras.set_instance_extras(backends=["Primary"])
    with _headless():
        found: list[Adapter] = wgpu.gpu.enumerate_adapters_sync()
        return found


@contextlib.contextmanager
def _headless() -> Generator[None]:
    """Mesa looks for a display server and complains of a missing variable where there is none."""
    name = "XDG_RUNTIME_DIR"
    if name in os.environ:
        yield
        return
    os.environ[name] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ[name]


def poll(device: Device) -> None:
    """Lets the library free what the device is done with."""
    untyped: Any = device  # the method is not declared above, since it is private: see the top
    untyped._poll()


def layout_entry(binding: int, access: str) -> Mapping[str, object]:
    """One storage buffer of a layout: `storage` or `read-only-storage`."""
    return {"binding": binding, "visibility": _COMPUTE, "buffer": {"type": access}}


def words(reason: Exception) -> str:
    """What an error says, without the names of the library's functions around it."""
    lines = str(reason).strip().splitlines()
    kept = [line for line in lines if not _FRAME.fullmatch(line.strip())]
    return "\n".join(kept).strip()


def is_loss(reason: Exception) -> bool:
    """Whether an error says that the device is gone; that has no class of its own."""
    text = str(reason).lower()
    return "device" in text and "lost" in text


def abandon() -> None:
    """In a forked child: objects of the library do nothing more when they are freed.

    The threads behind them exist in the parent only, and freeing a device waits for them.
    """
    native.libf = None  # what objects look at before they free themselves
