"""Memory of the host for tensors: aligned for vectors, used again when it is given back."""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

import numpy as np

from firebrick.cube.cache.forks import renew_in_child
from firebrick.cube.geometry import too_many
from firebrick.cube.runtime.pool import Block, Lease, Pool

ALIGNMENT = 64
_KEPT_FRACTION = 8
"""Unused blocks keep at most this fraction of the machine's memory."""
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Aligned(NamedTuple):
    """Bytes whose address is a multiple of `ALIGNMENT`."""

    array: Bytes
    address: int


def aligned(size_bytes: int) -> Aligned:
    """New memory, contents undefined."""
    whole = np.empty(size_bytes + ALIGNMENT, np.uint8)
    first = whole.ctypes.data
    skipped = -first % ALIGNMENT
    return Aligned(whole[skipped : skipped + size_bytes], first + skipped)


class HostMemory:
    """Memory of one tensor; given back when nothing refers to it any more."""

    __slots__ = ("_lease", "address")

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self.address: int = lease.block.raw.address

    @property
    def array(self) -> Bytes:
        """Its bytes, valid as long as this object lives."""
        return self._lease.block.raw.array[: self._lease.size_bytes]


class HostPool:
    """The memory of the processor runtime, for any number of threads."""

    def __init__(self) -> None:
        self.machine_bytes = _machine_bytes()
        kept = self.machine_bytes // _KEPT_FRACTION
        self._pool = Pool(self, aligned, _forget, kept_bytes=kept)
        self._lock = threading.Lock()
        renew_in_child(self)

    def renew(self) -> None:
        """A lock that nobody holds."""
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> HostMemory:
        """Memory of that size.

        Raises: `TooManyResourcesError` if the machine has not that much.
        """
        with self._lock:
            try:
                return HostMemory(self._pool.take(size_bytes))
            except MemoryError:
                self._pool.trim()
            try:
                return HostMemory(self._pool.take(size_bytes))
            except MemoryError as reason:
                raise too_many(
                    "allocate", "bytes of memory", size_bytes, self.machine_bytes
                ) from reason


def _forget(block: Block) -> None:
    block.raw = None


def _machine_bytes() -> int:
    """The memory of this machine, or 16 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 34
