"""Compiled kernels are kept: in memory, and on disk for the next process.

    key.py           what a kernel is stored under: a hash of everything it depends on
    kernel_cache.py  `KernelCache`: memory, then disk, then a build, once for all who ask
    memory.py        the most recently used values, in memory
    flight.py        one build per key among threads
    disk.py          entries on disk: looked up, published, evicted
    entry.py         one entry as bytes, damage included
    folder.py        the directory, refused where somebody else could write to it
    locks.py         one build per key among processes
    forks.py         what a forked process must not inherit
    notices.py       warnings, each once

`FIREBRICK_CACHE=off` keeps everything in memory; `FIREBRICK_CACHE_DIR` names another directory.
Entries are bytes: nothing is unpickled and nothing is imported.
"""

from __future__ import annotations

from firebrick.cube.cache.forks import renew_in_child
from firebrick.cube.cache.kernel_cache import CacheInfo, KernelCache, shared_cache
from firebrick.cube.cache.key import content_key, kernel_key, toolchain
from firebrick.cube.cache.memory import Lru

__all__ = [
    "CacheInfo",
    "KernelCache",
    "Lru",
    "content_key",
    "kernel_key",
    "renew_in_child",
    "shared_cache",
    "toolchain",
]
