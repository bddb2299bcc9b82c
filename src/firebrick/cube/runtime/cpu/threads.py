"""A few threads that share the cubes of a large launch.

They wait in a queue and call the compiled function, during which CPython releases its lock. A
launch is cut into more pieces than there are threads, so that one that is disturbed holds up
nobody.
"""

from __future__ import annotations

import itertools
import os
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from firebrick.cube.cache.forks import renew_in_child
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS_VARIABLE = "FIREBRICK_CPU_THREADS"
PIECES_PER_THREAD = 4


class Job:
    """Numbered pieces of work; whoever is free takes the next one."""

    def __init__(self, run: Callable[[int], None], pieces: int) -> None:
        self._run = run
        self._pieces = pieces
        self._taken = itertools.count()  # its `next` is one call of a C function: atomic
        self._lock = threading.Lock()
        self._is_closed = False
        self._helpers = 0
        self._alone = threading.Condition(self._lock)
        self._error: BaseException | None = None

    def help(self) -> None:
        """For the threads of the pool: works, unless the job is over."""
        with self._lock:
            if self._is_closed:
                return
            self._helpers += 1
        error: BaseException | None = None
        try:
            self.work()
        except BaseException as reason:  # the caller raises it
            error = reason
        with self._lock:
            self._error = self._error or error
            self._helpers -= 1
            if not self._helpers:
                self._alone.notify_all()

    def work(self) -> None:
        """Takes pieces until there are none left."""
        while (piece := next(self._taken)) < self._pieces:
            self._run(piece)

    def close(self) -> None:
        """Waits for those who still work; nobody else begins. Raises what went wrong there.

        An interrupt of the user is kept back until then: the memory is in use.
        """
        interrupt: KeyboardInterrupt | None = None
        while True:
            try:
                with self._lock:
                    self._is_closed = True
                    self._alone.wait_for(lambda: not self._helpers)
                break
            except KeyboardInterrupt as reason:
                interrupt = reason
        failure = interrupt or self._error
        if failure is not None:
            raise failure


class Threads:
    """`count` threads together with the caller; started at first use, and again after a fork."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._started = False
        renew_in_child(self)

    def renew(self) -> None:
        """As before first use: a forked process has none of the threads."""
        self._lock = threading.Lock()
        self._jobs = SimpleQueue()
        self._started = False

    def run(self, piece: Callable[[int], None], pieces: int) -> None:
        """Calls `piece` with every number below `pieces`; returns when all are done."""
        if pieces == 1:
            piece(0)
            return
        if not self._started:
            self._start()
        job = Job(piece, pieces)
        try:
            for _ in range(min(self.count, pieces) - 1):
                self._jobs.put(job)
            job.work()
        finally:
            job.close()

    def _start(self) -> None:
        with self._lock:
            if self._started:
                return
            for number in range(1, self.count):
                name = f"firebrick-cpu-{number}"
                threading.Thread(target=_serve, args=(self._jobs,), name=name, daemon=True).start()
            self._started = True


def _serve(jobs: SimpleQueue[Job]) -> None:
    while True:
        jobs.get().help()


def thread_count() -> int:
    """What `FIREBRICK_CPU_THREADS` says, or the processors that this process may use.

    Raises: `KernelError` if it says something else than a positive number.
    """
    wanted = os.environ.get(THREADS_VARIABLE)
    if wanted is not None:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise KernelError(
                f"the environment variable {THREADS_VARIABLE} is {wanted!r}; it takes a positive "
                "number of threads."
            )
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
