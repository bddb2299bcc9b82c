"""`Tuner`: finds the fastest candidate for a kind of call once, then runs it."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, TypeVarTuple, cast

from firebrick.cube.autotune.keys import Key, encode, level
from firebrick.cube.autotune.place import Place, place_of
from firebrick.cube.autotune.scratch import ScratchError, scratch_copies
from firebrick.cube.autotune.timing import Sampling, median_seconds
from firebrick.cube.cache import KernelCache, Lru, content_key, shared_cache, toolchain
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from firebrick.cube.autotune.space import Configuration, Space
    from firebrick.cube.autotune.timing import Clock

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

MOST_WINNERS = 4096
"""Kept in memory per tuner."""
MOST_REASONS = 12
"""Listed in an error."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is known of one kind of call."""

    winner: Configuration
    seconds: dict[str, float]
    """Median time by configuration; empty where nothing had to be timed."""
    failures: dict[str, str]
    """Why the others cannot run."""


@dataclass(frozen=True, slots=True)
class _Known(Generic[R, *Ts]):
    tuning: Tuning
    run: Callable[[*Ts], R]


class Tuner(Generic[R, *Ts]):
    """Runs the fastest candidate; the first call of a kind times them. See `autotune`.

    Args:
        name: What winners are stored under.
        space: The configurations to try.
        build: What to run with a configuration.
        key: What decides the winner.
        mutable: Positions of arguments that a candidate writes; None takes all for written.
        cache: Where winners are stored; the kernel cache of the process unless given.
        clock: Seconds since some moment.
        sampling: How much is measured.
    """

    def __init__(
        self,
        name: str,
        space: Space,
        build: Callable[[Configuration], Callable[[*Ts], R]],
        key: Callable[..., Key],
        *,
        mutable: Collection[int] | None = None,
        cache: KernelCache | None = None,
        clock: Clock = time.perf_counter,
        sampling: Sampling | None = None,
    ) -> None:
        self.name = name
        self._space = space
        self._build = build
        self._key = key
        self._mutable = mutable
        self._cache = cache
        self._clock = clock
        self._sampling = sampling or Sampling()
        self._known: Lru[str, _Known[R, *Ts]] = Lru(MOST_WINNERS)

    def __repr__(self) -> str:
        return f"<tuner {self.name}>"

    def __call__(self, *arguments: *Ts) -> R:
        """What the winner returns.

        Raises: `KernelError` with a reason for each candidate if none of them works.
        """
        return self._find(arguments).run(*arguments)

    def tuning(self, *arguments: *Ts) -> Tuning:
        """What a call with these arguments would use and why; the arguments are not written."""
        return self._find(arguments).tuning

    def forget(self) -> None:
        """Drops what is known in memory; the cache keeps its entries."""
        self._known.clear()

    def _find(self, arguments: tuple[*Ts]) -> _Known[R, *Ts]:
        place = place_of(arguments)
        call = f"{level()} {place.identity} {encode(self._key(*arguments))}"
        known = self._known.get(call)
        if known is None:
            tuning = self._decide(place, call, arguments)
            known = _Known(tuning, self._build(tuning.winner))
            self._known.put(call, known)
        return known

    def _decide(self, place: Place, call: str, arguments: tuple[*Ts]) -> Tuning:
        valid, rejected = self._valid(place)
        if not valid:
            raise self._nothing_works(rejected)
        if len(valid) == 1 or level() == "off":
            return Tuning(valid[0], {}, rejected)
        place.sync()  # an error of earlier launches is no candidate's
        names = content_key(*(configuration.name for configuration in valid))
        key = content_key("autotune", toolchain(), self.name, call, names)
        cache = self._cache or shared_cache()
        try:
            stored = cache.get_or_build(key, lambda: self._timed(place, valid, arguments))
        except ScratchError as reason:
            # A call that fits in memory once must not fail because it does not fit twice.
            return Tuning(valid[0], {}, {**rejected, "timing": f"no copies to work on: {reason}"})
        found = json.loads(stored)
        winner = next(c for c in valid if c.name == found["winner"])
        return Tuning(winner, found["seconds"], {**rejected, **found["failures"]})

    def _valid(self, place: Place) -> tuple[list[Configuration], dict[str, str]]:
        valid: list[Configuration] = []
        rejected: dict[str, str] = {}
        for configuration in self._space.configurations():
            reason = self._space.lacking(configuration, place.properties)
            if reason is None:
                valid.append(configuration)
            else:
                rejected[configuration.name] = f"needs {reason}"
        return valid, rejected

    def _timed(self, place: Place, valid: list[Configuration], arguments: tuple[*Ts]) -> bytes:
        seconds: dict[str, float] = {}
        failures: dict[str, str] = {}
        for configuration in valid:
            best_s = min(seconds.values(), default=math.inf)
            outcome = self._attempt(place, configuration, arguments, best_s)
            if isinstance(outcome, str):
                failures[configuration.name] = outcome
            else:
                seconds[configuration.name] = outcome
        if not seconds:
            raise self._nothing_works(failures)
        winner = min(seconds, key=lambda name: seconds[name])
        found = {"winner": winner, "seconds": seconds, "failures": failures}
        return json.dumps(found).encode()

    def _attempt(
        self, place: Place, configuration: Configuration, arguments: tuple[*Ts], best_s: float
    ) -> float | str:
        """The time of a candidate, or why it does not work."""
        copies = scratch_copies(self.name, arguments, self._mutable)
        scratch = cast("tuple[*Ts]", copies)  # of the same types
        try:
            run = self._build(configuration)
            return median_seconds(
                lambda: run(*scratch), place.sync, self._clock, best_s, self._sampling
            )
        except Exception as error:
            return "; ".join([_described(error), *_outstanding(place)])

    def _nothing_works(self, reasons: dict[str, str]) -> KernelError:
        if not reasons:
            return KernelError(
                f"no configuration of `{self.name}` meets the conditions of its search space."
            )
        listed = [f"  {name}: {reason}" for name, reason in reasons.items()]
        more = len(listed) - MOST_REASONS
        lines = [*listed[:MOST_REASONS], *([f"  and {more} more"] if more > 0 else [])]
        return KernelError(
            f"none of the {len(listed)} configurations of `{self.name}` works here:\n"
            + "\n".join(lines)
        )


def _described(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _outstanding(place: Place) -> list[str]:
    """Errors that a failed candidate left in the queue: they are its own, not the next launch's."""
    try:
        place.sync()
    except Exception as error:
        return [_described(error)]
    return []
