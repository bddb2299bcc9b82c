"""Undoing a broadcast in a backward pass: the sum over the dimensions that were stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firebrick.errors import ShapeError

if TYPE_CHECKING:
    from firebrick.backend import Backend


def broadcast_shape(backend: Backend[Any], grad: Any, shape: Sequence[int]) -> Any:
    """Sums `grad` over the dimensions along which an operand of `shape` was broadcast.

    Args:
        backend: The backend that `grad` belongs to.
        grad: A float tensor.
        shape: Sizes of the operand; may have fewer dimensions than `grad`.

    Returns:
        A float tensor of `shape` and of the dtype of `grad`.

    Raises:
        ShapeError: `shape` does not broadcast to the shape of `grad`.
    """
    found, wanted = tuple(grad.shape), tuple(shape)
    if found == wanted:
        return grad
    lead = len(found) - len(wanted)
    fits = lead >= 0 and all(w in (1, f) for w, f in zip(wanted, found[lead:], strict=True))
    if not fits:
        raise ShapeError(
            f"a gradient of shape {list(found)} cannot be summed back to shape {list(wanted)}: "
            "that shape does not broadcast to the gradient's."
        )
    for dim, size in enumerate(found):
        if size != 1 and (dim < lead or wanted[dim - lead] == 1):
            grad = backend.float_sum_dim(grad, dim)
    return backend.float_reshape(grad, wanted) if lead else grad
