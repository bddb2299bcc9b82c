"""What `tensor[...]` and `slice_assign` understand of an index, by NumPy's rules.

An index becomes a `Block`: one slice per dimension, then a shape that drops what ints picked and
adds what `None` asked for. Tensors in an index come afterwards; see `select.py`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from firebrick.core import DispatchTensor
from firebrick.errors import KindError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Slice: TypeAlias = slice[Any, Any, Any]

WHOLE = slice(None)


class Block(NamedTuple):
    """A part of a tensor: slices with plain bounds, one per dimension, and the final shape."""

    slices: tuple[slice, ...]
    sizes: tuple[int, ...]
    """Of the block before dimensions are dropped and added."""
    shape: tuple[int, ...]
    """Of the result."""
    is_whole: bool
    """Whether every element is in it, in order."""


def parts_of(index: object) -> list[Any]:
    """The index as a list, one part per dimension that it names."""
    return list(index) if isinstance(index, tuple) else [index]  # pyright: ignore[reportUnknownArgumentType] # any tuple


def without_ellipsis(parts: Sequence[Any], consumed: Sequence[int], ndim: int) -> list[Any]:
    """The parts with whole slices for `...` and for dimensions not named.

    `consumed` has the number of dimensions that each part names: 0 for `None` and `...`.
    """
    named = sum(consumed)
    if named > ndim:
        raise ShapeError(
            f"the index names {named} dimensions; the tensor has {ndim}: {_shown(parts)}."
        )
    places = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(places) > 1:
        raise ShapeError(f"an index has at most one `...`; got {_shown(parts)}.")
    filling = [WHOLE] * (ndim - named)
    if not places:
        return [*parts, *filling]
    return [*parts[: places[0]], *filling, *parts[places[0] + 1 :]]


def block_of(parts: Sequence[Any], shape: Sequence[int]) -> Block:
    """The block that ints, slices and `None` name; `...` is expanded already."""
    slices: list[slice] = []
    sizes: list[int] = []
    result: list[int] = []
    whole = True
    for part in parts:
        if part is None:
            result.append(1)
            continue
        size = shape[len(slices)]
        if isinstance(part, slice):
            bounds = range(size)[_checked(cast("Slice", part))]
            result.append(len(bounds))
        else:
            start = position_of(part, size, len(slices))
            bounds = range(start, start + 1)
        slices.append(_as_slice(bounds))
        sizes.append(len(bounds))
        whole = whole and bounds == range(size)
    return Block(tuple(slices), tuple(sizes), tuple(result), whole)


def position_of(part: Any, size: int, dim: int) -> int:
    """An int of an index, counted from the front; `ShapeError` when there is no such element."""
    position = as_index(part)
    if not -size <= position < size:
        raise ShapeError(
            f"index {position} is out of range: dimension {dim} has {size} elements; accepted "
            f"are {-size} to {size - 1}."
        )
    return position % size


def as_index(part: Any) -> int:
    """An int of an index; `KindError` for what an index cannot have."""
    if type(part) is int:
        return part
    if not isinstance(part, bool):
        try:
            return operator.index(part)
        except TypeError:
            # The message below says more.
            pass
    raise KindError(
        "an index has ints, slices, `...`, `None`, and a bool or an int tensor; got "
        f"{type(part).__name__}."
    )


def _checked(part: Slice) -> Slice:
    if part.step is not None and operator.index(part.step) == 0:
        raise ShapeError("the step of a slice is not 0.")
    return part


def _as_slice(bounds: range) -> slice:
    if not bounds:
        return slice(0, 0, 1)
    # A stop before the first element has no number in a slice.
    return slice(bounds.start, bounds.stop if bounds.stop >= 0 else None, bounds.step)


def _shown(parts: Sequence[Any]) -> str:
    return f"[{', '.join(_part_text(part) for part in parts)}]"


def _part_text(part: object) -> str:
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        return _slice_text(cast("Slice", part))
    if isinstance(part, DispatchTensor):
        return f"{part.dtype} tensor"
    return repr(part) if part is None or isinstance(part, int) else type(part).__name__


def _slice_text(part: Slice) -> str:
    ends = [("" if bound is None else str(bound)) for bound in (part.start, part.stop)]
    return ":".join(ends if part.step is None else [*ends, str(part.step)])
