"""Outputs have memory of their own, unless the declaration says that they are views."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from firebrick.testing.bench import Bench, Fault, dispatched
from firebrick.testing.comparison import exactly, find_difference, snapshot
from firebrick.testing.placement import Layout, in_layout, place
from firebrick.testing.subject import attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.testing.case import Case

LAYOUTS: tuple[Layout, ...] = ("contiguous", "transposed", "strided")


def probe_aliasing(bench: Bench) -> Iterator[Fault]:
    """No output is a new view of an input, of another output or of what a later call writes."""
    for expected in bench.plain:
        for layout in LAYOUTS:
            case = in_layout(expected.case, layout) if layout != "contiguous" else expected.case
            if case is not None:
                yield from _shared(bench, case, layout)
    yield from _overwritten(bench)


def _shared(bench: Bench, case: Case, layout: Layout) -> Iterator[Fault]:
    arguments = place(case, bench.device, layout=layout)
    outcome = attempt(lambda: bench.subject.call(arguments))
    if outcome.error is not None:
        return  # told by another probe
    inputs = dispatched(arguments)
    outputs = [(f"out.{path}" if path else "out", t) for path, t in dispatched(outcome.value)]
    views = bench.subject.operation.views
    declared = [t for path, t in inputs if path.partition(".")[0] in views]
    for name, output in outputs:
        for path, tensor in inputs:
            if path.partition(".")[0] not in views and _is_new_view(output, tensor):
                yield Fault(
                    "aliasing",
                    f"with {layout} {case}: `{name}` shares memory with `{path}`; copy it, or "
                    f'declare `@views("{path.partition(".")[0]}")`',
                )
    for (first, one), (second, other) in combinations(outputs, 2):
        if any(_is_new_view(one, tensor) for tensor in declared):
            continue
        if _is_new_view(one, other):
            text = f"with {layout} {case}: `{first}` shares memory with `{second}`"
            yield Fault("aliasing", text)


def _is_new_view(output: Any, tensor: Any) -> bool:
    """Whether two dispatched tensors are different objects over the same memory."""
    if output.primitive is tensor.primitive or output.backend is not tensor.backend:
        return False
    return output.backend.shares_memory(output.primitive, tensor.primitive)


def _overwritten(bench: Bench) -> Iterator[Fault]:
    """An output that changes when the operation is called again."""
    if not bench.plain:
        return
    case = bench.plain[0].case
    first = attempt(lambda: bench.subject.call(place(case, bench.device)))
    before = attempt(lambda: snapshot(first.value))
    for twin in bench.twins:
        attempt(lambda twin=twin: bench.subject.call(place(twin, bench.device)))
    if first.error is not None or before.error is not None:
        return  # told by another probe
    difference = find_difference(snapshot(first.value), before.value, exactly, "out")
    if difference is not None:
        yield Fault("aliasing", f"with {case}: another call changes the output: {difference}")
