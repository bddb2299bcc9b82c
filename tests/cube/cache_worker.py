"""Programs that the tests of the kernel cache run in processes of their own.

`python cache_worker.py PROGRAM ARGUMENT...` prints its findings as one JSON object. Each program
imports the cache once and forks the processes it needs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firebrick.cube.cache import KernelCache, content_key

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY = 65534
BUILD_S = 0.02
PAYLOAD_BYTES = 100_000


def run_worker(program: str, *arguments: object, timeout_s: float = 120) -> Any:
    """What a program finds; it must end within the time."""
    command = [sys.executable, __file__, program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def payload_of(key: str) -> bytes:
    """What every build of a key makes."""
    return (key.encode() * (PAYLOAD_BYTES // len(key) + 1))[:PAYLOAD_BYTES]


def compile_slowly(key: str) -> bytes:
    """Some work in Python, some waiting, as compilers have."""
    stop = time.monotonic() + BUILD_S / 2
    while time.monotonic() < stop:
        sum(range(100))
    time.sleep(BUILD_S / 2)
    return payload_of(key)


def in_child(work: Callable[[], int]) -> int:
    """The id of a forked process that does the work and exits with its number."""
    child = os.fork()
    if child:
        return child
    try:
        code = work()
    except BaseException as error:
        code = 128 if isinstance(error, KeyboardInterrupt) else 1
    os._exit(code)


def exit_code(child: int) -> int:
    """Of a forked process, negative for the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def race(directory: str, workers: str, rounds: str) -> dict[str, Any]:
    """Processes that ask for the same cold key at the same moment, round after round."""
    log = Path(directory + ".log")
    log.touch()
    barrier = get_context("fork").Barrier(int(workers))

    def build(key: str) -> bytes:
        with log.open("a") as file:
            file.write("x")
        time.sleep(0.002)
        return payload_of(key)

    def work() -> int:
        wrong = 0
        for turn in range(int(rounds)):
            key = content_key(str(turn))
            barrier.wait(60)
            cache = KernelCache(Path(directory))
            wrong += cache.get_or_build(key, lambda key=key: build(key)) != payload_of(key)
        return 100 + wrong if wrong else 0

    warnings.simplefilter("error")
    children = [in_child(work) for _ in range(int(workers))]
    codes = [exit_code(child) for child in children]
    return {"codes": codes, "builds": log.stat().st_size, "files": os.listdir(directory)}


def kill(directory: str, name: str, rounds: str) -> dict[str, Any]:
    """A process killed at a random moment of a build; how long the next one then takes."""
    chance = random.Random(7)
    took: list[float] = []
    ends: list[int] = []
    warnings.simplefilter("error")

    def work(key: str) -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        cache = KernelCache(Path(directory))
        found = cache.get_or_build(key, lambda: compile_slowly(key))
        return 0 if found == payload_of(key) else 2

    for turn in range(int(rounds)):
        key = content_key(name, str(turn))
        child = in_child(lambda key=key: work(key))
        time.sleep(chance.uniform(0, BUILD_S * 1.5))
        os.kill(child, signal.Signals[name])
        ends.append(exit_code(child))
        start = time.monotonic()
        code = exit_code(in_child(lambda key=key: work(key)))
        took.append(time.monotonic() - start if code == 0 else 1000.0 + code)
    return {"slowest_s": max(took), "ends": ends}


def read_only(directory: str) -> dict[str, Any]:
    """A directory that its owner cannot write to, with one entry in it."""
    path = Path(directory)
    KernelCache(path).get_or_build(content_key("there"), lambda: b"there")
    if os.geteuid() == 0:  # permissions do not stop root
        for place in (path, *path.iterdir()):
            os.chown(place, NOBODY, NOBODY)
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    path.chmod(0o500)
    cache = KernelCache(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [
            cache.get_or_build(content_key(name), name.upper().encode).decode()
            for name in ("there", "new", "newer", "new")
        ]
    path.chmod(0o700)
    said = [str(warning.message) for warning in caught]
    return {"found": found, "said": said, "builds": cache.info().builds}


def fork(directory: str) -> dict[str, Any]:
    """A fork while another thread builds: the child builds for itself and holds no lock."""
    cache, memory = KernelCache(Path(directory)), KernelCache()
    key = content_key("forked")
    begun, finish = threading.Event(), threading.Event()
    calm, done = os.pipe(), os.pipe()

    def build() -> bytes:
        begun.set()
        finish.wait(60)
        return b"parent"

    def work() -> int:
        found = memory.get_or_build(key, lambda: b"child")
        found += cache.get_or_build(content_key("other"), lambda: b"other")
        os.write(done[1], b"x")
        os.read(calm[0], 1)  # lives on
        return 0 if found == b"childother" else 1

    def builds() -> None:
        cache.get_or_build(key, lambda: memory.get_or_build(key, build))

    thread = threading.Thread(target=builds)
    thread.start()
    begun.wait(60)
    child = in_child(work)
    os.read(done[0], 1)
    finish.set()
    thread.join()
    KernelCache(Path(directory)).clear()
    start = time.monotonic()
    again = KernelCache(Path(directory)).get_or_build(key, lambda: b"again")
    took_s = time.monotonic() - start
    os.write(calm[1], b"x")
    return {"again": again.decode(), "took_s": took_s, "code": exit_code(child)}


def hold(directory: str) -> dict[str, Any]:
    """A process killed while a child that it forked during a build lives on."""
    key = content_key("held")
    calm = os.pipe()
    told = os.pipe()

    def build() -> bytes:
        child = in_child(lambda: len(os.read(calm[0], 1)))
        os.write(told[1], child.to_bytes(4, "big"))
        time.sleep(60)
        return b"never"

    def work() -> int:
        KernelCache(Path(directory)).get_or_build(key, build)
        return 0

    holder = in_child(work)
    orphan = int.from_bytes(os.read(told[0], 4), "big")
    os.kill(holder, signal.SIGKILL)
    exit_code(holder)
    start = time.monotonic()
    KernelCache(Path(directory)).get_or_build(key, lambda: b"next")
    took_s = time.monotonic() - start
    os.kill(orphan, signal.SIGKILL)
    return {"took_s": took_s}


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "race": race,
    "kill": kill,
    "read_only": read_only,
    "fork": fork,
    "hold": hold,
}

if __name__ == "__main__":
    print(json.dumps(PROGRAMS[sys.argv[1]](*sys.argv[2:])))
