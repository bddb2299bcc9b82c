"""Measures ours and a peer in turns, and prints and writes the medians.

Absolute times move from run to run on a shared machine; a ratio of two medians of interleaved
rounds moves far less, so bars are ratios or differences of those. Nothing here knows what is
measured.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

PACKAGES = ("firebrick", "numpy", "torch")
"""Whose versions a result is worth nothing without."""

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often to measure: `rounds` turns of `calls` calls of each."""

    rounds: int
    calls: int


FULL = Plan(rounds=61, calls=2000)
QUICK = Plan(rounds=11, calls=300)


@dataclass(frozen=True, slots=True)
class Result:
    """One bar: two medians in `unit`, ours over the peer's, and what they were measured on."""

    bar: str
    ours: float
    peer: float
    ratio: float
    unit: str
    machine: str
    versions: dict[str, str]


def compare(bar: str, ours: Work, peer: Work, plan: Plan) -> Result:
    """Medians of the time of one call, in microseconds, from interleaved rounds."""
    for work in (ours, peer):
        _seconds(work, plan.calls // 10)
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(plan.rounds):
        # Whoever goes first finds the caches cold: take turns at that too.
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            taken[which].append(_seconds((ours, peer)[which], plan.calls))
    medians = [statistics.median(seconds) * 1e6 / plan.calls for seconds in taken]
    return result(bar, medians[0], medians[1], "us")


def result(bar: str, ours: float, peer: float, unit: str) -> Result:
    """A result from two medians in `unit`."""
    return Result(bar, ours, peer, ours / peer, unit, _machine(), _versions())


def _seconds(work: Work, calls: int) -> float:
    """The time of `calls` calls, without collections of garbage that others left."""
    gc.collect()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(calls):
            work()
        return perf_counter() - start
    finally:
        gc.enable()


def options(description: str) -> argparse.Namespace:
    """The command line that every benchmark has: `quick` and `json`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: minutes to seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    return parser.parse_args()


def publish(results: Sequence[Result], file: Path | None) -> None:
    """Prints a table; writes `file` as a JSON list with one object per bar."""
    print(f"{'bar':<52} {'ours':>9} {'peer':>9}  unit  ours/peer")
    for each in results:
        print(f"{each.bar:<52} {each.ours:9.2f} {each.peer:9.2f}  {each.unit:<4}  {each.ratio:.3f}")
    if file is not None:
        file.write_text(json.dumps([asdict(each) for each in results], indent=2) + "\n")


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, {_processor()}"


def _processor() -> str:
    """The processor's name where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
