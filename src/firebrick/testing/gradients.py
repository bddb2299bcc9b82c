"""`check_gradients`: backward passes of any function on tensors against central differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from firebrick.core import float64
from firebrick.errors import KindError
from firebrick.tensor import Tensor
from firebrick.testing.comparison import close
from firebrick.testing.derivatives import (
    Function,
    Loss,
    gradients_of,
    leaves_on,
    numeric_gradients,
    or_zeros,
    random_weights,
    second_gradients_of,
    slope_along,
)
from firebrick.testing.tolerances import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firebrick.core import Device
    from firebrick.testing.comparison import Array

SEED = 0
"""Of the weights and directions: the same call checks the same numbers."""


def check_gradients(
    function: Callable[..., Tensor],
    *inputs: Tensor,
    order: Literal[1, 2] = 1,
    rtol: float = 1e-3,
    atol: float = 1e-4,
) -> None:
    """Compares gradients with central differences; `AssertionError` naming input and element.

    Float inputs become float64 leaves on the autodiff device of the first input; ints and bools
    are passed as they are. `order=2` compares second derivatives too.

    Raises: `KindError` when there is no float among the inputs, or `function` returns anything
    but a float tensor.
    """
    which = [position for position, tensor in enumerate(inputs) if tensor.kind == "float"]
    if not which:
        raise KindError("`check_gradients` needs a float tensor among its inputs; got none.")
    device = inputs[which[0]].device.autodiff()
    points = [inputs[position].inner().cast(float64).numpy().copy() for position in which]
    call = _call(function, inputs, which, device)
    outputs = call([Tensor(point, device, dtype=float64) for point in points])
    weights = random_weights([tuple(output.shape) for output in outputs], SEED)
    tolerance = Tolerance(rtol, atol)
    _check_first(Loss(call, weights), points, device, tolerance, which)
    if order == 2:
        _check_second(Loss(call, weights, curved=True), points, device, tolerance, which)


def _call(
    function: Callable[..., Tensor], inputs: Sequence[Tensor], which: Sequence[int], device: Device
) -> Function:
    """`function` of the float inputs alone."""
    others = [Tensor(t.inner().numpy().copy(), device, dtype=t.dtype) for t in inputs]

    def call(tensors: list[Tensor]) -> list[Tensor]:
        arguments = list(others)
        for position, tensor in zip(which, tensors, strict=True):
            arguments[position] = tensor
        output: Any = function(*arguments)
        if not isinstance(output, Tensor) or output.kind != "float":
            found = f"kind {output.kind}" if isinstance(output, Tensor) else type(output).__name__
            raise KindError(
                f"`check_gradients` needs a function that returns one float tensor; got {found}."
            )
        return [output]

    return call


def _check_first(
    loss: Loss, points: list[Array], device: Device, tolerance: Tolerance, which: Sequence[int]
) -> None:
    found = or_zeros(gradients_of(loss, leaves_on(points, device, float64)), points)

    def value(moved: list[Array]) -> float:
        tensors = [Tensor(point, device, dtype=float64) for point in moved]
        return loss.of_values([output.inner().numpy() for output in loss.function(tensors)])

    _compare(found, numeric_gradients(value, points), tolerance, which, "gradient")


def _check_second(
    loss: Loss, points: list[Array], device: Device, tolerance: Tolerance, which: Sequence[int]
) -> None:
    directions = random_weights([point.shape for point in points], SEED + 1)
    leaves = leaves_on(points, device, float64)
    found = or_zeros(second_gradients_of(loss, leaves, directions), points)

    def gradients(moved: list[Array]) -> list[Array]:
        return or_zeros(gradients_of(loss, leaves_on(moved, device, float64)), moved)

    expected = slope_along(gradients, points, directions)
    _compare(found, expected, tolerance, which, "second derivative along a random direction")


def _compare(
    found: list[Array],
    expected: list[Array],
    tolerance: Tolerance,
    which: Sequence[int],
    what: str,
) -> None:
    for position, mine, theirs in zip(which, found, expected, strict=True):
        far = ~close(mine, theirs, tolerance)
        if not far.any():
            continue
        distance = np.where(far, np.nan_to_num(np.abs(mine - theirs), nan=np.inf), -1.0)
        index = np.unravel_index(int(distance.argmax()), distance.shape)
        element = f"element {[int(i) for i in index]} of input {position}"
        raise AssertionError(
            f"the {what} of {element} is {mine[index]:.9g} by backward but {theirs[index]:.9g} by "
            f"central differences ({tolerance}; {int(far.sum())} of {far.size} elements differ)."
        )
