"""Results on the device against the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.core import Device
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import HostValues, find_difference
from firebrick.testing.nests import find_leaves
from firebrick.testing.subject import is_metadata_error, one_line
from firebrick.testing.tolerances import PARITY_FACTOR, Tolerance, tolerance_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.testing.oracle import Expected


def probe_forward(bench: Bench) -> Iterator[Fault]:
    """Every plain case gives what the oracle gives; one that raises is left out from now on."""
    for expected in bench.plain:
        outcome = bench.run(expected.case)
        if outcome.error is not None:
            bench.expected.remove(expected)
            kind = "metadata" if is_metadata_error(outcome.error) else "error"
            yield Fault(kind, f"with {expected.case}: {one_line(outcome.error)}")
            continue
        difference = parity(expected, outcome.value, bench)
        if difference is not None:
            bench.is_wrong = True
            yield Fault("forward", f"with {expected.case}: {difference}")


def parity(expected: Expected, actual: Any, bench: Bench) -> str | None:
    """How a result differs from the oracle's, in value or in the dtype of a float."""
    if bench.is_random:
        return None

    def allow(path: str, mine: HostValues, theirs: HostValues) -> Tolerance:
        usual = tolerance_of(mine.dtype).scaled(PARITY_FACTOR)
        return usual.plus(expected.slack.get(path, 0.0))

    difference = find_difference(actual, expected.value, allow, "out")
    if difference is not None:
        return f"{difference}, against {expected.source}"
    if bench.device.float_dtype is not Device.ndarray().float_dtype:
        return None
    for path, values in find_leaves(actual, HostValues, "out"):
        declared = expected.dtypes.get(path)
        if declared is None or declared.kind != "float":
            continue
        if values.dtype is not declared:
            return f"`{path}` has dtype {values.dtype}, but {declared} in {expected.source}"
    return None
