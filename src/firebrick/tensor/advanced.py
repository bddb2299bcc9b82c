"""Tensors in an index: what `tensor[..., mask]` and `tensor[rows, columns]` pick, by NumPy's rules.

Works on dispatched values; `select.py` has the methods. What ints and tensors pick stands where
the first of them stood, or in front when a slice, `...` or `None` separates them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor, bool_
from firebrick.errors import KindError, ShapeError
from firebrick.tensor.indexing import WHOLE, Block, block_of, position_of, without_ellipsis
from firebrick.tensor.layout import PERMUTE, reshaped
from firebrick.tensor.operations import BOOL, INT, every, filled
from firebrick.tensor.promotion import cast, default_int

if TYPE_CHECKING:
    from collections.abc import Sequence

SLICE = every("slice")
SELECT = every("select")
MASK_SELECT = every("mask_select")


def taken(value: DispatchTensor, block: Block) -> DispatchTensor:
    """The elements of a block, in its final shape."""
    if not block.is_whole:
        value = SLICE[value.kind](value, block.slices)
    return reshaped(value, block.shape)


def picked(value: DispatchTensor, parts: Sequence[Any]) -> DispatchTensor:
    """The elements that an index with dispatched tensors among its parts names."""
    parts = without_ellipsis(parts, [_consumed(part) for part in parts], len(value.shape))
    places = [place for place, part in enumerate(parts) if isinstance(part, DispatchTensor)]
    if len(places) == 1:
        return _picked_by_one(value, parts, places[0])
    if any(parts[place].kind == "bool" for place in places):
        raise KindError(
            "an index has one bool tensor, or several int tensors; got a bool tensor among "
            f"{len(places)} tensors: index step by step."
        )
    return _picked_together(value, parts)


def _consumed(part: object) -> int:
    if part is None or part is Ellipsis:
        return 0
    if not isinstance(part, DispatchTensor) or part.kind == "int":
        return 1
    if part.kind != "bool" or not part.shape:
        raise KindError(
            "a tensor in an index is an int tensor, or a bool tensor of at least one dimension; "
            f"got {part.dtype} of shape {list(part.shape)}."
        )
    return len(part.shape)


def _picked_by_one(value: DispatchTensor, parts: list[Any], place: int) -> DispatchTensor:
    index: DispatchTensor = parts[place]
    consumed = len(index.shape) if index.kind == "bool" else 1
    around = [*parts[:place], *[WHOLE] * consumed, *parts[place + 1 :]]
    base = taken(value, block_of(around, value.shape))
    position = sum(_keeps(part) for part in parts[:place])
    if index.kind == "bool":
        found, added = _where_true(base, index, position), 1
    else:
        found, added = _rows(base, index, position), len(index.shape)
    group = [p for p, part in enumerate(parts) if not _keeps(part)]
    return found if _is_one_run(group) else _to_front(found, position, added)


def _keeps(part: object) -> bool:
    """Whether a part of an index leaves a dimension, as slices and `None` do."""
    return part is None or isinstance(part, slice)


def _is_one_run(places: Sequence[int]) -> bool:
    return places[-1] - places[0] + 1 == len(places)


def _to_front(value: DispatchTensor, position: int, count: int) -> DispatchTensor:
    """`count` dimensions from `position` on moved before all others."""
    moved = range(position, position + count)
    order = (*moved, *(dim for dim in range(len(value.shape)) if dim not in moved))
    return PERMUTE[value.kind](value, order)


def _where_true(base: DispatchTensor, mask: DispatchTensor, position: int) -> DispatchTensor:
    """Dimensions from `position` on replaced by one, of the elements where `mask` is true."""
    count = len(mask.shape)
    masked = base.shape[position : position + count]
    if masked != mask.shape:
        raise ShapeError(
            f"a bool index has the shape of what it selects from; got {list(mask.shape)} for "
            f"dimensions of sizes {list(masked)}."
        )
    if base.shape == mask.shape:
        return MASK_SELECT[base.kind](base, mask)
    size = mask.shape.num_elements()
    flat = reshaped(base, (*base.shape[:position], size, *base.shape[position + count :]))
    true = BOOL.bool_argwhere(reshaped(mask, (size,)), default_int(base))
    return SELECT[flat.kind](flat, position, reshaped(true, (true.shape[0],)))


def _rows(base: DispatchTensor, index: DispatchTensor, position: int) -> DispatchTensor:
    """Dimension `position` replaced by those of `index`, which names its elements."""
    shape = base.shape
    rows = from_front(index, shape[position])
    chosen = SELECT[base.kind](base, position, reshaped(rows, (rows.shape.num_elements(),)))
    return reshaped(chosen, (*shape[:position], *index.shape, *shape[position + 1 :]))


def from_front(index: DispatchTensor, size: int) -> DispatchTensor:
    """Indices counted from the front; one that names no element still names none."""
    answer = default_int(index)
    index = cast(index, answer) if index.dtype.itemsize < answer.itemsize else index
    if index.dtype.name.startswith("u"):
        return index
    negative = INT.int_lower_elem(index, 0, bool_)
    return INT.int_mask_where(index, negative, INT.int_add_scalar(index, size))


def _picked_together(value: DispatchTensor, parts: list[Any]) -> DispatchTensor:
    """One element per position of the broadcast int tensors; plain ints broadcast too."""
    group = [place for place, part in enumerate(parts) if not _keeps(part)]
    around = [part if _keeps(part) else WHOLE for part in parts]
    base = taken(value, block_of(around, value.shape))
    others = [dim for dim in range(len(base.shape)) if dim not in group]
    sizes, rest = [base.shape[dim] for dim in group], [base.shape[dim] for dim in others]
    rows = _row_numbers([parts[place] for place in group], sizes, base)
    table = reshaped(PERMUTE[base.kind](base, (*group, *others)), (prod(sizes), *rest))
    flat = SELECT[base.kind](table, 0, reshaped(rows, (rows.shape.num_elements(),)))
    found = reshaped(flat, (*rows.shape, *rest))
    if not _is_one_run(group):
        return found
    added, front = len(rows.shape), group[0]
    order = (*range(added, added + front), *range(added), *range(added + front, len(found.shape)))
    return PERMUTE[found.kind](found, order)


def _row_numbers(
    parts: Sequence[Any], sizes: Sequence[int], base: DispatchTensor
) -> DispatchTensor:
    """Where the element that several indices name stands among all in row-major order.

    -1, which names no element, where one of the indices does not exist.
    """
    answer = default_int(base)
    columns: list[DispatchTensor] = []
    for place, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        if isinstance(part, DispatchTensor):
            columns.append(cast(from_front(part, size), answer))
        else:
            columns.append(filled((), position_of(part, size, place), base.device, answer))
    total, missing = columns[0], _outside(columns[0], sizes[0])
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        total = INT.int_add(INT.int_mul_scalar(total, size), column)
        missing = BOOL.bool_or(missing, _outside(column, size))
    return INT.int_mask_fill(total, missing, -1)


def _outside(index: DispatchTensor, size: int) -> DispatchTensor:
    """Where an index names no element."""
    too_large = INT.int_greater_equal_elem(index, size, bool_)
    return BOOL.bool_or(INT.int_lower_elem(index, 0, bool_), too_large)
