"""Finding, choosing and ordering elements.

https://data-apis.org/array-api/2024.12/API_specification/searching_functions.html, and
`sorting_functions.html`, `indexing_functions.html` beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import broadcast_shapes
from firebrick.errors import ShapeError
from firebrick.tensor.array_namespace.operands import both
from firebrick.tensor.checks import dim_of
from firebrick.tensor.operations import BOOL
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from firebrick.core import Scalar

    Axes: TypeAlias = int | Sequence[int] | None


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the largest element; among all in row-major order for None."""
    if axis is not None:
        return x.argmax(axis, keepdim=keepdims)
    return _among_all(x, x.flatten().argmax(0), keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the smallest element; among all in row-major order for None."""
    if axis is not None:
        return x.argmin(axis, keepdim=keepdims)
    return _among_all(x, x.flatten().argmin(0), keepdims)


def _among_all(x: Tensor, position: Tensor, keepdims: bool) -> Tensor:
    return position.reshape((1,) * x.ndim) if keepdims else position


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero."""
    return x.bool().sum(axis, keepdim=keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Positions of elements that are not zero, one tensor per dimension."""
    if x.ndim == 0:
        raise ShapeError("`nonzero` takes a tensor of at least one dimension; got a 0-d one.")
    mask = x.bool()
    places = BOOL.bool_argwhere(mask.into_dispatch(), x.device.int_dtype)
    coordinates = Tensor.from_dispatch(places)
    return tuple(coordinates[:, dim] for dim in range(x.ndim))


def searchsorted(
    x1: Tensor,
    x2: Tensor,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:
    """Where each element of `x2` would stand in the sorted `x1`, before or after equal ones."""
    if x1.ndim != 1 or side not in ("left", "right"):
        raise ShapeError(
            "`searchsorted` takes a 1-D sorted tensor and the sides 'left' and 'right'; got "
            f"shape {list(x1.shape)} and {side!r}."
        )
    ordered = x1 if sorter is None else x1.select(0, sorter)
    low = Tensor.zeros(x2.shape, x2.device, dtype=x2.device.int_dtype)
    high = low + ordered.size
    # Halves the candidates of all elements at once; `high` shrinks to the answer.
    for _ in range(ordered.size.bit_length()):
        middle = (low + high) // 2
        found = ordered[middle.clamp(max=ordered.size - 1)]
        after = found < x2 if side == "left" else found <= x2
        is_open = low < high
        low = low.mask_where(after & is_open, middle + 1)
        high = high.mask_where(~after & is_open, middle)
    return low


def where(condition: Tensor, x1: Tensor | Scalar, x2: Tensor | Scalar, /) -> Tensor:
    """`x1` where the condition is true, else `x2`."""
    x1, x2 = both("where", x1, x2)
    return x2.mask_where(condition, x1)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """In order along `axis`; always stable."""
    return x.sort(axis, descending=descending)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The positions that sort `axis`; always stable."""
    return x.argsort(axis, descending=descending)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements along `axis` that a tensor of positions names; negative ones from the end."""
    if axis is None and x.ndim != 1:
        raise ShapeError(f"`take` needs an `axis` for a tensor of shape {list(x.shape)}.")
    dim = dim_of("take", axis or 0, x.ndim)
    return x[(*(slice(None),) * dim, indices)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """One element per index along `axis`; the other dimensions broadcast."""
    dim = dim_of("take_along_axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ShapeError(
            "`take_along_axis` takes indices of as many dimensions as the tensor; got shapes "
            f"{list(indices.shape)} and {list(x.shape)}."
        )
    shape = broadcast_shapes(x.shape.replace(dim, 1), indices.shape.replace(dim, 1))
    whole = x.expand(shape.replace(dim, x.shape[dim]))
    return whole.gather(dim, indices.expand(shape.replace(dim, indices.shape[dim])))
