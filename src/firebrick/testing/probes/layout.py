"""Inputs that are not contiguous, and sizes that are often forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import HostValues, find_difference
from firebrick.testing.placement import OTHER_LAYOUTS, Layout, in_layout
from firebrick.testing.probes.forward import parity
from firebrick.testing.subject import is_metadata_error, one_line
from firebrick.testing.tolerances import Tolerance, tolerance_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.testing.oracle import Expected


def probe_layouts(bench: Bench) -> Iterator[Fault]:
    """Transposed, strided and broadcast inputs give what contiguous ones give."""
    for expected in bench.plain:
        for layout in OTHER_LAYOUTS:
            yield from _one_layout(bench, expected, layout)


def _one_layout(bench: Bench, expected: Expected, layout: Layout) -> Iterator[Fault]:
    case = in_layout(expected.case, layout)
    if case is None:
        return
    contiguous = bench.run(case)
    other = bench.run(case, layout=layout)
    if contiguous.error is not None:
        return  # equal rows, which an operation may refuse
    if other.error is not None:
        yield Fault("layout", f"with {layout} {case}: {one_line(other.error)}")
        return

    def allow(path: str, mine: HostValues, theirs: HostValues) -> Tolerance:
        return tolerance_of(mine.dtype).plus(expected.slack.get(path, 0.0))

    difference = find_difference(other.value, contiguous.value, allow, "out")
    if difference is not None:
        yield Fault("layout", f"with {layout} {case}: {difference}, against contiguous inputs")


def probe_sizes(bench: Bench) -> Iterator[Fault]:
    """Sizes of 0 and 1, 0-d and other ranks give what the oracle gives; what raises is left out."""
    for expected in [e for e in bench.expected if e.case.role == "sizes"]:
        outcome = bench.run(expected.case)
        if outcome.error is not None:
            bench.expected.remove(expected)
            kind = "metadata" if is_metadata_error(outcome.error) else "layout"
            yield Fault(kind, f"with {expected.case}: {one_line(outcome.error)}")
            continue
        difference = parity(expected, outcome.value, bench)
        if difference is not None and not bench.is_wrong:
            yield Fault("layout", f"with {expected.case}: {difference}")
