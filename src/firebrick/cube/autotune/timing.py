"""How long a candidate takes: a median of several samples, given up early where it is hopeless."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Clock: TypeAlias = Callable[[], float]
    """Seconds since some moment."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much is measured."""

    samples: int = 5
    shortest_s: float = 0.0002
    """A sample is at least this long: quick candidates are run several times in it."""
    most_repeats: int = 32
    """But no more often than this."""
    hopeless: float = 2.0
    """A candidate is given up when its best sample takes this many times the best median."""


def median_seconds(
    run: Callable[[], object],
    sync: Callable[[], None],
    clock: Clock,
    best_s: float,
    sampling: Sampling,
) -> float:
    """The median time of one run; of the samples taken if `best_s` is out of reach.

    A first run, which compiles, is not counted.
    """
    seconds(run, sync, clock, 1)
    first_s = seconds(run, sync, clock, 1)
    # The slack is for the waiting, which longer samples spread over their runs.
    if first_s > sampling.hopeless * best_s + sampling.shortest_s:
        return first_s
    repeats = sampling.most_repeats
    if first_s > 0:
        repeats = min(repeats, math.ceil(sampling.shortest_s / first_s))
    taken: list[float] = []
    for _ in range(sampling.samples):
        taken.append(seconds(run, sync, clock, repeats))
        if min(taken) > sampling.hopeless * best_s:
            break
    return statistics.median(taken)


def seconds(
    run: Callable[[], object], sync: Callable[[], None], clock: Clock, repeats: int
) -> float:
    """The time of one of several runs."""
    start = clock()
    for _ in range(repeats):
        run()
    sync()
    return (clock() - start) / repeats
