"""The most recently used values, up to a limit, for any number of threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from firebrick.cube.cache.forks import renew_in_child

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")


def _one(_: object) -> int:
    return 1


class Lru(Generic[K, V]):
    """Values by key; the ones used longest ago make room.

    Args:
        limit: What all values together may weigh; a value above it is not kept.
        weigh: What one weighs; each counts 1 unless given.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int] = _one) -> None:
        self._limit = limit
        self._weigh = weigh
        self._values: OrderedDict[K, V] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()
        renew_in_child(self)

    def renew(self) -> None:
        """Empty, with a lock that nobody holds: another thread may have been inside."""
        self._lock = threading.Lock()
        self._values = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._values)

    @property
    def weight(self) -> int:
        """Of all values."""
        return self._weight

    def get(self, key: K) -> V | None:
        """The value, which is now the most recently used one."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def put(self, key: K, value: V) -> None:
        """Keeps a value in place of an earlier one."""
        weight = self._weigh(value)
        with self._lock:
            earlier = self._values.pop(key, None)
            if earlier is not None:
                self._weight -= self._weigh(earlier)
            if weight > self._limit:
                return
            self._values[key] = value
            self._weight += weight
            while self._weight > self._limit:
                _, oldest = self._values.popitem(last=False)
                self._weight -= self._weigh(oldest)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._values.clear()
            self._weight = 0
