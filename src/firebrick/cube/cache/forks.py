"""What a forked process must not inherit: locks that threads of its parent held.

A fork copies one thread only. A lock that another thread held stays locked in the child for ever,
and a build that another thread was doing never ends there.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Something with locks."""

    def renew(self) -> None:
        """As new, without touching the old locks."""
        ...


_renewables: WeakSet[Renewable] = WeakSet()


def renew_in_child(thing: Renewable) -> None:
    """Has `thing.renew()` called in every process forked from this one, as long as it lives."""
    _renewables.add(thing)


def _renew() -> None:
    for thing in list(_renewables):
        thing.renew()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_renew)
