"""Picking elements, and new tensors in which some elements are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from firebrick.core import bool_
from firebrick.errors import KindError, ShapeError, TensorError
from firebrick.tensor.advanced import SELECT, picked, taken
from firebrick.tensor.checks import dim_of
from firebrick.tensor.convert import converted
from firebrick.tensor.host import placed, read_values
from firebrick.tensor.indexing import Block, block_of, parts_of, without_ellipsis
from firebrick.tensor.layout import EXPAND, reshaped
from firebrick.tensor.operations import INT, every, numbers
from firebrick.tensor.ordering import Ordering
from firebrick.tensor.promotion import adopted, common, default_int, fitting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType
    from typing import Self, TypeAlias

    from firebrick.core import DispatchTensor, Kind, Scalar
    from firebrick.tensor.host import Array

    Update: TypeAlias = Literal["assign", "add", "mul", "min", "max"]

LISTED = (list, np.ndarray)
UPDATES = ("assign", "add", "mul", "min", "max")
GATHER = every("gather")
SCATTER = numbers("scatter")
SCATTER_ADD = numbers("scatter", "scatter_add")
SELECT_ADD = numbers("select_assign", "select_add")
SELECT_ASSIGN = numbers("select_assign")
SLICE_ASSIGN = every("slice_assign")
MASK_WHERE = every("mask_where")
MASK_FILL = every("mask_fill")


class Select(Ordering):
    """Methods about parts of a tensor."""

    __slots__ = ()

    def __getitem__(
        self, index: int | slice | EllipsisType | Self | Sequence[Any] | Array | None
    ) -> Self:
        """Ints, slices (negative steps too), `...`, `None`, a bool or an int tensor.

        Several int tensors pick one element per position. Lists and arrays stand for tensors.
        """
        value = self._value
        parts = [self._index_part(part) for part in parts_of(index)]
        if any(isinstance(part, Select) for part in parts):
            unwrapped = [part._value if isinstance(part, Select) else part for part in parts]
            return self._wrap(picked(value, unwrapped))
        return self._wrap(taken(value, self._block("[]", parts)))

    def _block(self, shown: str, parts: list[Any]) -> Block:
        if any(isinstance(part, Select) for part in parts):
            raise KindError(
                f"`{shown}` takes ints, slices, `...` and `None`; got a tensor in the index: use "
                "`select_assign`, `scatter` or `mask_where`."
            )
        shape = self.shape
        consumed = [0 if part is None or part is Ellipsis else 1 for part in parts]
        return block_of(without_ellipsis(parts, consumed, len(shape)), shape)

    def _index_part(self, part: object) -> object:
        """Lists and arrays in an index, as tensors; all else as it is."""
        if not isinstance(part, LISTED):
            return part
        array, _ = read_values(part)
        if not array.size and isinstance(part, list):
            array = array.astype(np.int32)  # an empty list would be one of floats
        if array.dtype.kind not in "biu":
            raise KindError(f"a list in an index has ints or bools; got {array.dtype}.")
        device = self.device
        dtype = bool_ if array.dtype.kind == "b" else device.int_dtype
        return self._wrap(placed(array, device, dtype))

    def slice_assign(self, index: Any, value: Self) -> Self:
        """A new tensor with the block that ints and slices name replaced; `value` broadcasts."""
        block = self._block("slice_assign", [self._index_part(part) for part in parts_of(index)])
        target = self._value
        new = fitting("slice_assign", self._operand("slice_assign", value), target)
        if new.shape != block.shape:
            new = _spread(new, block.shape)
        return self._wrap(
            SLICE_ASSIGN[target.kind](target, block.slices, reshaped(new, block.sizes))
        )

    def select(self, dim: int, indices: Self) -> Self:
        """The rows that a 1-D int tensor names, along `dim`."""
        position = dim_of("select", dim, self.ndim)
        return self._with(SELECT, position, self._rows("select", indices))

    def select_assign(
        self, dim: int, indices: Self, values: Self, update: Update = "assign"
    ) -> Self:
        """A new tensor with `values` written to the rows that a 1-D int tensor names."""
        position = dim_of("select_assign", dim, self.ndim)
        rows = self._rows("select_assign", indices)
        target, new = self._to_write("select_assign", values, update)
        wanted = self.shape.replace(position, rows.shape[0])
        if new.shape != wanted:
            raise ShapeError(
                f"`select_assign` along dimension {dim} of shape {list(self.shape)} with "
                f"{rows.shape[0]} indices takes values of shape {list(wanted)}; got "
                f"{list(new.shape)}: `.expand()` repeats them."
            )
        if update == "add":
            written = SELECT_ADD[target.kind](target, position, rows, new)
        else:
            written = SELECT_ASSIGN[target.kind](target, position, rows, new, update)
        return self._wrap(self._of_own_kind(written))

    def gather(self, dim: int, indices: Self) -> Self:
        """`out[i, j] = self[indices[i, j], j]` for `dim` 0 of a matrix, and so on."""
        position = dim_of("gather", dim, self.ndim)
        places = self._places("gather", position, indices)
        value = self._value
        return self._wrap(GATHER[value.kind](position, value, places))

    def scatter(self, dim: int, indices: Self, values: Self, update: Update = "add") -> Self:
        """The reverse of `gather`: a new tensor with `values` written where it would read."""
        position = dim_of("scatter", dim, self.ndim)
        places = self._places("scatter", position, indices)
        target, new = self._to_write("scatter", values, update)
        if new.shape != places.shape:
            raise ShapeError(
                f"`scatter` takes one value per index; got values of shape {list(new.shape)} "
                f"and indices of shape {list(places.shape)}."
            )
        if update == "add":
            written = SCATTER_ADD[target.kind](position, target, places, new)
        else:
            written = SCATTER[target.kind](position, target, places, new, update)
        return self._wrap(self._of_own_kind(written))

    def mask_where(self, mask: Self, value: Self) -> Self:
        """`value` where the mask is true, else this tensor. All three broadcast."""
        chosen = self._argument("mask_where", "a mask", mask, "bool")
        kept, new = common("mask_where", (self._value, self._operand("mask_where", value)))
        return self._wrap(MASK_WHERE[kept.kind](kept, chosen, new))

    def mask_fill(self, mask: Self, value: Scalar) -> Self:
        """A number where the mask is true, else this tensor. Both broadcast."""
        chosen = self._argument("mask_fill", "a mask", mask, "bool")
        return self._with(MASK_FILL, chosen, adopted("mask_fill", self._value, value))

    def one_hot(self, num_classes: int) -> Self:
        """A new last dimension of that size; same dtype. 1 at the position that each element names.

        An element that names no position gives zeros.
        """
        value = self._value
        if value.kind == "bool":
            raise KindError("`one_hot` takes class numbers; got a bool tensor: call `.int()`.")
        if num_classes < 1:
            raise ShapeError(f"`one_hot` needs at least one class; got {num_classes}.")
        device, own = value.device, value.dtype
        classes = self._wrap(INT.int_arange(range(num_classes), device, device.int_dtype))
        # In whichever dtype holds both, so that no class number wraps around.
        wide = self.cast(device.int_dtype) if own.itemsize < device.int_dtype.itemsize else self
        return (wide.unsqueeze(-1) == classes.cast(wide.dtype)).cast(own)

    def _to_write(
        self, shown: str, values: Self, update: Update
    ) -> tuple[DispatchTensor, DispatchTensor]:
        """Target and values in one dtype; bools as ints, where the same updates mean and and or."""
        if update not in UPDATES:
            raise TensorError(
                f"`{shown}` has no update {update!r}; accepted are {', '.join(UPDATES)}."
            )
        target = self._value
        new = fitting(shown, self._operand(shown, values), target)
        if target.kind != "bool":
            return target, new
        ints = default_int(target)
        return converted(target, ints), converted(new, ints)

    def _of_own_kind(self, written: DispatchTensor) -> DispatchTensor:
        return converted(written, bool_) if self._value.kind == "bool" else written

    def _argument(self, shown: str, name: str, argument: Self, kind: Kind) -> DispatchTensor:
        value = self._operand(shown, argument)
        if value.kind != kind:
            raise KindError(f"`{shown}` takes {name} of kind {kind}; got {value.dtype}.")
        return value

    def _rows(self, shown: str, indices: Self) -> DispatchTensor:
        rows = self._argument(shown, "indices", indices, "int")
        if len(rows.shape) != 1:
            raise ShapeError(
                f"`{shown}` takes a 1-D tensor of indices; got shape {list(rows.shape)}: "
                "`tensor[indices]` takes any shape."
            )
        return rows

    def _places(self, shown: str, position: int, indices: Self) -> DispatchTensor:
        places = self._argument(shown, "indices", indices, "int")
        shape, wanted = self.shape, places.shape
        others = [
            wanted[dim] <= size for dim, size in enumerate(shape[: len(wanted)]) if dim != position
        ]
        if len(wanted) != len(shape) or not all(others):
            raise ShapeError(
                f"`{shown}` takes indices of as many dimensions as the tensor and, except along "
                f"dimension {position}, of no larger sizes; got shapes {list(wanted)} and "
                f"{list(shape)}."
            )
        return places


def _spread(value: DispatchTensor, shape: tuple[int, ...]) -> DispatchTensor:
    """`value` repeated to the shape of the block that it replaces."""
    missing = len(shape) - len(value.shape)
    padded = (1,) * missing + value.shape
    if missing < 0 or any(h not in (1, w) for h, w in zip(padded, shape, strict=True)):
        raise ShapeError(
            f"`slice_assign` replaces a block of shape {list(shape)}, to which values of shape "
            f"{list(value.shape)} do not broadcast."
        )
    return EXPAND[value.kind](value, shape)
