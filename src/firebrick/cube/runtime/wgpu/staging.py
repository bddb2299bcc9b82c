"""Copies to the host: through buffers that the host can map, which are used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.runtime.pool import size_class
from firebrick.cube.runtime.wgpu import api

if TYPE_CHECKING:
    from firebrick.cube.runtime.wgpu.api import Buffer, Device

KEPT_BYTES = 64 << 20
"""Larger ones together are given back after use."""
_MODE = "READ_NOSYNC"
"""Mapping for reading; the copy has been submitted, so that no other work need be."""


class Staging:
    """One buffer on its way through a copy; not usable by others until it is given back."""

    __slots__ = ("capacity_bytes", "raw")

    def __init__(self, raw: Buffer, capacity_bytes: int) -> None:
        self.raw = raw
        self.capacity_bytes = capacity_bytes

    def wait(self, size_bytes: int) -> bytes:
        """Waits for the copy that was submitted; may be interrupted, then nobody may use it again.

        Raises: `RuntimeError` if the device is gone.
        """
        mapped_bytes = round_up(size_bytes)
        self.raw.map_async(_MODE, 0, mapped_bytes).sync_wait()
        contents = bytes(self.raw.read_mapped(0, mapped_bytes, copy=False)[:size_bytes])
        self.raw.unmap()
        return contents


class StagingPool:
    """Staging buffers of a device. Every method is called by one thread at a time."""

    def __init__(self, device: Device, largest_bytes: int) -> None:
        self._device = device
        self._largest_bytes = largest_bytes
        self._free: list[Staging] = []

    def take(self, size_bytes: int) -> Staging:
        """The smallest free one that is large enough, or a new one."""
        fitting = [s for s in self._free if s.capacity_bytes >= size_bytes]
        if fitting:
            best = min(fitting, key=lambda staging: staging.capacity_bytes)
            self._free.remove(best)
            return best
        capacity = size_class(size_bytes, self._largest_bytes)
        raw = self._device.create_buffer(size=capacity, usage=api.STAGING_USAGE)
        return Staging(raw, capacity)

    def give_back(self, staging: Staging) -> None:
        """For the next copy."""
        kept = sum(other.capacity_bytes for other in self._free)
        if kept + staging.capacity_bytes <= KEPT_BYTES:
            self._free.append(staging)
        else:
            staging.raw.destroy()


def round_up(size_bytes: int) -> int:
    """Copies and bindings are whole words."""
    return -(-size_bytes // 4) * 4
