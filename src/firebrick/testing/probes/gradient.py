"""First derivatives by backward passes against central differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firebrick.core import BalancedCheckpointing
from firebrick.errors import DTypeError
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import Array, HostValues, exactly, find_difference, snapshot
from firebrick.testing.derivatives import gradients_of, or_zeros
from firebrick.testing.nests import find_leaves
from firebrick.testing.placement import applies
from firebrick.testing.probes.differentiation import Differentiation, derivatives_of
from firebrick.testing.subject import Outcome, attempt, one_line
from firebrick.testing.tolerances import GRADIENT, Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def differentiable_cases(bench: Bench, *, sizes: bool) -> Iterator[Differentiation]:
    """The cases that have derivatives; `sizes` includes those with unusual ones."""
    if not bench.subject.has_gradient or bench.is_mutating:
        return
    for expected in bench.expected if sizes else bench.plain:
        found = derivatives_of(bench, expected.case)
        if isinstance(found, Differentiation):
            yield found


def probe_gradient(bench: Bench) -> Iterator[Fault]:
    """Gradients are the slopes of the operation, whichever inputs are tracked."""
    if not bench.subject.has_gradient or bench.is_mutating:
        return
    yield from _float64_errors(bench)
    if _is_never_finite(bench):
        bench.notes.append(
            f"{bench.subject.name} on {bench.device}: gradients were not checked, since no case "
            "gives finite numbers only; give cases"
        )
    for case in differentiable_cases(bench, sizes=True):
        fault = _wrong_slope(case)
        if fault is not None:
            bench.has_wrong_gradient = True
            yield fault
        elif case.case.role == "plain":
            yield from _other_ways(case)


def _is_never_finite(bench: Bench) -> bool:
    """Whether floats come in and go out, but infinities or NaN in every case."""
    plain = bench.plain
    has_floats = any(
        expected.case.floats()
        and any(v.array.dtype.kind == "f" for _, v in find_leaves(expected.value, HostValues))
        for expected in plain
    )
    found = (derivatives_of(bench, expected.case) for expected in plain)
    return has_floats and all(case is None for case in found)


def _float64_errors(bench: Bench) -> Iterator[Fault]:
    for expected in bench.plain:
        found = derivatives_of(bench, expected.case)
        if isinstance(found, DTypeError):
            bench.notes.append(
                f"{bench.subject.name} on {bench.device}: gradients were not checked, which needs "
                f"float64: {one_line(found)}"
            )
        elif isinstance(found, Exception):
            yield Fault("error", f"with {expected.case} in float64: {one_line(found)}")


def _wrong_slope(case: Differentiation) -> Fault | None:
    """Compares every element with the slope of the operation itself."""
    leaves = case.tensors(case.points)
    before = snapshot(leaves)
    forward = attempt(lambda: case.outputs(leaves))
    if forward.error is not None:
        return Fault("error", f"with {case.case}, tracked: {one_line(forward.error)}")
    values = [output.inner().numpy() for output in forward.value]
    difference = find_difference(values, case.values(case.points), _gradient, "out")
    if difference is not None:
        return Fault("forward", f"with {case.case}: tracked, {difference}, against untracked")
    outcome = attempt(lambda: gradients_of(case.loss(), leaves, outputs=forward.value))
    if outcome.error is not None:
        return Fault("gradient", f"with {case.case}: {one_line(outcome.error)}")
    written = find_difference(snapshot(leaves), before, exactly, "inputs")
    if written is not None:
        return Fault("mutation", f"with {case.case}: after the backward pass {written}")
    return _first_wrong(case, or_zeros(outcome.value, case.points))


def _first_wrong(case: Differentiation, found: Sequence[Array]) -> Fault | None:
    for path, gradient, point in zip(case.paths, found, case.points, strict=True):
        if gradient.shape != point.shape:
            return Fault(
                "gradient",
                f"with {case.case}: the gradient for `{path}` has shape {list(gradient.shape)}",
            )
    for which, index in case.elements():
        mine = float(found[which][index])
        expected = case.numeric(which, index, mine)
        if expected is not None:
            where = f" at {list(index)}" if index else ""
            return Fault(
                "gradient",
                f"with {case.case}: the gradient for `{case.paths[which]}`{where} is {mine:.9g}, "
                f"but {expected:.9g} by central differences",
            )
    return None


def _gradient(path: str, mine: HostValues, theirs: HostValues) -> Tolerance:
    return GRADIENT


def _other_ways(case: Differentiation) -> Iterator[Fault]:
    """The same gradients however inputs and the gradient at the output lie in memory."""
    usual = case.gradients()
    yield from _compared(case, attempt(lambda: case.gradients(upstream="transposed")), usual,
                         "when the gradient at the output is transposed")  # fmt: skip
    for layout in ("transposed", "strided"):
        if any(applies(layout, point) for point in case.points):
            outcome = attempt(lambda layout=layout: case.gradients(layout=layout))
            yield from _compared(case, outcome, usual, f"of {layout} inputs")
    plain_sum = attempt(lambda: case.gradients(ones=True))
    if plain_sum.error is None:
        yield from _compared(case, attempt(lambda: case.gradients(ones=True, upstream="expanded")),
                             plain_sum.value, "of a plain sum of the output")  # fmt: skip
    if len(case.points) > 1:
        for which in range(len(case.points)):
            outcome = attempt(lambda which=which: _one_tracked(case, which))
            yield from _compared(
                case, outcome, [usual[which]], "when nothing else is tracked", [case.paths[which]]
            )
    yield from _same_tensor_twice(case)


def _one_tracked(case: Differentiation, which: int) -> list[Array]:
    tensors = case.tensors(case.points, only=which)
    total = case.loss().of_tensors(case.outputs(tensors), "weighted")
    gradient = None if total is None else tensors[which].grad(total.backward())
    zeros = np.zeros(case.points[which].shape)
    return [zeros if gradient is None else gradient.numpy()]


def _same_tensor_twice(case: Differentiation) -> Iterator[Fault]:
    """A tensor given for two inputs has the sum of their gradients."""
    shapes = [point.shape for point in case.points]
    if len(shapes) < 2 or shapes[0] != shapes[1]:
        return
    points = [case.points[0], *case.points[:1], *case.points[2:]]
    apart = attempt(lambda: case.gradients(points))

    def together() -> list[Array]:
        tensors = case.tensors(points)
        outputs = case.outputs([tensors[0], tensors[0], *tensors[2:]])
        total = case.loss().of_tensors(outputs, "weighted")
        gradient = None if total is None else tensors[0].grad(total.backward())
        return [np.zeros(shapes[0]) if gradient is None else gradient.numpy()]

    if apart.error is None:
        both = [apart.value[0] + apart.value[1]]
        names = f"when it is `{case.paths[1]}` as well"
        yield from _compared(case, attempt(together), both, names, case.paths[:1])


def _compared(
    case: Differentiation,
    outcome: Outcome,
    expected: Sequence[Array],
    when: str,
    paths: Sequence[str] | None = None,
) -> Iterator[Fault]:
    if outcome.error is not None:
        yield Fault("gradient", f"with {case.case}: {when}: {one_line(outcome.error)}")
        return
    names = case.paths if paths is None else paths
    for path, mine, theirs in zip(names, outcome.value, expected, strict=True):
        difference = find_difference(mine, theirs, _gradient, path)
        if difference is not None:
            yield Fault("gradient", f"with {case.case}: {when}, the gradient for {difference}")


def probe_checkpointing(bench: Bench) -> Iterator[Fault]:
    """Recomputing gives the gradients that keeping gives."""
    for case in differentiable_cases(bench, sizes=False):
        kept = attempt(case.gradients)
        if kept.error is not None:
            continue  # told by the gradient probe
        again = attempt(lambda case=case: case.gradients(strategy=BalancedCheckpointing))
        for fault in _compared(case, again, kept.value, "recomputed when checkpointing"):
            yield Fault("checkpointing", fault.message)
