"""One build per key among processes: a lock that the system takes back from whoever dies.

The lock is `flock` on a file, never the existence of that file. The holder removes the file before
it lets go, so files do not pile up; who gets a lock therefore checks that its file is still the
one of that name.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    import io
    from collections.abc import Generator

    from firebrick.cube.cache.folder import Folder

FIRST_PAUSE_S = 0.0005
LONGEST_PAUSE_S = 0.02

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        # Not left to closing: a process forked meanwhile shares the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# By descriptor, without callbacks: a callback of a weak reference could swallow a Ctrl-C.
_files: dict[int, ref[io.FileIO]] = {}


def _close_in_child() -> None:
    """Only the parent does the build: its lock must not outlive it in a child."""
    for reference in _files.values():
        file = reference()
        if file is not None:
            file.close()
    _files.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_close_in_child)


@contextmanager
def held(folder: Folder, name: str, *, wait_s: float) -> Generator[bool]:
    """Has the lock during the block: True; False after waiting that long for another holder."""
    deadline_s = time.monotonic() + wait_s
    pause_s = FIRST_PAUSE_S
    while True:
        with attempt(folder, name) as is_held:
            if is_held or time.monotonic() >= deadline_s:
                yield is_held
                return
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


@contextmanager
def attempt(folder: Folder, name: str) -> Generator[bool]:
    """Has the lock during the block, if nobody else has it now."""
    with folder.open_lock(name) as file:
        _files[file.fileno()] = ref(file)
        is_held = _try_lock(file.fileno()) and folder.is_current(name, file)
        try:
            yield is_held
        finally:
            if is_held and not file.closed:  # a forked process, which never held it, closed it
                folder.remove(name)
                _unlock(file.fileno())
