"""A device as it was opened: its memory, and what launches need on it.

Launches wait in a batch. Whatever must come after them (a read, an upload into memory that they
use) submits it first. A session ends when its device is lost; the driver opens another one then.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from firebrick.cube.codegen import layout
from firebrick.cube.passes.limit_loops import overrun_error
from firebrick.cube.runtime.base import Memory, TensorArgument
from firebrick.cube.runtime.metadata_page import SIZE_BYTES, MetadataPage
from firebrick.cube.runtime.pool import Block, Lease, Pool
from firebrick.cube.runtime.wgpu import adapters, api
from firebrick.cube.runtime.wgpu.batch import Batch, Launch
from firebrick.cube.runtime.wgpu.pipeline import Compiled, Pipeline, build
from firebrick.cube.runtime.wgpu.staging import Staging, StagingPool, round_up
from firebrick.errors import BackendUnavailableError, KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Triple
    from firebrick.cube.runtime.wgpu.api import Adapter, Buffer, Opaque

BIND_GROUPS = 4096
"""Kept for launches like earlier ones."""
KEPT_BYTES = 512 << 20
"""Of memory that is not in use."""


class Download(NamedTuple):
    """Copies to the host that are submitted: `size_bytes` of a tensor, then one word per flag."""

    staging: Staging
    size_bytes: int
    flagged: tuple[Pipeline, ...]
    """Kernels that were launched, and raise a flag when their loops make too many trips."""

    @property
    def flag_bytes(self) -> int:
        """Of all flags."""
        return 4 * len(self.flagged)


class Session:
    """An opened device. Methods other than `build` are called by one thread at a time."""

    def __init__(self, adapter: Adapter, largest_bytes: int) -> None:
        try:
            self.device = adapter.request_device_sync(
                required_features=adapters.features_of(adapter), required_limits={}
            )
        except (RuntimeError, api.DeviceFailure) as reason:
            raise BackendUnavailableError(
                f"the wgpu adapter {adapters.describe(adapter)} cannot be opened: {reason}"
            ) from reason
        self.is_lost = False
        self.batch = Batch(self.device)
        self.pool = Pool(
            self,
            self._make_buffer,
            self._discard,
            largest_bytes=largest_bytes,
            kept_bytes=KEPT_BYTES,
        )
        self.staging = StagingPool(self.device, round_up(largest_bytes))
        self._queue = self.device.queue
        self._metadata = self._make_buffer(SIZE_BYTES)
        self._page = MetadataPage(partial(self._queue.write_buffer, self._metadata))
        self._bind_groups: dict[tuple[int, ...], Opaque] = {}
        self._flags: dict[int, TensorArgument] = {}
        self._flagged: dict[Pipeline, None] = {}

    # ---- memory -------------------------------------------------------------------------------

    def _make_buffer(self, size_bytes: int) -> Buffer:
        return self.device.create_buffer(size=size_bytes, usage=api.STORAGE_USAGE)

    def _discard(self, block: Block) -> None:
        if block.used_in == self.batch.serial:
            self.batch.submit()
        block.raw.destroy()

    def allocate(self, size_bytes: int) -> Lease:
        """Memory, or `KernelLaunchError` if there is no more of it."""
        try:
            return self.pool.take(size_bytes)
        except api.OutOfMemory:
            self.batch.submit()
            self.pool.trim()
        try:
            return self.pool.take(size_bytes)
        except api.OutOfMemory as reason:
            raise KernelLaunchError(
                f"the wgpu device has no memory left for {size_bytes} bytes; tensors of this "
                f"process take {self.pool.made_bytes}. Free some or use smaller ones."
            ) from reason

    def upload(self, lease: Lease, data: np.ndarray[Any, Any]) -> None:
        """Writes at the front of memory; launches queued before see what was there before."""
        block = self._own(lease)
        if block.used_in == self.batch.serial:
            self.batch.submit()
        flat = data.reshape(-1).view(np.uint8)
        whole = flat.size // 4 * 4
        if whole:
            self._queue.write_buffer(block.raw, 0, flat[:whole])
        if whole < flat.size:
            self._queue.write_buffer(block.raw, whole, flat[whole:].tobytes().ljust(4, b"\0"))
        self.batch.uploaded(flat.size)

    def _own(self, lease: Lease) -> Block:
        block = lease.block
        if block.owner is not self:
            raise KernelLaunchError(
                "this tensor was lost together with its wgpu device, which was opened again since; "
                "make the tensor anew."
            )
        return block

    def start_read(self, lease: Lease, size_bytes: int) -> Download:
        """Submits everything and a copy; after `Staging.wait` there is `finish_read`."""
        return self._download(self._own(lease).raw, size_bytes)

    def start_sync(self) -> Download:
        """As `start_read`, of four bytes that are there."""
        return self._download(self._metadata, 4)

    def _download(self, source: Buffer, size_bytes: int) -> Download:
        flagged, self._flagged = tuple(self._flagged), {}
        whole = round_up(size_bytes)
        download = Download(self.staging.take(whole + 4 * len(flagged)), size_bytes, flagged)
        copies = [(source, whole)]
        copies += [(self._flags[pipeline.serial].memory.raw.block.raw, 4) for pipeline in flagged]
        self.batch.submit(download.staging, copies)
        return download

    def finish_read(self, download: Download, contents: bytes) -> bytes:
        """What was read, or the first error of a launch before that nobody knows of."""
        self.staging.give_back(download.staging)
        if download.flagged:
            flags = np.frombuffer(contents[-download.flag_bytes :], np.uint32)
            for pipeline, is_raised in zip(download.flagged, flags.tolist(), strict=True):
                if is_raised:
                    self._lower(pipeline)
        if self.batch.errors:
            raise self.batch.errors.popleft()
        return contents[: download.size_bytes]

    def give_up_read(self, download: Download) -> None:
        """After an interrupted wait: its staging buffer is left alone, its flags are not."""
        self._flagged.update(dict.fromkeys(download.flagged))

    # ---- flags of loops -----------------------------------------------------------------------

    def _flag(self, pipeline: Pipeline) -> TensorArgument:
        """The word that a kernel sets when its loops make too many trips."""
        flag = self._flags.get(pipeline.serial)
        if flag is None:
            flag = self._flags[pipeline.serial] = private_argument(self.allocate(4))
            self.upload(flag.memory.raw, np.zeros(1, np.uint32))
        self._flagged[pipeline] = None
        return flag

    def _lower(self, pipeline: Pipeline) -> None:
        self.upload(self._flags[pipeline.serial].memory.raw, np.zeros(1, np.uint32))
        self.batch.errors.append(overrun_error(pipeline.name, adapters.LLVMPIPE_LOOP_TRIPS))

    # ---- launches -----------------------------------------------------------------------------

    def build(self, compiled: Compiled) -> Pipeline:
        """The pipeline of a kernel on this device, compiled at its first use."""
        pipeline = compiled.pipeline
        if pipeline is None or pipeline.owner is not self:
            pipeline = compiled.pipeline = build(self.device, self, compiled)
        return pipeline

    def launch(
        self,
        compiled: Compiled,
        cubes: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Queues a launch; tensors are in the order of the parameters."""
        pipeline = self.build(compiled)
        function = compiled.function
        if compiled.has_flag:
            tensors = [*tensors, self._flag(pipeline)]
        offset = -1
        bound = tensors
        if function is not None:
            offset = self._place_metadata(compiled, function, tensors, numbers)
            bound = [tensors[buffer.position] for buffer in function.buffers]
        key = [pipeline.serial, offset]
        batch = self.batch.serial
        for tensor in bound:
            lease: Lease = tensor.memory.raw
            block = lease.block
            if block.owner is not self:
                self._own(lease)
            block.used_in = batch
            key += (block.serial, lease.size_bytes)
        found = tuple(key)
        group = self._bind_groups.get(found)
        if group is None:
            group = self._bind(compiled, pipeline, bound, offset)
            self._bind_groups[found] = group
        self.batch.add(Launch(pipeline, group, cubes))

    def _place_metadata(
        self,
        compiled: Compiled,
        function: Function,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> int:
        offset = self._page.place(compiled, function, tensors, numbers)
        if offset is None:
            # Uploads come before everything that is submitted after them.
            self.batch.submit()
            self._page.restart()
            offset = self._page.place(compiled, function, tensors, numbers)
        assert offset is not None
        return offset

    def _bind(
        self, compiled: Compiled, pipeline: Pipeline, bound: Sequence[TensorArgument], offset: int
    ) -> Opaque:
        resources = [
            {
                "buffer": tensor.memory.raw.block.raw,
                "offset": 0,
                "size": round_up(tensor.memory.raw.size_bytes),
            }
            for tensor in bound
        ]
        if compiled.function is not None:
            size_bytes = layout.layout_of(compiled.function).size_bytes
            resources.append(
                {"buffer": self._metadata, "offset": offset, "size": round_up(size_bytes)}
            )
        if len(self._bind_groups) >= BIND_GROUPS:
            self._bind_groups.clear()
        entries = [{"binding": i, "resource": each} for i, each in enumerate(resources)]
        return self.device.create_bind_group(layout=pipeline.layout, entries=entries)


def private_argument(lease: Lease) -> TensorArgument:
    """One word of memory that no user knows of, as a kernel's argument."""
    no_runtime: Any = None  # memory of a user's belongs to one
    return TensorArgument(Memory(no_runtime, lease, 4), (1,), (1,), 1)
