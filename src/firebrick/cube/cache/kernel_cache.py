"""`KernelCache`: memory, then disk, then a build, once for all who ask at the same time."""

from __future__ import annotations

import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from firebrick.cube.cache.disk import DiskStore, user_directory
from firebrick.cube.cache.flight import SingleFlight
from firebrick.cube.cache.forks import renew_in_child
from firebrick.cube.cache.memory import Lru
from firebrick.cube.cache.notices import Notices
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

SWITCH = "FIREBRICK_CACHE"
DIRECTORY = "FIREBRICK_CACHE_DIR"
MIB = 1 << 20
_SETTINGS = {"": True, "on": True, "1": True, "off": False, "0": False}
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds, and what this process had from it."""

    directory: Path | None
    """None where everything stays in memory."""
    disk_entries: int
    disk_bytes: int
    memory_entries: int
    memory_bytes: int
    memory_hits: int
    disk_hits: int
    builds: int


class KernelCache:
    """Bytes by key, for any number of threads and processes.

    Args:
        directory: Where entries outlive the process; None keeps them in memory.
        memory_bytes: Limit of what stays in memory; the least recently used goes first.
        disk_bytes: Limit of what stays on disk, likewise.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        memory_bytes: int = 64 * MIB,
        disk_bytes: int = 512 * MIB,
    ) -> None:
        self._memory: Lru[str, bytes] = Lru(memory_bytes, len)
        self._flight: SingleFlight[bytes] = SingleFlight()
        self._disk = None
        if directory is not None:
            self._disk = DiskStore(directory.absolute(), disk_bytes, Notices())
        self._counts = {"memory": 0, "disk": 0, "build": 0}
        self._lock = threading.Lock()
        renew_in_child(self)

    def renew(self) -> None:
        """A lock that nobody holds; memory and builds in progress renew themselves."""
        self._lock = threading.Lock()

    @staticmethod
    def from_environment() -> KernelCache:
        """The cache that `FIREBRICK_CACHE` and `FIREBRICK_CACHE_DIR` describe.

        Raises: `KernelError` for a value of `FIREBRICK_CACHE` that means nothing.
        """
        wanted = os.environ.get(SWITCH, "")
        if wanted.lower() not in _SETTINGS:
            raise KernelError(
                f"the environment variable {SWITCH} is {wanted!r}; accepted are `on` and `off`."
            )
        if not _SETTINGS[wanted.lower()]:
            return KernelCache()
        named = os.environ.get(DIRECTORY)
        return KernelCache(Path(named) if named else user_directory())

    def get_or_build(self, key: str, build: Callable[[], bytes]) -> bytes:
        """The payload of a key, made by `build` if nobody has made it yet.

        Of all threads and processes that ask for a key at once, one builds and the others wait.
        What `build` raises comes out, in the waiting threads too, and is not remembered.

        Args:
            key: From `kernel_key` or `content_key`.
            build: Makes the payload; may ask for other keys.

        Raises: `KernelError` for a key of another form, or a build that asks for its own key.
        """
        if _KEY.fullmatch(key) is None:  # it becomes the name of a file
            raise KernelError(f"a key of the cache is 64 hexadecimal digits; got {key!r}.")
        found = self._memory.get(key)
        if found is not None:
            self._count("memory")
            return found
        return self._flight.run(key, lambda: self._find(key, build))

    def _find(self, key: str, build: Callable[[], bytes]) -> bytes:
        found = self._memory.get(key)  # built between the look and the flight
        if found is not None:
            self._count("memory")
            return found
        found = self._build(build) if self._disk is None else self._on_disk(self._disk, key, build)
        self._memory.put(key, found)
        return found

    def _on_disk(self, disk: DiskStore, key: str, build: Callable[[], bytes]) -> bytes:
        found = disk.get(key)
        if found is None:
            with disk.lock(key):
                found = disk.get(key)
                if found is None:
                    found = self._build(build)
                    disk.put(key, found)
                    return found
        self._count("disk")
        return found

    def _build(self, build: Callable[[], bytes]) -> bytes:
        self._count("build")
        return build()

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1

    def info(self) -> CacheInfo:
        """What is there now."""
        entries, size_bytes = (0, 0) if self._disk is None else self._disk.usage()
        return CacheInfo(
            directory=None if self._disk is None else self._disk.path,
            disk_entries=entries,
            disk_bytes=size_bytes,
            memory_entries=len(self._memory),
            memory_bytes=self._memory.weight,
            memory_hits=self._counts["memory"],
            disk_hits=self._counts["disk"],
            builds=self._counts["build"],
        )

    def clear(self) -> None:
        """Forgets everything, on disk too. What is being built meanwhile is kept afterwards."""
        self._memory.clear()
        if self._disk is not None:
            self._disk.clear()


_shared: list[KernelCache] = []
_lock = threading.Lock()


def shared_cache() -> KernelCache:
    """The one that runtimes use; described by the environment when it is first asked for."""
    with _lock:
        if not _shared:
            _shared.append(KernelCache.from_environment())
        return _shared[0]
