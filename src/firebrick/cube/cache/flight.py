"""One build per key among threads: the first one builds, the others wait for its result."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from firebrick.cube.cache.forks import renew_in_child
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable

V = TypeVar("V")


class _Flight(Generic[V]):
    """A build in progress; `landed` can be acquired once it is over."""

    __slots__ = ("error", "landed", "result", "thread")

    def __init__(self) -> None:
        self.landed = threading.Lock()
        self.landed.acquire()  # a lock, not an event: released in one step that no signal splits
        self.thread = threading.get_ident()
        self.result: tuple[V] | None = None
        self.error: Exception | None = None

    def land(self) -> None:
        """Wakes everyone who waits."""
        if self.landed.locked():
            self.landed.release()

    def wait(self) -> None:
        """Until the build is over; Ctrl-C ends the waiting."""
        self.landed.acquire()
        self.landed.release()


class SingleFlight(Generic[V]):
    """Builds in progress. Nothing is remembered once a build is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, _Flight[V]] = {}
        renew_in_child(self)

    def renew(self) -> None:
        """No builds: their threads are in another process."""
        self._lock = threading.Lock()
        self._flights = {}

    def run(self, key: str, build: Callable[[], V]) -> V:
        """The value that `build` makes, here or in the thread that is already at it.

        A build that raises wakes the waiting threads, which raise the same error; the next call
        builds again. If it was interrupted (Ctrl-C is meant for one thread), one of them builds.

        Raises: `KernelError` when a build asks for the key that it builds.
        """
        while True:
            mine = _Flight[V]()
            try:
                flight = self._join(key, mine)
                if flight is mine:
                    return self._fly(mine, build)
            finally:
                self._leave(key, mine)
            if flight.thread == mine.thread:
                raise KernelError(f"the build of cache entry `{key}` asks for that entry itself.")
            flight.wait()
            if flight.error is not None:
                raise flight.error
            if flight.result is not None:
                return flight.result[0]

    def _join(self, key: str, mine: _Flight[V]) -> _Flight[V]:
        with self._lock:
            return self._flights.setdefault(key, mine)

    def _fly(self, mine: _Flight[V], build: Callable[[], V]) -> V:
        try:
            result = build()
        except Exception as error:
            mine.error = error
            raise
        mine.result = (result,)
        return result

    def _leave(self, key: str, mine: _Flight[V]) -> None:
        try:
            with self._lock:
                if self._flights.get(key) is mine:
                    del self._flights[key]
        finally:
            mine.land()
