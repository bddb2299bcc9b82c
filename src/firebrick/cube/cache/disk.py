"""Entries on disk: looked up, checked, published and evicted.

Nothing here fails: a directory that is not safe, a full disk or a damaged entry cost a build and
one warning. `folder.py` says what is safe, `entry.py` what is damaged.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from firebrick.cube.cache import locks
from firebrick.cube.cache.entry import decode, encode
from firebrick.cube.cache.folder import TEMPORARY, Folder, open_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from firebrick.cube.cache.folder import FileInfo
    from firebrick.cube.cache.notices import Notices

ENTRY = ".kernel"
LOCK = ".lock"
LEFT_BEHIND_S = 3600.0
"""Temporary files of this age belong to processes that died."""
LOCK_WAIT_S = 60.0
"""After this a process that holds a lock and does not build is not waited for: both build."""
_KEPT = 7 / 8
"""Of the limit, after eviction."""


class DiskStore:
    """Entries in one directory, shared by all processes of a user.

    Args:
        path: The directory; made at the first build.
        limit_bytes: Of all entries. Looked at whenever an eighth of it was written, so processes
            that write at once may exceed it by that much each.
        notices: Where warnings go.
    """

    def __init__(self, path: Path, limit_bytes: int, notices: Notices) -> None:
        self.path = path
        self._limit_bytes = limit_bytes
        self._notices = notices
        # Bytes until the next look. Threads may lose an update; the next look makes up for it.
        self._allowance_bytes = 0

    def get(self, key: str) -> bytes | None:
        """The payload of an entry; a damaged one is removed."""
        try:
            with self._open(create=False) as folder:
                return None if folder is None else self._read(folder, key)
        except OSError as reason:
            self._refuse(reason)
            return None

    def _read(self, folder: Folder, key: str) -> bytes | None:
        try:
            entry = folder.read(key + ENTRY)
            return None if entry is None else decode(key, entry)
        except (ValueError, OSError) as reason:
            folder.remove(key + ENTRY)
            self._notices.warn(
                "damaged",
                f"kernel cache: an entry in {self.path} was not usable and is built again: "
                f"{reason}. Further ones are replaced without a warning.",
            )
            return None

    def put(self, key: str, payload: bytes) -> None:
        """Publishes an entry. One above the limit is not kept."""
        entry = encode(key, payload)
        if len(entry) > self._limit_bytes:
            return
        try:
            with self._open(create=True) as folder:
                if folder is not None:
                    folder.publish(key + ENTRY, entry)
                    self._make_room(folder, len(entry))
        except OSError as reason:
            self._refuse(reason)

    @contextmanager
    def lock(self, key: str) -> Generator[None]:
        """Others wait while this process builds; without a usable directory nobody does."""
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(self._open(create=True))
                if folder is not None:
                    stack.enter_context(locks.held(folder, key + LOCK, wait_s=LOCK_WAIT_S))
            except OSError as reason:
                self._refuse(reason)
            yield

    def _open(self, *, create: bool) -> AbstractContextManager[Folder | None]:
        opened = open_folder(self.path, create=create)
        return nullcontext() if opened is None else opened

    def _refuse(self, reason: OSError) -> None:
        said = reason.strerror or str(reason)
        self._notices.warn(
            "unusable",
            f"kernel cache: {self.path} cannot be used, compiled kernels stay in memory: {said}. "
            "FIREBRICK_CACHE_DIR names another directory, FIREBRICK_CACHE=off does without.",
        )

    def _make_room(self, folder: Folder, written_bytes: int) -> None:
        self._allowance_bytes -= written_bytes
        if self._allowance_bytes > 0:
            return
        files = folder.files()
        self._sweep(folder, files)
        entries = sorted(_entries(files), key=lambda file: file.used_s)
        total = sum(file.size_bytes for file in entries)
        if total > self._limit_bytes:
            for file in entries:
                folder.remove(file.name)
                total -= file.size_bytes
                if total <= self._limit_bytes * _KEPT:
                    break
        self._allowance_bytes = min(self._limit_bytes - total, self._limit_bytes // 8)

    def _sweep(self, folder: Folder, files: list[FileInfo]) -> None:
        """Removes what processes that died left behind."""
        oldest_s = time.time() - LEFT_BEHIND_S
        for file in files:
            if file.used_s >= oldest_s:
                continue
            if file.name.endswith(TEMPORARY):
                folder.remove(file.name)
            elif file.name.endswith(LOCK):
                with locks.attempt(folder, file.name):
                    pass  # letting go removes it

    def usage(self) -> tuple[int, int]:
        """How many entries there are, and their bytes."""
        try:
            with self._open(create=False) as folder:
                entries = [] if folder is None else _entries(folder.files())
        except OSError as reason:
            self._refuse(reason)
            entries = []
        return len(entries), sum(file.size_bytes for file in entries)

    def clear(self) -> None:
        """Removes all entries. A process that builds one now publishes it afterwards."""
        try:
            with self._open(create=False) as folder:
                if folder is not None:
                    self._remove_all(folder)
        except OSError as reason:
            self._refuse(reason)

    def _remove_all(self, folder: Folder) -> None:
        files = folder.files()
        for file in _entries(files):
            folder.remove(file.name)
        self._sweep(folder, files)


def _entries(files: list[FileInfo]) -> list[FileInfo]:
    return [file for file in files if file.name.endswith(ENTRY)]


def user_directory() -> Path | None:
    """Where this system keeps caches of a user; None for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or home / "AppData" / "Local", "firebrick", "cache")
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "firebrick"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache", "firebrick")
