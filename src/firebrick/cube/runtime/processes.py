"""What runtimes say to a process that was forked after a device was opened."""

from __future__ import annotations

from firebrick.errors import BackendUnavailableError


def forked_error(name: str) -> BackendUnavailableError:
    """A device does not survive a fork: its library's threads are in the parent only."""
    return BackendUnavailableError(
        f"the {name} runtime was opened before this process was forked, and a device does not work "
        "in a forked child: start processes with the method `spawn` "
        "(`multiprocessing.set_start_method('spawn')`), or open the device in the children only."
    )
