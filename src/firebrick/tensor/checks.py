"""Arguments of tensor methods: what is accepted, and the message for what is not.

Shapes that meet inside an operation are checked by the operation's own form; here are dimensions
and sizes that a method works out before it calls one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from firebrick.core import normalize_dim
from firebrick.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Dims: TypeAlias = int | Sequence[int] | None


def dim_of(shown: str, dim: int, ndim: int) -> int:
    """`dim` counted from the front."""
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    try:
        return normalize_dim(operator.index(dim), ndim)
    except ShapeError as fact:
        raise ShapeError(f"`{shown}`: {fact}") from None


def dims_of(shown: str, dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Dimensions counted from the front; `ShapeError` where one is named twice."""
    counted = tuple(dim_of(shown, dim, ndim) for dim in dims)
    if len(set(counted)) != len(counted):
        raise ShapeError(f"`{shown}` takes each dimension once; got {list(dims)}.")
    return counted


def reduced_dims(shown: str, dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction over `dim` removes; all of them for None."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, Iterable):
        return dims_of(shown, dim, ndim)
    return (dim_of(shown, dim, ndim),)


def sizes_of(sizes: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    """`(2, 3)` and `((2, 3),)` alike: sizes given one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], Iterable):
        return tuple(map(operator.index, sizes[0]))
    return tuple(map(operator.index, sizes))  # pyright: ignore[reportArgumentType] # one sequence only


def shape_of(shown: str, shape: Sequence[int] | int) -> tuple[int, ...]:
    """A shape given by the user: no size is negative."""
    given = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    sizes = tuple(operator.index(size) for size in given)
    if any(size < 0 for size in sizes):
        raise ShapeError(f"`{shown}` takes sizes of 0 and more; got {list(sizes)}.")
    return sizes


def inferred_shape(shape: Sequence[int], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """What `reshape` to `sizes` gives; one size may be -1."""
    total = prod(shape)
    if -1 not in sizes and prod(sizes) == total and min(sizes, default=0) >= 0:
        return sizes
    known = prod(size for size in sizes if size != -1)
    fits = sizes.count(-1) == 1 and known and total % known == 0
    if not fits or min(sizes) < -1:
        raise ShapeError(
            f"`reshape` keeps the number of elements: shape {list(shape)} has {total}, and "
            f"{list(sizes)} does not fit; at most one size may be -1."
        )
    return tuple(total // known if size == -1 else size for size in sizes)


def expanded_shape(shape: Sequence[int], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """What `expand` to `sizes` gives; -1 keeps a size, new dimensions come in front."""
    added = len(sizes) - len(shape)
    old = (1,) * added + tuple(shape)
    kept = tuple(o if s == -1 else s for o, s in zip(old, sizes, strict=False))
    fits = added >= 0 and all(s >= 0 and o in (1, s) for o, s in zip(old, kept, strict=True))
    if not fits or -1 in sizes[: max(added, 0)]:
        raise ShapeError(
            f"`expand` repeats dimensions of size 1 and adds new ones in front: shape "
            f"{list(shape)} does not expand to {list(sizes)}; -1 keeps a size."
        )
    return kept


def not_empty(shown: str, shape: Sequence[int], dims: Sequence[int]) -> None:
    """`ShapeError` where there is no element to choose from."""
    if any(shape[dim] == 0 for dim in dims):
        raise ShapeError(
            f"`{shown}` needs at least one element; shape {list(shape)} has none along "
            f"{list(dims)}."
        )


def one_element(shown: str, shape: Sequence[int]) -> None:
    """`ShapeError` unless there is exactly one element."""
    if prod(shape) != 1:
        raise ShapeError(
            f"`{shown}` needs exactly one element; shape {list(shape)} has {prod(shape)}: "
            "reduce it first, such as by `.sum()`, or use `.tolist()`."
        )
