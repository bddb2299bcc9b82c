"""Inputs stay as they are: bytes before and after, and inputs that cannot be written at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor
from firebrick.opset import from_dispatch, into_dispatch
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import exactly, find_difference, snapshot
from firebrick.testing.nests import replace_leaves
from firebrick.testing.placement import Layout, in_layout, place
from firebrick.testing.subject import attempt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.testing.case import Case

LAYOUTS: tuple[Layout, ...] = ("contiguous", "transposed", "strided")


def probe_mutation(bench: Bench) -> Iterator[Fault]:
    """No input is written, and an implementation does without writing inputs."""
    for expected in bench.plain:
        for layout in LAYOUTS:
            case = in_layout(expected.case, layout) if layout != "contiguous" else expected.case
            if case is not None:
                yield from _written(bench, case, layout)
        yield from _needs_to_write(bench, expected.case)


def _written(bench: Bench, case: Case, layout: Layout) -> Iterator[Fault]:
    arguments = place(case, bench.device, layout=layout)
    before = snapshot(arguments)
    outcome = attempt(lambda: bench.subject.call(arguments))
    if outcome.error is not None:
        return  # told by another probe
    difference = find_difference(snapshot(arguments), before, exactly, "inputs")
    if difference is not None:
        bench.is_mutating = True
        path = difference.replace("`inputs.", "`", 1)
        yield Fault("mutation", f"with {layout} {case}: after the call {path}")


def _needs_to_write(bench: Bench, case: Case) -> Iterator[Fault]:
    """Raises on inputs that cannot be written, and only on those."""
    arguments = from_dispatch(_read_only(into_dispatch(place(case, bench.device))))
    outcome = attempt(lambda: bench.subject.call(arguments))
    if outcome.error is not None:
        yield Fault("mutation", f"with {case} that cannot be written: {one_line(outcome.error)}")


def _read_only(value: Any) -> Any:
    def guarded(tensor: DispatchTensor) -> DispatchTensor:
        backend: Any = tensor.backend
        return DispatchTensor(backend.read_only(tensor.primitive), tensor.kind, backend)

    return replace_leaves(value, DispatchTensor, guarded)
