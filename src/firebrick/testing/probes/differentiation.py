"""One case on one device as a function of its float tensors, with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from firebrick.core import CheckpointStrategy, NoCheckpointing, float64
from firebrick.tensor import Tensor
from firebrick.testing.comparison import Array, HostValues, close
from firebrick.testing.derivatives import (
    Loss,
    Upstream,
    gradients_of,
    or_zeros,
    partial_derivative,
    random_weights,
    slope_along,
)
from firebrick.testing.nests import find_leaves
from firebrick.testing.placement import Layout, dtype_for, laid_out
from firebrick.testing.subject import attempt
from firebrick.testing.tolerances import GRADIENT, Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firebrick.testing.bench import Bench
    from firebrick.testing.case import Case, HostTensor

MAX_ELEMENTS = 64
"""Elements whose derivative is compared; of larger cases as many are drawn."""
FINER_STEPS = (0.57, 0.31)
"""Smaller steps: where all give the same derivative, the function is smooth. Their ratios are odd,
so that rounding to a coarser dtype does not look smooth."""
LOSS_SHARE = 1e-9
"""How much of a loss may be lost in its derivative: unit roundoff over step, times 50."""


@dataclass(frozen=True, slots=True)
class Differentiation:
    """The derivatives of one case; `paths` and `points` are its float tensors."""

    bench: Bench
    case: Case
    paths: list[str]
    points: list[Array]
    weights: list[Array]

    @classmethod
    def of(cls, bench: Bench, case: Case) -> Differentiation | None:
        """None where there is nothing to derive: no float comes in or goes out, or no number.

        Raises: what the operation raises in float64.
        """
        paths = [path for path, tensor in case.tensors() if tensor.kind == "float"]
        points = case.floats()
        outputs = cls(bench, case, paths, points, []).values(points)
        if not points or not outputs or not all(np.isfinite(o).all() for o in outputs):
            return None
        weights = random_weights([output.shape for output in outputs], bench.seed)
        return cls(bench, case, paths, points, weights)

    def loss(self, *, curved: bool = False, ones: bool = False) -> Loss:
        """The weighted sum of the outputs; with `ones` every weight is 1."""
        weights = [np.ones_like(weight) for weight in self.weights] if ones else self.weights
        return Loss(self.outputs, weights, curved)

    def outputs(self, tensors: list[Tensor]) -> list[Tensor]:
        """The float outputs of the operation on these float tensors."""
        following = iter(tensors)
        device = tensors[0].device if tensors else self.bench.device

        def tensor(_: str, leaf: HostTensor) -> Tensor:
            if leaf.kind == "float":
                return next(following)
            return laid_out(leaf.array, device, dtype_for(leaf, device, "float64"), "contiguous")

        with np.errstate(all="ignore"):
            found = self.bench.subject.call(self.case.filled(tensor, device))
        return [out for _, out in find_leaves(found, Tensor) if out.kind == "float"]

    def values(self, points: Sequence[Array]) -> list[Array]:
        """The float outputs on the device under test, without autodiff."""
        device = self.bench.device
        tensors = [laid_out(point, device, float64, "contiguous") for point in points]
        return [output.numpy().astype(np.float64) for output in self.outputs(tensors)]

    def value(self, points: list[Array]) -> float:
        """The loss on the device under test."""
        return self.loss().of_values(self.values(points))

    def oracle_value(self, points: list[Array]) -> float:
        """The loss of the oracle's result."""
        following = iter(points)

        def moved(leaf: HostTensor) -> HostTensor:
            return leaf.with_values(next(following)) if leaf.kind == "float" else leaf

        outcome = self.bench.oracle.value(self.case.changed(moved))
        if outcome.error is not None:
            return float("nan")
        leaves = [values.array for _, values in find_leaves(outcome.value, HostValues)]
        return self.loss().of_values([array for array in leaves if array.dtype.kind == "f"])

    def tensors(
        self,
        points: Sequence[Array],
        *,
        strategy: type[CheckpointStrategy] = NoCheckpointing,
        layout: Layout = "contiguous",
        only: int | None = None,
    ) -> list[Tensor]:
        """The float tensors on the autodiff device, marked as leaves; `only` one of them."""
        device = self.bench.device.autodiff(checkpointing=strategy)
        found = [laid_out(point, device, float64, layout) for point in points]
        return [
            tensor.require_grad() if only in (None, position) else tensor
            for position, tensor in enumerate(found)
        ]

    def gradients(
        self,
        points: Sequence[Array] | None = None,
        *,
        strategy: type[CheckpointStrategy] = NoCheckpointing,
        layout: Layout = "contiguous",
        upstream: Upstream = "weighted",
        ones: bool = False,
        curved: bool = False,
    ) -> list[Array]:
        """The gradient for every float tensor by a backward pass."""
        where = self.points if points is None else points
        leaves = self.tensors(where, strategy=strategy, layout=layout)
        loss = self.loss(curved=curved, ones=ones)
        return or_zeros(gradients_of(loss, leaves, upstream=upstream), where)

    def elements(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The elements whose derivatives are compared: tensor and index."""
        every: list[tuple[int, tuple[int, ...]]] = [
            (which, index)
            for which, point in enumerate(self.points)
            for index in np.ndindex(point.shape)
        ]
        if len(every) > MAX_ELEMENTS:
            rng = np.random.default_rng(self.bench.seed)
            every = [every[i] for i in sorted(rng.permutation(len(every))[:MAX_ELEMENTS])]
        return iter(every)

    def numeric(self, which: int, index: tuple[int, ...], found: float) -> float | None:
        """A trustworthy central difference that contradicts `found`; None if there is none.

        Where two steps disagree the function has a kink, or does not compute in float64; then
        the oracle is asked, as it is where results are wrong already.
        """
        tolerance = GRADIENT.plus(LOSS_SHARE * abs(self.value(self.points)))
        own = () if self.bench.is_wrong else (self.value,)
        for loss in (*own, self.oracle_value):
            coarse = partial_derivative(loss, self.points, which, index)
            if _agree(found, coarse, tolerance):
                return None
            fine = [
                partial_derivative(loss, self.points, which, index, shrink=shrink)
                for shrink in FINER_STEPS
            ]
            if all(_agree(value, coarse, tolerance) for value in fine):
                return coarse
        return None

    def numeric_second(
        self, directions: Sequence[Array], *, curved: bool, shrink: float = 1.0
    ) -> list[Array]:
        """How the gradient changes along a direction."""
        return slope_along(
            lambda points: self.gradients(points, curved=curved),
            self.points,
            directions,
            shrink=shrink,
        )


def _agree(found: float, expected: float, tolerance: Tolerance) -> bool:
    return bool(close(np.asarray(found), np.asarray(expected), tolerance))


def derivatives_of(bench: Bench, case: Case) -> Differentiation | Exception | None:
    """As `Differentiation.of`, with what the operation raises in place of the result."""
    outcome = attempt(lambda: Differentiation.of(bench, case))
    return outcome.value if outcome.error is None else outcome.error
