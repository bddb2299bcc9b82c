"""Entries on disk: damage, directories that are not safe, disks that are full, eviction."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from firebrick.cube.cache import KernelCache, content_key, locks
from firebrick.cube.cache import disk as disk_module
from firebrick.cube.cache.folder import open_folder

KEY, OTHER = content_key("a kernel"), content_key("another kernel")
NOBODY = 65534
is_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has access rules instead")
is_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with two entries."""
    path = tmp_path / "cache"
    cache = KernelCache(path)
    cache.get_or_build(KEY, lambda: b"code" * 10)
    cache.get_or_build(OTHER, lambda: b"more" * 10)
    return path


def entry(folder: Path, key: str = KEY) -> Path:
    return folder / f"{key}.kernel"


def built_by(cache: KernelCache, *keys: str, code: bytes = b"built here") -> list[bytes]:
    """The entries, which a build would make `code`."""
    return [cache.get_or_build(key, lambda: code) for key in keys]


def quietly(folder: Path, key: str, code: bytes) -> bytes:
    """From a new cache, with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return KernelCache(folder).get_or_build(key, lambda: code)


def test_an_entry_outlives_its_process_s_memory(folder: Path) -> None:
    cache = KernelCache(folder)
    assert cache.get_or_build(KEY, lambda: b"other") == b"code" * 10
    assert (cache.info().disk_hits, cache.info().builds) == (1, 0)


# ---- damage -----------------------------------------------------------------------------------


def emptied(data: bytes) -> bytes:
    return b""


def cut_to_one(data: bytes) -> bytes:
    return data[:1]


def halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def last_missing(data: bytes) -> bytes:
    return data[:-1]


def prolonged(data: bytes) -> bytes:
    return data + b"x"


def pickled(data: bytes) -> bytes:
    return b"cos\nsystem\n(S'false'\ntR."


DAMAGES = [emptied, cut_to_one, halved, last_missing, prolonged, pickled]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_entry_is_built_again_with_one_warning(
    damage: Callable[[bytes], bytes], folder: Path
) -> None:
    entry(folder).write_bytes(damage(entry(folder).read_bytes()))
    entry(folder, OTHER).write_bytes(damage(entry(folder, OTHER).read_bytes()))
    cache = KernelCache(folder)
    with pytest.warns(RuntimeWarning, match=r"an entry in .*/cache was not usable") as caught:
        found = built_by(cache, KEY, OTHER)
    assert found == [b"built here"] * 2
    assert len(caught) == 1
    assert quietly(folder, KEY, b"never") == b"built here"
    assert quietly(folder, OTHER, b"never") == b"built here"


def test_no_flipped_bit_goes_unnoticed(folder: Path) -> None:
    whole = entry(folder).read_bytes()
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        entry(folder).write_bytes(flipped)
        with pytest.warns(RuntimeWarning, match="not usable"):
            found = KernelCache(folder).get_or_build(KEY, lambda: b"code" * 10)
        assert found == b"code" * 10
    assert entry(folder).read_bytes() == whole


def test_swapped_entries_are_both_built_again(folder: Path) -> None:
    first, second = entry(folder).read_bytes(), entry(folder, OTHER).read_bytes()
    entry(folder).write_bytes(second)
    entry(folder, OTHER).write_bytes(first)
    cache = KernelCache(folder)
    with pytest.warns(RuntimeWarning, match="it belongs to another key") as caught:
        found = built_by(cache, KEY, OTHER)
    assert found == [b"built here"] * 2
    assert len(caught) == 1
    assert quietly(folder, KEY, b"never") == b"built here"


@is_posix
def test_what_is_no_file_is_replaced(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(entry(folder).read_bytes())
    entry(folder).unlink()
    entry(folder).symlink_to(target)
    entry(folder, OTHER).unlink()
    os.mkfifo(entry(folder, OTHER))
    with pytest.warns(RuntimeWarning, match="not usable"):
        assert KernelCache(folder).get_or_build(KEY, lambda: b"new") == b"new"
    with pytest.warns(RuntimeWarning, match="it is no file of this user"):
        assert KernelCache(folder).get_or_build(OTHER, lambda: b"new") == b"new"
    assert target.exists()
    assert quietly(folder, KEY, b"never") == b"new"
    assert quietly(folder, OTHER, b"never") == b"new"


def test_an_entry_appears_when_all_of_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[int, bool]] = []

    def fsync(descriptor: int) -> None:
        flushed.append((os.fstat(descriptor).st_size, entry(tmp_path).exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    KernelCache(tmp_path).get_or_build(KEY, lambda: b"x" * 50_000)
    assert flushed == [(entry(tmp_path).stat().st_size, False)]


# ---- whose directory it is --------------------------------------------------------------------


@is_posix
def test_the_directory_and_its_entries_are_for_their_owner_only(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600
    assert [path.suffix for path in folder.iterdir()] == [".kernel"] * 2


def assert_not_used(path: Path, reason: str) -> None:
    """A cache there neither reads nor writes, says why once, and works."""
    before = sorted(os.listdir(path)) if path.is_dir() else None
    cache = KernelCache(path)
    with pytest.warns(
        RuntimeWarning, match=rf"cannot be used, .* stay in memory: {reason}"
    ) as said:
        found = built_by(cache, KEY, OTHER, KEY)
    assert found == [b"built here"] * 3
    assert len(said) == 1
    assert cache.info().builds == 2
    assert (sorted(os.listdir(path)) if path.is_dir() else None) == before


@is_posix
@pytest.mark.parametrize("mode", [0o777, 0o755, 0o770, 0o701])
def test_a_directory_that_others_can_enter_is_not_used(mode: int, folder: Path) -> None:
    folder.chmod(mode)
    assert_not_used(folder, rf"other users have access to it \(mode {mode:04o}\)")
    folder.chmod(0o700)
    assert quietly(folder, KEY, b"never") == b"code" * 10


@is_posix
def test_a_symbolic_link_to_a_directory_is_not_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert_not_used(tmp_path / "link", "it is a symbolic link; name the directory itself")


@is_posix
def test_a_link_to_nothing_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    assert_not_used(tmp_path / "link", "it is a symbolic link")
    assert not (tmp_path / "nothing").exists()


@is_root
def test_another_user_s_directory_is_not_used(folder: Path) -> None:
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    assert_not_used(folder, f"it belongs to the user {NOBODY}; use a directory of your own")


@is_root
def test_another_user_s_entry_is_replaced(folder: Path) -> None:
    os.chown(entry(folder), NOBODY, NOBODY)
    with pytest.warns(RuntimeWarning, match="it is no file of this user"):
        assert KernelCache(folder).get_or_build(KEY, lambda: b"ours") == b"ours"
    assert entry(folder).stat().st_uid == os.geteuid()


@is_posix
def test_looking_into_a_directory_that_is_not_safe_and_clearing_it_touch_nothing(
    folder: Path,
) -> None:
    folder.chmod(0o777)
    cache = KernelCache(folder)
    with pytest.warns(RuntimeWarning, match="other users have access") as said:
        assert cache.info().disk_entries == 0
    cache.clear()
    assert len(said) == 1
    assert len(os.listdir(folder)) == 2


def test_a_file_in_place_of_the_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    assert_not_used(tmp_path / "file", "Not a directory")
    assert (tmp_path / "file").read_text() == "kept"


# ---- full disks and eviction ------------------------------------------------------------------


@is_posix
def test_a_write_that_does_not_fit_leaves_no_part_behind(tmp_path: Path) -> None:
    import resource

    cache = KernelCache(tmp_path)
    earlier = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, earlier[1]))
    try:
        with pytest.warns(RuntimeWarning, match="stay in memory: File too large") as caught:
            found = built_by(cache, KEY, OTHER, KEY, code=b"x" * 20_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, earlier)
    assert found == [b"x" * 20_000] * 3
    assert len(caught) == 1
    assert cache.info().builds == 2
    assert os.listdir(tmp_path) == []


@is_root
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
def test_a_full_disk_costs_one_warning_and_heals(tmp_path: Path) -> None:
    options = "size=64k,mode=700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", tmp_path], check=True)
    try:
        filler = tmp_path / "filler"
        filler.write_bytes(b"x" * 40_000)
        cache = KernelCache(tmp_path)
        with pytest.warns(RuntimeWarning, match="stay in memory: No space left on device") as said:
            found = built_by(cache, KEY, OTHER, KEY, code=b"x" * 40_000)
        assert found == [b"x" * 40_000] * 3
        assert len(said) == 1
        assert os.listdir(tmp_path) == ["filler"]
        filler.unlink()
        assert quietly(tmp_path, KEY, b"y" * 40_000) == b"y" * 40_000
        assert quietly(tmp_path, KEY, b"never") == b"y" * 40_000
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_entries_used_longest_ago_make_room(tmp_path: Path) -> None:
    keys = [content_key(str(number)) for number in range(30)]
    for age, key in enumerate(reversed(keys[:20])):
        KernelCache(tmp_path).get_or_build(key, lambda: b"x" * 1000)
        then = time.time() - 100 - age
        os.utime(entry(tmp_path, key), (then, then))
    assert quietly(tmp_path, keys[0], b"never") == b"x" * 1000  # the oldest is used again
    cache = KernelCache(tmp_path, disk_bytes=20_000)
    for key in keys[20:30]:
        cache.get_or_build(key, lambda: b"x" * 1000)
        assert cache.info().disk_bytes <= 20_000 * 9 / 8
    left = {path.stem for path in tmp_path.iterdir()}
    assert left >= {keys[0], *keys[20:30]}
    assert not left & set(keys[1:10])


def test_an_entry_above_the_limit_stays_in_memory(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, disk_bytes=1000)
    assert cache.get_or_build(KEY, lambda: b"x" * 1000) == b"x" * 1000
    assert (cache.info().disk_entries, cache.info().memory_entries) == (0, 1)


@is_posix
def test_what_dead_processes_left_is_swept_after_an_hour(tmp_path: Path) -> None:
    old = [f"{KEY}.kernel.0123456789abcdef.tmp", f"{KEY}.lock"]
    young = [f"{OTHER}.kernel.0123456789abcdef.tmp", f"{OTHER}.lock"]
    then = time.time() - disk_module.LEFT_BEHIND_S - 10
    for name in old + young:
        (tmp_path / name).touch()
    for name in old:
        os.utime(tmp_path / name, (then, then))
    KernelCache(tmp_path).get_or_build(content_key("new"), lambda: b"code")
    assert sorted(os.listdir(tmp_path)) == sorted([*young, f"{content_key('new')}.kernel"])


@is_posix
def test_a_lock_on_a_file_that_was_removed_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    folder = open_folder(tmp_path, create=False)
    assert folder is not None
    with folder:
        stale = folder.open_lock("a.lock")
        with locks.attempt(folder, "a.lock") as is_held:
            assert is_held
        with monkeypatch.context() as patched:
            patched.setattr(folder, "open_lock", Mock(return_value=stale))
            with locks.attempt(folder, "a.lock") as is_held:
                assert not is_held
        with locks.attempt(folder, "a.lock") as is_held:
            assert is_held


@is_posix
def test_a_holder_that_does_not_let_go_is_waited_for_only_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(disk_module, "LOCK_WAIT_S", 0.05)
    with (tmp_path / f"{KEY}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert quietly(tmp_path, KEY, b"both build") == b"both build"
    assert quietly(tmp_path, KEY, b"never") == b"both build"
