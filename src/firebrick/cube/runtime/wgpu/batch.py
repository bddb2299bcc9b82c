"""Launches that wait to be submitted together: one submission costs as much as twenty of them.

What a launch does wrong that the host did not see shows when a batch is encoded. Nothing of it has
run then: each launch is submitted alone, so that only those at fault fail.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from firebrick.cube.runtime.wgpu import api
from firebrick.errors import KernelError, KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.runtime.base import Triple
    from firebrick.cube.runtime.wgpu.api import Buffer, Device, Opaque
    from firebrick.cube.runtime.wgpu.pipeline import Pipeline
    from firebrick.cube.runtime.wgpu.staging import Staging

LAUNCHES = 64
"""A batch that has them is submitted."""
UPLOADED_BYTES = 32 << 20
"""So many are submitted, so that the library frees its copies of them."""


class Launch(NamedTuple):
    """One launch."""

    pipeline: Pipeline
    bind_group: Opaque
    cubes: Triple


class Batch:
    """What waits on one device. Every method is called by one thread at a time."""

    def __init__(self, device: Device) -> None:
        self.serial = 1
        """Of the launches that are added now; grows when they are submitted."""
        self.errors: deque[KernelError] = deque()
        """Of launches; nobody has been told yet."""
        self._device = device
        self._queue = device.queue
        self._waiting: list[Launch] = []
        self._uploaded_bytes = 0

    def add(self, launch: Launch) -> None:
        """Queues a launch."""
        self._waiting.append(launch)
        if len(self._waiting) >= LAUNCHES:
            self.submit()

    def uploaded(self, size_bytes: int) -> None:
        """Counts what the library holds a copy of."""
        self._uploaded_bytes += size_bytes
        if self._uploaded_bytes > UPLOADED_BYTES:
            self.submit()

    def submit(
        self, staging: Staging | None = None, copies: Sequence[tuple[Buffer, int]] = ()
    ) -> None:
        """Submits what waits, then copies of the first bytes of buffers, one behind the other.

        What a launch does wrong goes to `errors`; `api.DeviceFailure` if the device is lost.
        """
        waiting, self._waiting = self._waiting, []
        self.serial += 1
        try:
            self._submit(waiting, staging, copies)
        except api.DeviceFailure as reason:
            if api.is_loss(reason):
                raise
            for launch in waiting:
                self._submit_alone(launch)
            self._submit([], staging, copies)
        self._uploaded_bytes = 0
        api.poll(self._device)

    def _submit(
        self,
        launches: Sequence[Launch],
        staging: Staging | None,
        copies: Sequence[tuple[Buffer, int]],
    ) -> None:
        encoder = self._device.create_command_encoder()
        if launches:
            recorder = encoder.begin_compute_pass()
            current: Pipeline | None = None
            for pipeline, bind_group, (x, y, z) in launches:
                if pipeline is not current:
                    recorder.set_pipeline(pipeline.raw)
                    current = pipeline
                recorder.set_bind_group(0, bind_group)
                recorder.dispatch_workgroups(x, y, z)
            recorder.end()
        if staging is not None:
            offset = 0
            for source, size_bytes in copies:
                encoder.copy_buffer_to_buffer(source, 0, staging.raw, offset, size_bytes)
                offset += size_bytes
        self._queue.submit([encoder.finish()])

    def _submit_alone(self, launch: Launch) -> None:
        try:
            self._submit([launch], None, ())
        except api.DeviceFailure as reason:
            if api.is_loss(reason):
                raise
            name = launch.pipeline.name
            error = KernelLaunchError(f"`{name}` could not be launched: {api.words(reason)}")
            error.__cause__ = reason
            self.errors.append(error)
