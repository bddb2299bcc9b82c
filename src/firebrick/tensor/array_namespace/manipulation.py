"""Shapes and orders of elements.

https://data-apis.org/array-api/2024.12/API_specification/manipulation_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import broadcast_shapes
from firebrick.errors import ShapeError
from firebrick.tensor.checks import dim_of, dims_of
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Axes: TypeAlias = int | Sequence[int]


def _axes(axis: Axes) -> tuple[int, ...]:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """All tensors in the shape that they broadcast to."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [x.expand(shape) for x in arrays]


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """`x` repeated to that shape."""
    return x.expand(tuple(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Side by side along `axis`; flattened first for None."""
    if axis is None:
        return Tensor.cat([x.flatten() for x in arrays], 0)
    return Tensor.cat(arrays, axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Side by side along a new dimension."""
    return Tensor.stack(arrays, axis)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of `x` along `axis`, without that dimension."""
    return tuple(moveaxis(x, axis, 0))


def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    """With a new dimension of size 1."""
    return x.unsqueeze(axis)


def squeeze(x: Tensor, /, axis: Axes) -> Tensor:
    """Without dimensions of size 1."""
    for dim in sorted(dims_of("squeeze", _axes(axis), x.ndim), reverse=True):
        x = x.squeeze(dim)
    return x


def flip(x: Tensor, /, *, axis: Axes | None = None) -> Tensor:
    """In reverse order; along all dimensions for None."""
    axes = range(x.ndim) if axis is None else _axes(axis)
    return x.flip(*axes) if axes else x


def moveaxis(x: Tensor, source: Axes, destination: Axes, /) -> Tensor:
    """Dimensions moved to other places; the others keep their order."""
    sources = dims_of("moveaxis", _axes(source), x.ndim)
    targets = dims_of("moveaxis", _axes(destination), x.ndim)
    if len(sources) != len(targets):
        raise ShapeError(
            f"`moveaxis` takes as many sources as destinations; got {list(sources)} and "
            f"{list(targets)}."
        )
    order = [dim for dim in range(x.ndim) if dim not in sources]
    for target, dim in sorted(zip(targets, sources, strict=True)):
        order.insert(target, dim)
    return x.permute(order)


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """The dimensions in another order."""
    return x.permute(tuple(axes))


def reshape(x: Tensor, /, shape: Sequence[int], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape. Tensors are immutable, so `copy` changes nothing."""
    return x.reshape(tuple(shape))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element `repeats` times in a row; a tensor says how often for each along `axis`."""
    whole = x.flatten() if axis is None else x
    dim = dim_of("repeat", 0 if axis is None else axis, whole.ndim)
    size = whole.shape[dim]
    counts = [repeats] * size if isinstance(repeats, int) else repeats.expand(size).tolist()
    positions = [place for place, count in enumerate(counts) for _ in range(count)]
    return whole.select(dim, Tensor.from_ints(positions, x.device))


def roll(x: Tensor, /, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """Elements moved forward; those that leave at the end enter at the start."""
    if axis is None:
        return roll(x.flatten(), shift, axis=0).reshape(x.shape)
    axes, shifts = _axes(axis), _axes(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ShapeError(
            f"`roll` takes one shift, or one for each axis; got {len(shifts)} for {len(axes)}."
        )
    for dim, offset in zip(axes, shifts, strict=True):
        x = _roll(x, dim_of("roll", dim, x.ndim), offset)
    return x


def _roll(x: Tensor, dim: int, shift: int) -> Tensor:
    size = x.shape[dim]
    cut = -shift % size if size else 0
    if cut == 0:
        return x
    before = (slice(None),) * dim
    return Tensor.cat([x[(*before, slice(cut, None))], x[(*before, slice(0, cut))]], dim)


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """The whole tensor side by side."""
    missing = x.ndim - len(repetitions)
    return x.repeat(*(1,) * missing, *repetitions)
