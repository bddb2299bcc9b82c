"""Sorting, and positions of the largest and smallest elements.

Built-in operations on ints answer positions in the dtype of their input, which may be too small
for them; here positions are always of the device's int dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import DTypeError, ShapeError
from firebrick.tensor.checks import dim_of, not_empty
from firebrick.tensor.operations import Operation, numbers
from firebrick.tensor.promotion import cast, default_int, promote
from firebrick.tensor.reduce import Reduce, without

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import DispatchTensor, DType

ARGMAX = numbers("argmax")
ARGMIN = numbers("argmin")
ARGSORT = numbers("argsort")
SORT = numbers("sort")
TOPK = numbers("topk", "topk_with_indices")


class Ordering(Reduce):
    """Methods that compare elements along one dimension."""

    __slots__ = ()

    def argmax(self, dim: int, *, keepdim: bool = False) -> Self:
        """The position of the largest element along `dim`; of the first of several."""
        return self._position(ARGMAX, dim, keepdim)

    def argmin(self, dim: int, *, keepdim: bool = False) -> Self:
        """The position of the smallest element along `dim`; of the first of several."""
        return self._position(ARGMIN, dim, keepdim)

    def _position(self, operation: Operation, dim: int, keepdim: bool) -> Self:
        position = dim_of(operation.shown, dim, self.ndim)
        not_empty(operation.shown, self.shape, (position,))
        found = _positions(operation, self._value, position)
        return self._wrap(found if keepdim else without(found, (position,)))

    def sort(self, dim: int = -1, *, descending: bool = False) -> Self:
        """In order along `dim`. Stable; NaN comes last."""
        position = dim_of("sort", dim, self.ndim)
        return self._with(SORT, position, descending)

    def argsort(self, dim: int = -1, *, descending: bool = False) -> Self:
        """The positions that sort `dim`. Stable: equal values keep their order, descending too."""
        position = dim_of("argsort", dim, self.ndim)
        return self._wrap(_positions(ARGSORT, self._value, position, descending))

    def topk(self, k: int, dim: int = -1) -> tuple[Self, Self]:
        """Values and indices, largest first; ties prefer the lower index."""
        position = dim_of("topk", dim, self.ndim)
        if not 0 <= k <= self.shape[position]:
            raise ShapeError(
                f"`topk` takes a `k` of 0 to {self.shape[position]}, the size of dimension {dim} "
                f"of shape {list(self.shape)}; got {k}."
            )
        value = self._value
        answer = default_int(value)
        wide = _room_for_positions(value, answer)
        extra = (answer,) if wide.kind == "float" else ()
        largest, positions = TOPK[wide.kind](wide, position, k, *extra)
        return self._wrap(cast(largest, value.dtype)), self._wrap(cast(positions, answer))


def _positions(operation: Operation, value: DispatchTensor, *arguments: object) -> DispatchTensor:
    answer = default_int(value)
    if value.kind == "float":
        return operation[value.kind](value, *arguments, answer)
    found = operation[value.kind](_room_for_positions(value, answer), *arguments)
    return cast(found, answer)


def _room_for_positions(value: DispatchTensor, answer: DType) -> DispatchTensor:
    """Ints in the answer's dtype where it holds them: those left have room for any position."""
    if value.kind != "int":
        return value
    try:
        fits = promote(value.dtype, answer) is answer
    except DTypeError:
        fits = False
    return cast(value, answer) if fits else value
