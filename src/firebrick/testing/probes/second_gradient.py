"""Second derivatives: backward passes of backward passes against differences of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firebrick.errors import AutodiffError
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.comparison import Array, close
from firebrick.testing.derivatives import or_zeros, random_weights, second_gradients_of
from firebrick.testing.probes.differentiation import FINER_STEPS, Differentiation
from firebrick.testing.probes.gradient import differentiable_cases
from firebrick.testing.subject import attempt, one_line
from firebrick.testing.tolerances import SECOND_GRADIENT

if TYPE_CHECKING:
    from collections.abc import Iterator


def probe_second_gradient(bench: Bench) -> Iterator[Fault]:
    """A recorded backward pass has the slope of the gradient; one that is refused is noted."""
    # A wrong forward or gradient would show in the curved loss, and is told already.
    curved = not (bench.is_wrong or bench.has_wrong_gradient)
    for case in differentiable_cases(bench, sizes=False):
        directions = random_weights([point.shape for point in case.points], bench.seed + 1)
        outcome = attempt(
            lambda case=case, directions=directions: second_gradients_of(
                case.loss(curved=curved), case.tensors(case.points), directions
            )
        )
        if type(outcome.error) is AutodiffError:
            bench.notes.append(
                f"{bench.subject.name} on {bench.device}: second derivatives are refused: "
                f"{one_line(outcome.error)}"
            )
            return
        if outcome.error is None:
            yield from _compared(case, or_zeros(outcome.value, case.points), directions, curved)
        elif not bench.has_wrong_gradient:
            yield Fault("second gradient", f"with {case.case}: {one_line(outcome.error)}")


def _compared(
    case: Differentiation, found: list[Array], directions: list[Array], curved: bool
) -> Iterator[Fault]:
    numeric = attempt(lambda: case.numeric_second(directions, curved=curved))
    finer = attempt(lambda: case.numeric_second(directions, curved=curved, shrink=FINER_STEPS[1]))
    if numeric.error is not None or finer.error is not None:
        return  # first gradients raise nearby: told by the gradient probe
    quadruple = zip(case.paths, found, numeric.value, finer.value, strict=True)
    for path, mine, theirs, fine in quadruple:
        if mine.shape != theirs.shape:
            yield Fault(
                "second gradient",
                f"with {case.case}: for `{path}` it has shape {list(mine.shape)}",
            )
            continue
        smooth = close(fine, theirs, SECOND_GRADIENT)
        wrong = smooth & ~close(mine, theirs, SECOND_GRADIENT)
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            where = f" at {list(index)}" if index else ""
            yield Fault(
                "second gradient",
                f"with {case.case}: along a random direction the gradient for `{path}`{where} "
                f"changes by {mine[index]:.9g}, but by {theirs[index]:.9g} by central differences",
            )
