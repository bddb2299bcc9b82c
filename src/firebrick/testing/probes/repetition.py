"""The same call gives the same result: now, again, and from several threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TYPE_CHECKING

from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import Allow, by_dtype, exactly, find_difference
from firebrick.testing.placement import place
from firebrick.testing.subject import Outcome, one_line

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from firebrick.testing.case import Case

THREADS = 4
CALLS = 8
SWITCH_INTERVAL_S = 1e-6
"""Of Python's threads while they are probed: short, so that they meet inside an operation."""


def probe_repetition(bench: Bench) -> Iterator[Fault]:
    """A second call gives the same bits."""
    for expected in bench.plain:
        first, again = bench.run(expected.case), bench.run(expected.case)
        difference = _difference(again, first, exactly)
        if difference is not None:
            yield Fault("forward", f"with {expected.case}: called again, {difference}")


def probe_threads(bench: Bench) -> Iterator[Fault]:
    """Calls from several threads, each with values of its own, give what one thread gives."""
    if bench.is_random:
        return  # which thread draws which numbers is left open
    cases = [case for case in bench.twins if bench.run(case).error is None][:THREADS]
    if not cases or not bench.plain:
        return
    alone = [bench.run(case) for case in cases]
    with _frequent_switches(), ThreadPoolExecutor(len(cases)) as pool:
        barrier = Barrier(len(cases))
        calls = [pool.submit(_repeated, bench, case, barrier) for case in cases]
        together = [call.result() for call in calls]
    for case, expected, outcomes in zip(cases, alone, together, strict=True):
        for outcome in outcomes:
            difference = _difference(outcome, expected, by_dtype)
            if difference is not None:
                text = f"with {case}: from {len(cases)} threads at once, {difference}"
                yield Fault("threads", text)


def _repeated(bench: Bench, case: Case, barrier: Barrier) -> list[Outcome]:
    calls = [place(case, bench.device) for _ in range(CALLS)]
    barrier.wait()
    return [bench.subject.run(arguments) for arguments in calls]


@contextmanager
def _frequent_switches() -> Generator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _difference(outcome: Outcome, expected: Outcome, allow: Allow) -> str | None:
    if outcome.error is not None:
        return None if expected.error is not None else one_line(outcome.error)
    if expected.error is not None:
        return f"nothing is raised, but at first {one_line(expected.error)}"
    return find_difference(outcome.value, expected.value, allow, "out")
