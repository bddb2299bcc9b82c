"""What a call costs: the median time of a few."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from firebrick.tensor import Tensor
from firebrick.testing.nests import replace_leaves
from firebrick.testing.placement import place
from firebrick.testing.report import Cost
from firebrick.testing.subject import attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firebrick.testing.bench import Bench

CALLS = 7


def measure(bench: Bench) -> Cost:
    """The cost of the first plain case, untracked and tracked."""
    if not bench.plain:
        return Cost()
    case = bench.plain[0].case
    arguments = place(case, bench.device)
    plain_us = _median_us(lambda: bench.subject.call(arguments), bench)
    if not bench.subject.is_tracked:
        return Cost(plain_us)
    on_autodiff = place(case, bench.device.autodiff())
    tracked = replace_leaves(on_autodiff, Tensor, _tracked)
    return Cost(plain_us, _median_us(lambda: bench.subject.call(tracked), bench))


def _tracked(tensor: Tensor) -> Tensor:
    return tensor.require_grad() if tensor.kind == "float" else tensor


def _median_us(call: Callable[[], Any], bench: Bench) -> float | None:
    """Microseconds per call, its work included; None if it raises."""
    outcome = attempt(lambda: list(_times(call, bench)))
    return None if outcome.error is not None else statistics.median(outcome.value) * 1e6


def _times(call: Callable[[], Any], bench: Bench) -> Iterator[float]:
    call()  # whatever is compiled at first use
    for _ in range(CALLS):
        bench.device.sync()
        start = time.perf_counter()
        call()
        bench.device.sync()
        yield time.perf_counter() - start
