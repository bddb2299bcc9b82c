"""The kernel cache inside one process: memory, threads, settings, clearing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from firebrick.cube.cache import KernelCache, Lru, content_key, shared_cache
from firebrick.cube.cache import kernel_cache as kernel_cache_module
from firebrick.cube.cache.flight import SingleFlight
from firebrick.errors import KernelCompileError, KernelError

KEY = content_key("a kernel")
WATCHDOG_S = 30.0


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Runs `work(number)` in threads; all end within the watchdog's time, errors come out."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG_S)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


# ---- memory -----------------------------------------------------------------------------------


def test_the_value_used_longest_ago_makes_room() -> None:
    values: Lru[str, int] = Lru(2)
    values.put("a", 1)
    values.put("b", 2)
    assert values.get("a") == 1
    values.put("c", 3)
    assert [values.get(key) for key in "abc"] == [1, None, 3]


def test_values_are_weighed_and_one_above_the_limit_is_not_kept() -> None:
    values: Lru[str, bytes] = Lru(10, len)
    values.put("a", b"x" * 6)
    values.put("b", b"x" * 4)
    values.put("c", b"x" * 11)
    assert (len(values), values.weight) == (2, 10)
    values.put("b", b"x" * 5)
    assert (values.get("a"), values.weight) == (None, 5)


def test_an_entry_is_built_once_and_then_known() -> None:
    cache = KernelCache()
    assert cache.get_or_build(KEY, lambda: b"code") == b"code"
    assert cache.get_or_build(KEY, lambda: b"other") == b"code"
    info = cache.info()
    assert (info.builds, info.memory_hits, info.memory_entries, info.memory_bytes) == (1, 1, 1, 4)
    assert info.directory is None


def test_memory_has_a_limit() -> None:
    cache = KernelCache(memory_bytes=100)
    for number in range(10):
        cache.get_or_build(content_key(str(number)), lambda: b"x" * 30)
    assert cache.info().memory_bytes == 90


@pytest.mark.parametrize("key", ["", "a" * 63, "../" + "a" * 61, "A" * 64, "a" * 64 + "\n"])
def test_a_key_that_is_no_hash_is_refused(key: str) -> None:
    with pytest.raises(KernelError, match="a key of the cache is 64 hexadecimal digits; got"):
        KernelCache().get_or_build(key, bytes)


# ---- threads ----------------------------------------------------------------------------------


def test_threads_that_ask_at_once_get_one_build(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    together = threading.Barrier(4)

    def work(number: int) -> None:
        for turn in range(100):
            together.wait(WATCHDOG_S)
            key = content_key(str(turn))
            assert cache.get_or_build(key, key.encode) == key.encode()

    in_threads(4, work)
    assert cache.info().builds == 100


def test_waiting_threads_get_the_builder_s_error_and_the_next_call_builds() -> None:
    cache = KernelCache()
    begun, finish = threading.Event(), threading.Event()
    raised: list[str] = []
    tries: list[int] = []

    def build() -> bytes:
        tries.append(1)
        begun.set()
        finish.wait(WATCHDOG_S)
        raise KernelCompileError("line 3 is wrong")

    def work(number: int) -> None:
        if number == 4:
            begun.wait(WATCHDOG_S)
            time.sleep(0.05)  # the others have queued up by now
            finish.set()
            return
        with pytest.raises(KernelCompileError) as caught:
            cache.get_or_build(KEY, build)
        raised.append(str(caught.value))

    in_threads(5, work)
    assert raised == ["line 3 is wrong"] * 4
    assert len(tries) == 1
    assert cache.get_or_build(KEY, lambda: b"right") == b"right"


def test_an_interrupt_of_the_builder_is_not_the_error_of_those_who_wait() -> None:
    flight: SingleFlight[str] = SingleFlight()
    begun, finish = threading.Event(), threading.Event()
    found: list[str] = []

    def interrupted() -> str:
        begun.set()
        finish.wait(WATCHDOG_S)
        raise KeyboardInterrupt

    def work(number: int) -> None:
        if number == 0:
            with pytest.raises(KeyboardInterrupt):
                flight.run("key", interrupted)
            return
        begun.wait(WATCHDOG_S)
        if number == 1:
            time.sleep(0.05)
            finish.set()
        found.append(flight.run("key", lambda: "built"))

    in_threads(3, work)
    assert found == ["built"] * 2


def test_a_build_may_ask_for_another_entry_but_not_for_its_own() -> None:
    cache = KernelCache()
    inner = content_key("inner")
    assert cache.get_or_build(KEY, lambda: cache.get_or_build(inner, lambda: b"in")) == b"in"
    own = content_key("own")
    with pytest.raises(KernelError, match=f"the build of cache entry `{own}` asks for that entry"):
        cache.get_or_build(own, lambda: cache.get_or_build(own, lambda: b"never"))
    assert cache.get_or_build(own, lambda: b"fine") == b"fine"


# A file between being opened and being guarded is closed by the interpreter, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers")
def test_an_interrupt_at_any_moment_leaves_the_entry_buildable(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def build() -> bytes:
        time.sleep(0.002)
        return b"code"

    cache = KernelCache(tmp_path)
    earlier = signal.signal(signal.SIGALRM, interrupt)
    slowest_s = 0.0
    interrupts = 0
    try:
        for turn in range(100):
            key = content_key(str(turn))
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + turn * 0.00005)
                cache.get_or_build(key, build)
            except KeyboardInterrupt:
                interrupts += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            start = time.monotonic()
            assert cache.get_or_build(key, build) == b"code"
            slowest_s = max(slowest_s, time.monotonic() - start)
    finally:
        signal.signal(signal.SIGALRM, earlier)
    assert slowest_s < 5
    assert interrupts > 10
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".kernel")] == []


def test_clearing_while_others_build_is_safe(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    stop = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            while not stop.is_set():
                cache.clear()
            return
        try:
            for turn in range(300):
                key = content_key(str(turn % 7))
                assert cache.get_or_build(key, key.encode) == key.encode()
        finally:
            stop.set()

    in_threads(3, work)


# ---- what users see ---------------------------------------------------------------------------


def test_clearing_forgets_memory_and_disk(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path)
    cache.get_or_build(KEY, lambda: b"code")
    before = cache.info()
    assert (before.directory, before.disk_entries, before.memory_entries) == (tmp_path, 1, 1)
    assert before.disk_bytes > 4
    cache.clear()
    after = cache.info()
    assert (after.disk_entries, after.disk_bytes, after.memory_entries) == (0, 0, 0)
    assert cache.get_or_build(KEY, lambda: b"new") == b"new"


def test_a_cache_without_entries_makes_no_directory(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path / "cache")
    cache.clear()
    assert cache.info().disk_entries == 0
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("value", ["off", "OFF", "0"])
def test_the_disk_can_be_switched_off(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBRICK_CACHE", value)
    monkeypatch.setenv("FIREBRICK_CACHE_DIR", str(tmp_path / "cache"))
    cache = KernelCache.from_environment()
    cache.get_or_build(KEY, lambda: b"code")
    assert cache.info().directory is None
    assert cache.get_or_build(KEY, lambda: b"other") == b"code"
    assert os.listdir(tmp_path) == []


def test_the_environment_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBRICK_CACHE", "on")
    monkeypatch.setenv("FIREBRICK_CACHE_DIR", str(tmp_path / "cache"))
    KernelCache.from_environment().get_or_build(KEY, lambda: b"code")
    assert KernelCache.from_environment().get_or_build(KEY, lambda: b"other") == b"code"


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own place")
def test_without_a_setting_the_directory_is_the_user_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIREBRICK_CACHE", raising=False)
    monkeypatch.delenv("FIREBRICK_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert KernelCache.from_environment().info().directory == tmp_path / "firebrick"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert KernelCache.from_environment().info().directory == tmp_path / ".cache" / "firebrick"


def test_a_user_without_a_home_has_a_cache_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("FIREBRICK_CACHE", raising=False)
    monkeypatch.delenv("FIREBRICK_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert KernelCache.from_environment().info().directory is None


def test_a_setting_that_means_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIREBRICK_CACHE", "perhaps")
    with pytest.raises(KernelError, match="FIREBRICK_CACHE is 'perhaps'; accepted are `on` and"):
        KernelCache.from_environment()


def test_a_process_has_one_shared_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIREBRICK_CACHE", "off")
    monkeypatch.setattr(kernel_cache_module, "_shared", [])
    assert shared_cache() is shared_cache()
