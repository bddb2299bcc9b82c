"""The driver of a wgpu adapter: one session at a time, locks, and what errors are called."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.cube.cache.forks import renew_in_child
from firebrick.cube.codegen import wgsl
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.geometry import too_many
from firebrick.cube.passes import prepare
from firebrick.cube.passes.limit_loops import overrun_buffer
from firebrick.cube.runtime.processes import forked_error
from firebrick.cube.runtime.wgpu import adapters, api
from firebrick.cube.runtime.wgpu.pipeline import READ, WRITE, Compiled, accesses_in
from firebrick.cube.runtime.wgpu.session import Download, Session, private_argument
from firebrick.cube.runtime.wgpu.staging import round_up
from firebrick.errors import KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import TensorArgument, Triple
    from firebrick.cube.runtime.pool import Lease

_PLANE_PROBE = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(subgroup_size) size: u32, @builtin(local_invocation_index) unit: u32) {
    if (unit == 0u) { out[0] = size; }
}
"""


class WgpuDriver:
    """An adapter. A device that is lost is opened again at the next call."""

    name = "wgpu"

    def __init__(self, index: int, kind: str | None = None) -> None:
        self._is_forked = False
        self._lock = threading.Lock()
        self._adapter = adapters.choose(index, kind)
        self.identity = adapters.identity(self._adapter)
        self.properties = adapters.properties_of(self._adapter, plane_dim=1)
        self._session = self._open()
        if self.properties.has_planes:
            self.properties = adapters.properties_of(self._adapter, self._measure_plane())
        self._target = wgsl.device_target(adapters.features_of(self._adapter), self.properties)
        renew_in_child(self)

    def renew(self) -> None:
        """In a forked child: the device's threads are in the parent only, to wait is for ever."""
        self._is_forked = True
        api.abandon()

    def _open(self) -> Session:
        largest = self.properties.max_buffer_bytes
        assert largest is not None
        return Session(self._adapter, largest)

    def _measure_plane(self) -> int:
        """Units of a plane; the library does not tell."""
        out = self.allocate(4)
        compiled = self.compile_source(_PLANE_PROBE, "main", 1)
        self.launch_source(compiled, (1, 1, 1), (64, 1, 1), [private_argument(out)], [])
        return int(np.frombuffer(self.read(out, 4), np.uint32)[0])

    # ---- sessions -----------------------------------------------------------------------------

    @contextmanager
    def _using(self, what: str) -> Generator[Session]:
        """The session, held by this thread; what wgpu finds wrong is a typed error."""
        self._check_process()
        with self._lock:
            if self._session.is_lost:
                self._session = self._open()
            session = self._session
            try:
                yield session
            except api.DeviceFailure as reason:
                raise self._failure(session, what, reason) from reason

    def _check_process(self) -> None:
        if self._is_forked:
            raise forked_error(self.name)

    def _failure(self, session: Session, what: str, reason: Exception) -> KernelLaunchError:
        if api.is_loss(reason):
            session.is_lost = True
            return KernelLaunchError(
                f"{what}: the wgpu device {adapters.describe(self._adapter)} was lost, and all "
                "tensors on it with it (drivers stop a device whose kernel does not end). The next "
                f"call opens it again: {api.words(reason)}"
            )
        return KernelLaunchError(f"{what}: wgpu refused: {api.words(reason)}")

    # ---- compiling ----------------------------------------------------------------------------

    def compile(self, function: Function) -> Compiled:
        """Guards, WGSL, a pipeline."""
        prepared = prepare(function, self._target.properties, checked=True)
        text = wgsl.emit(prepared, self._target)
        accesses = [WRITE if buffer.mutable else READ for buffer in prepared.buffers]
        has_flag = overrun_buffer(prepared, function) is not None
        entry = entry_point(prepared.name)
        whole = Compiled(function.name, text, entry, (*accesses, READ), prepared, has_flag=has_flag)
        return self._built(whole)

    def compile_source(self, text: str, entry: str, buffers: int) -> Compiled:
        """A text of the user's with the bindings 0 to `buffers` - 1 in group 0."""
        limit = self.properties.max_buffers
        if limit is not None and buffers > limit + 1:
            raise too_many(entry, "tensors", buffers, limit + 1)
        return self._built(Compiled(entry, text, entry, accesses_in(text, buffers)))

    def _built(self, compiled: Compiled) -> Compiled:
        what = f"`{compiled.name}` is compiled"
        with self._using(what) as session:
            pass
        try:  # without the lock: the library compiles in as many threads as ask
            session.build(compiled)
        except api.DeviceFailure as reason:
            raise self._failure(session, what, reason) from reason
        return compiled

    # ---- memory -------------------------------------------------------------------------------

    def allocate(self, size_bytes: int) -> Lease:
        """Memory that one kernel can take as a whole."""
        limit = self.properties.max_buffer_bytes
        if limit is not None and size_bytes > limit:
            raise too_many("a tensor", "bytes in one piece of memory", size_bytes, limit)
        with self._using(f"allocating {size_bytes} bytes") as session:
            return session.allocate(size_bytes)

    def upload(self, memory: Lease, data: np.ndarray[Any, Any]) -> None:
        """Copies; the array may change afterwards."""
        with self._using(f"uploading {data.nbytes} bytes") as session:
            session.upload(memory, data)

    def read(self, memory: Lease, size_bytes: int) -> bytes:
        """Submits everything, waits, copies."""
        if size_bytes == 0:
            self.sync()
            return b""
        with self._using(f"reading {size_bytes} bytes") as session:
            download = session.start_read(memory, size_bytes)
        return self._finish(session, download)

    def sync(self) -> None:
        """Submits everything and waits."""
        with self._using("waiting for the device") as session:
            download = session.start_sync()
        self._finish(session, download)

    def _finish(self, session: Session, download: Download) -> bytes:
        """Waits while other threads go on."""
        try:
            contents = download.staging.wait(round_up(download.size_bytes) + download.flag_bytes)
        except (RuntimeError, api.DeviceFailure) as reason:
            session.is_lost = True
            raise self._failure(session, "waiting for the device", reason) from reason
        except BaseException:
            with self._lock:
                session.give_up_read(download)
            raise
        with self._lock:
            return session.finish_read(download, contents)

    # ---- launches -----------------------------------------------------------------------------

    def launch(
        self,
        compiled: Compiled,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues; it is submitted with others, at the latest before a read."""
        # As `_using`, without its cost: this is called more often than anything else.
        self._check_process()
        with self._lock:
            session = self._session
            if session.is_lost:
                session = self._session = self._open()
            try:
                session.launch(compiled, cube_count, tensors, numbers)
            except api.DeviceFailure as reason:
                raise self._failure(session, f"`{compiled.name}` is launched", reason) from reason

    def launch_source(
        self,
        compiled: Compiled,
        cube_count: Triple,
        cube_dim: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """As `launch`. WGSL knows no numbers as arguments, and its text states the cube dim."""
        if numbers:
            raise KernelLaunchError(
                f"`{compiled.name}`: a WGSL kernel takes tensors only, got the numbers "
                f"{list(numbers)}; put them into a tensor or into the text with `fill`."
            )
        _check_aliases(compiled, tensors)
        self.launch(compiled, cube_count, tensors, numbers)


def _check_aliases(compiled: Compiled, tensors: Sequence[TensorArgument]) -> None:
    """WebGPU does not bind memory both read only and writable."""
    first: dict[int, int] = {}
    for binding, tensor in enumerate(tensors):
        other = first.setdefault(id(tensor.memory.raw), binding)
        if compiled.accesses[other] != compiled.accesses[binding]:
            raise KernelLaunchError(
                f"`{compiled.name}`: the bindings {other} and {binding} share memory, and only one "
                "of them is `read_write`; declare both `var<storage, read_write>`."
            )
