"""The directory of the disk cache, refused where somebody else could write to it.

Entries become machine code of this process, so whoever writes them decides what it runs. On POSIX
the directory must be ours alone; it is checked when it is open, and its files are reached through
the open directory, so that no path can be exchanged in between. On Windows the user's profile is
protected by its own access rules and paths are used as they are.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

# Names that Windows does not have. Nothing is followed, and a pipe put there blocks nobody.
_SAFE = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
TEMPORARY = ".tmp"


class FileInfo(NamedTuple):
    """A file of the directory."""

    name: str
    size_bytes: int
    used_s: float
    """When it was used last, in seconds since 1970."""


class Folder:
    """An open directory; `open_folder` makes one."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _place(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)

    def _open(self, name: str, flags: int) -> int:
        return os.open(self._place(name), flags | _SAFE, 0o600, dir_fd=self._descriptor)

    def read(self, name: str) -> bytes | None:
        """A file's contents, None if there is no such file; it counts as used now.

        Raises: `PermissionError` for what is no regular file, or another user's.
        """
        try:
            file = io.FileIO(name, opener=lambda name, _: self._open(name, os.O_RDONLY))
        except FileNotFoundError:
            return None
        with file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or _is_foreign(status):
                raise PermissionError("it is no file of this user")
            contents = file.readall()
        with contextlib.suppress(OSError):  # a read-only disk: the order of eviction is all we lose
            os.utime(self._place(name), dir_fd=self._descriptor)
        return contents

    def publish(self, name: str, contents: bytes) -> None:
        """Puts a file in place at once: nobody sees a part of it, even after a power cut."""
        temporary = f"{name}.{secrets.token_hex(8)}{TEMPORARY}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with io.FileIO(temporary, "w", opener=lambda name, _: self._open(name, flags)) as file:
                view = memoryview(contents)
                while view:
                    view = view[file.write(view) :]
                os.fsync(file.fileno())
            os.replace(
                self._place(temporary),
                self._place(name),
                src_dir_fd=self._descriptor,
                dst_dir_fd=self._descriptor,
            )
        except BaseException:
            self.remove(temporary)
            raise

    def remove(self, name: str) -> None:
        """Removes a file; one that is gone, in use or on a read-only disk is let be."""
        with contextlib.suppress(OSError):
            os.unlink(self._place(name), dir_fd=self._descriptor)

    def files(self) -> list[FileInfo]:
        """What is there now."""
        found: list[FileInfo] = []
        with os.scandir(self._path if self._descriptor is None else self._descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # removed by another process
                    status = entry.stat(follow_symlinks=False)
                    found.append(FileInfo(entry.name, status.st_size, status.st_mtime))
        return found

    def open_lock(self, name: str) -> io.FileIO:
        """An empty file for locking, made if it is not there."""
        flags = os.O_RDWR | os.O_CREAT
        return io.FileIO(name, "r+", opener=lambda name, _: self._open(name, flags))

    def is_current(self, name: str, file: io.FileIO) -> bool:
        """Whether an open file is the one that now has that name."""
        try:
            there = os.stat(self._place(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(file.fileno()))


def open_folder(path: Path, *, create: bool) -> Folder | None:
    """The directory, made readable for us alone if asked; None if it does not exist.

    Raises: `PermissionError` saying why a directory is not safe, other `OSError`s as they come.
    """
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    if sys.platform == "win32":
        return Folder(path, None) if path.is_dir() else None
    if path.is_symlink():
        raise PermissionError("it is a symbolic link; name the directory itself")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    reason = _unsafe(os.fstat(descriptor))
    if reason is not None:
        os.close(descriptor)
        raise PermissionError(reason)
    return Folder(path, descriptor)


def _unsafe(status: os.stat_result) -> str | None:
    if _is_foreign(status):
        return f"it belongs to the user {status.st_uid}; use a directory of your own"
    if status.st_mode & _OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        return f"other users have access to it (mode {mode:04o}); `chmod 700` takes that away"
    return None


def _is_foreign(status: os.stat_result) -> bool:
    return sys.platform != "win32" and status.st_uid != os.geteuid()
