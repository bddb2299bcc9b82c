"""Derivatives of a function on tensors, by backward passes and by central differences.

A function takes float tensors and returns float tensors. It is made a number by a weighted sum of
its outputs, so that one backward pass gives a gradient for each input, whatever the outputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from firebrick.tensor import Tensor

if TYPE_CHECKING:
    from firebrick.core import Device, DType
    from firebrick.testing.comparison import Array

Function: TypeAlias = Callable[[list[Tensor]], list[Tensor]]
Values: TypeAlias = "Callable[[list[Array]], list[Array]]"
Upstream: TypeAlias = Literal["weighted", "expanded", "transposed"]
"""The layout of the gradient that arrives at the outputs: contiguous, stride 0, or transposed."""

STEP = 6e-6
"""Of central differences in float64: the cube root of the unit roundoff, times the value where
that is larger than 1 (Press et al., "Numerical Recipes", section 5.7)."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A weighted sum of the outputs of a function; `curved` adds half their squares.

    The curved one has a gradient at the outputs that depends on the inputs, so that a second
    derivative passes through every part of a backward pass.
    """

    function: Function
    weights: list[Array]
    curved: bool = False

    def of_values(self, outputs: Sequence[Array]) -> float:
        """The number for outputs on the host."""
        total = 0.0
        for weight, output in zip(self.weights, outputs, strict=True):
            values = output.astype(np.float64)
            if self.curved:
                values = values + values * values / 2
            total += float((weight * values).sum())
        return total

    def of_tensors(self, outputs: Sequence[Tensor], upstream: Upstream) -> Tensor | None:
        """The same as a 0-d tensor that depends on what is tracked; None if nothing is."""
        total: Tensor | None = None
        for weight, output in zip(self.weights, outputs, strict=True):
            if not output.is_tracked:
                continue
            values = output + output * output * 0.5 if self.curved else output
            term = _weighted(values, weight, upstream)
            total = term if total is None else total + term
        return total


def _weighted(values: Tensor, weight: Array, upstream: Upstream) -> Tensor:
    if upstream == "expanded":  # the weights are 1
        return values.sum()
    if upstream == "transposed":
        values, weight = values.permute(*reversed(range(values.ndim))), weight.T
    return (values * Tensor(weight.copy(), values.device, dtype=values.dtype)).sum()


def leaves_on(points: Sequence[Array], device: Device, dtype: DType) -> list[Tensor]:
    """Marked leaves with these values on an autodiff device."""
    return [Tensor(point.copy(), device, dtype=dtype).require_grad() for point in points]


def gradients_of(
    loss: Loss,
    leaves: Sequence[Tensor],
    *,
    upstream: Upstream = "weighted",
    outputs: Sequence[Tensor] | None = None,
) -> list[Array | None]:
    """The gradient of each leaf by a backward pass; None where nothing arrives."""
    found = loss.function(list(leaves)) if outputs is None else outputs
    total = loss.of_tensors(found, upstream)
    if total is None:
        return [None for _ in leaves]
    gradients = total.backward()
    return [_read(leaf.grad(gradients)) for leaf in leaves]


def second_gradients_of(
    loss: Loss, leaves: Sequence[Tensor], directions: Sequence[Array]
) -> list[Array | None]:
    """How the gradient changes along a direction, by a backward pass through the backward pass."""
    total = loss.of_tensors(loss.function(list(leaves)), "weighted")
    if total is None:
        return [None for _ in leaves]
    gradients = total.backward(create_graph=True)
    slope: Tensor | None = None
    for leaf, direction in zip(leaves, directions, strict=True):
        gradient = leaf.grad(gradients)
        if gradient is None or not gradient.is_tracked:
            continue
        term = (gradient * Tensor(direction.copy(), gradient.device, dtype=gradient.dtype)).sum()
        slope = term if slope is None else slope + term
    if slope is None:
        return [None for _ in leaves]
    second = slope.backward()
    return [_read(leaf.grad(second)) for leaf in leaves]


def _read(gradient: Tensor | None) -> Array | None:
    return None if gradient is None else gradient.inner().numpy().copy()


def or_zeros(gradients: Sequence[Array | None], points: Sequence[Array]) -> list[Array]:
    """Gradients with zeros where there is none."""
    pairs = zip(gradients, points, strict=True)
    return [np.zeros(p.shape) if g is None else g for g, p in pairs]


def partial_derivative(
    loss: Callable[[list[Array]], float],
    points: Sequence[Array],
    which: int,
    index: tuple[int, ...],
    *,
    shrink: float = 1.0,
) -> float:
    """The central difference of a number in one element of one point."""
    value = float(points[which][index])
    step = STEP * max(1.0, abs(value)) * shrink
    upper, lower = value + step, value - step

    def at(changed: float) -> float:
        moved = [point.copy() for point in points]
        moved[which][index] = changed
        return loss(moved)

    return (at(upper) - at(lower)) / (upper - lower)


def numeric_gradients(loss: Callable[[list[Array]], float], points: Sequence[Array]) -> list[Array]:
    """Central differences in every element of every point."""
    found: list[Array] = []
    for which, point in enumerate(points):
        gradient = np.zeros(point.shape)
        for index in np.ndindex(point.shape):
            gradient[index] = partial_derivative(loss, points, which, index)
        found.append(gradient)
    return found


def slope_along(
    vectors: Values,
    points: Sequence[Array],
    directions: Sequence[Array],
    *,
    shrink: float = 1.0,
) -> list[Array]:
    """The central difference of several arrays along one direction of all points."""
    largest = max((float(np.abs(point).max(initial=0.0)) for point in points), default=0.0)
    step = STEP * max(1.0, largest) * shrink

    def at(distance: float) -> list[Array]:
        pairs = zip(points, directions, strict=True)
        return vectors([point + distance * direction for point, direction in pairs])

    return [(u - v) / (2 * step) for u, v in zip(at(step), at(-step), strict=True)]


def random_weights(shapes: Sequence[tuple[int, ...]], seed: int) -> list[Array]:
    """Weights between 0.5 and 1.5 of either sign: none is small enough to hide an element."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape) for shape in shapes]
