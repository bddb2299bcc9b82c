"""A device reached through CuPy, for CUDA and ROCm alike: memory, copies and one stream.

Everything is queued on one stream, so that memory can be used again at once. Errors of a kernel
come from whatever is called next. Some break the context for good: every later call then says so,
since resetting the device would pull it from under other libraries of the process.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.cube.cache.forks import renew_in_child
from firebrick.cube.runtime.pool import Block, Lease, Pool
from firebrick.cube.runtime.processes import forked_error
from firebrick.errors import BackendUnavailableError, KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Generator

# Any: the package has no type information
cupy: Any = importlib.import_module("cupy")
driver: Any = cupy.cuda.driver
runtime: Any = cupy.cuda.runtime
Failures: tuple[type[Exception], ...] = (runtime.CUDARuntimeError, driver.CUDADriverError)

_OUT_OF_MEMORY = 2
_BREAKING = frozenset({
    214, 219, 220, 226,  # memory, NVLink and contexts beyond repair
    700, 702, 710, 714, 715, 716, 717, 718, 719,  # what a kernel did: addresses, time, traps
    999,
})  # fmt: skip
"""Codes after which a context gives nothing but errors; CUDA runtime API 13, `cudaError_t`."""


class CupyDevice:
    """One device.

    Args:
        name: Of the runtime.
        index: Of the device.
        is_hip: Which of CuPy's builds has to be there.
    """

    def __init__(self, name: str, index: int, *, is_hip: bool) -> None:
        self.name = name
        self.index = index
        self.facts = _facts(name, index, is_hip=is_hip)
        """What CuPy knows of the device."""
        self._is_forked = False
        self._broken_by: str | None = None
        self._lock = threading.Lock()
        self._threads = threading.local()
        self._pool = Pool(self, runtime.malloc, self._free)
        with self.using("opening the device"):
            self.stream: Any = cupy.cuda.Stream(non_blocking=True)
            """Where everything is queued, for libraries that work on the same memory."""
            self._stream: int = self.stream.ptr
        renew_in_child(self)

    def renew(self) -> None:
        """In a forked child: a context does not survive a fork."""
        self._is_forked = True

    @property
    def title(self) -> str:
        """The name of the hardware."""
        title = self.facts["name"]
        return title.decode(errors="replace") if isinstance(title, bytes) else str(title)

    # ---- contexts and errors ------------------------------------------------------------------

    @contextmanager
    def using(self, what: str) -> Generator[None]:
        """The device is the thread's current one; what it finds wrong is a typed error."""
        before = self.enter()
        try:
            yield
        except Failures as reason:
            raise self.failure(what, reason) from reason
        finally:
            self.leave(before)

    def enter(self) -> int:
        """Makes the device the thread's current one; gives what `leave` needs."""
        if self._is_forked:
            raise forked_error(self.name)
        if self._broken_by is not None:
            raise self._broken(f"the {self.name} device cannot be used")
        before: int = runtime.getDevice()
        if before != self.index or not getattr(self._threads, "is_ready", False):
            runtime.setDevice(self.index)  # in a thread's first call this makes a context
            self._threads.is_ready = True
        return before

    def leave(self, before: int) -> None:
        """Makes another device the current one again, if there was one."""
        if before != self.index:
            runtime.setDevice(before)

    def failure(self, what: str, reason: Exception) -> KernelLaunchError:
        """What a code of the device means for whoever called."""
        if getattr(reason, "status", None) in _BREAKING:
            self._broken_by = str(reason)
            return self._broken(what)
        return KernelLaunchError(f"{what}: {self.name} device {self.index} refused: {reason}.")

    def _broken(self, what: str) -> KernelLaunchError:
        return KernelLaunchError(
            f"{what}: a kernel before broke the context of {self.name} device {self.index} "
            f"({self.title}): {self._broken_by}. Everything on the device is lost, and it stays "
            "unusable in this process: start a new one. `compute-sanitizer` finds the access at "
            "fault, and so does the `interpreter` runtime."
        )

    # ---- memory -------------------------------------------------------------------------------

    def _free(self, block: Block) -> None:
        runtime.free(block.raw)  # waits for what is queued

    def allocate(self, size_bytes: int) -> Lease:
        """Memory whose address is a multiple of 256."""
        with self.using(f"allocating {size_bytes} bytes"), self._lock:
            try:
                return self._pool.take(size_bytes)
            except runtime.CUDARuntimeError as reason:
                if reason.status != _OUT_OF_MEMORY:
                    raise
            self._pool.trim()
            cupy.get_default_memory_pool().free_all_blocks()
            try:
                return self._pool.take(size_bytes)
            except runtime.CUDARuntimeError as reason:
                if reason.status != _OUT_OF_MEMORY:
                    raise
                free, total = runtime.memGetInfo()
                raise KernelLaunchError(
                    f"{self.name} device {self.index} has no memory left for {size_bytes} bytes: "
                    f"{free} of {total} are free, tensors of this process take "
                    f"{self._pool.made_bytes}. Free some or use smaller ones."
                ) from reason

    def upload(self, memory: Lease, data: np.ndarray[Any, Any]) -> None:
        """Copies; the array may change afterwards."""
        with self.using(f"uploading {data.nbytes} bytes"):
            kind = runtime.memcpyHostToDevice
            runtime.memcpyAsync(memory.block.raw, data.ctypes.data, data.nbytes, kind, self._stream)

    def read(self, memory: Lease, size_bytes: int) -> bytes:
        """Waits for everything queued, then copies."""
        contents = np.empty(size_bytes, np.uint8)
        with self.using(f"reading {size_bytes} bytes"):
            kind = runtime.memcpyDeviceToHost
            target = contents.ctypes.data
            if size_bytes:
                runtime.memcpyAsync(target, memory.block.raw, size_bytes, kind, self._stream)
            runtime.streamSynchronize(self._stream)
        return contents.tobytes()

    def sync(self) -> None:
        """Waits for everything queued."""
        with self.using("waiting for the device"):
            runtime.streamSynchronize(self._stream)


class PinnedPage:
    """Device memory that the host writes without waiting, through pinned memory beside it."""

    def __init__(self, size_bytes: int, stream: int) -> None:
        self.address: int = runtime.malloc(size_bytes)
        self._host: int = runtime.hostAlloc(size_bytes, 0)
        self._stream = stream

    def write(self, offset: int, contents: bytes) -> None:
        """For launches that are queued later. What stood there must not be on its way any more."""
        source, size_bytes = self._host + offset, len(contents)
        ctypes.memmove(source, contents, size_bytes)
        kind = runtime.memcpyHostToDevice
        runtime.memcpyAsync(self.address + offset, source, size_bytes, kind, self._stream)


def _facts(name: str, index: int, *, is_hip: bool) -> dict[str, Any]:
    if bool(runtime.is_hip) != is_hip:
        other = "ROCm" if runtime.is_hip else "CUDA"
        raise BackendUnavailableError(
            f"the {name} runtime needs the packages of `pip install 'firebrick[{name}]'`; the CuPy "
            f"that is installed is the one for {other}."
        )
    try:
        count: int = runtime.getDeviceCount()
    except Failures as reason:
        raise BackendUnavailableError(
            f"the {name} runtime finds no {'AMD' if is_hip else 'NVIDIA'} GPU with a driver: "
            f"{reason}."
        ) from reason
    if not 0 <= index < count:
        raise BackendUnavailableError(
            f"there is no {name} device {index}; there are {count}, counted from 0."
        )
    facts: dict[str, Any] = runtime.getDeviceProperties(index)
    return facts
