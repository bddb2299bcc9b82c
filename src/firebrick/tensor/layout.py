"""Shapes: methods that move elements without computing with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import ShapeError
from firebrick.tensor.checks import (
    dim_of,
    dims_of,
    expanded_shape,
    inferred_shape,
    sizes_of,
)
from firebrick.tensor.elementwise import Elementwise
from firebrick.tensor.operations import Operation, every
from firebrick.tensor.promotion import common

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from firebrick.core import DispatchTensor

RESHAPE = every("reshape")
TRANSPOSE = every("transpose")
SWAP_DIMS = every("swap_dims")
PERMUTE = every("permute")
EXPAND = every("expand")
FLIP = every("flip")
REPEAT_DIM = every("repeat", "repeat_dim")
UNFOLD = every("unfold")
CAT = every("cat")


def reshaped(value: DispatchTensor, shape: Sequence[int]) -> DispatchTensor:
    """`value` in a shape of as many elements; itself if it has that shape."""
    return value if value.shape == tuple(shape) else RESHAPE[value.kind](value, shape)


class Layout(Elementwise):
    """Methods about shapes."""

    __slots__ = ()

    def _with(self, operation: Operation, *arguments: object) -> Self:
        value = self._value
        return self._wrap(operation[value.kind](value, *arguments))

    @property
    def T(self) -> Self:  # noqa: N802 # NumPy's name
        """The last two dimensions exchanged."""
        return self.transpose()

    @property
    def mT(self) -> Self:  # noqa: N802 # the name of the array API standard
        """The last two dimensions exchanged."""
        return self.transpose()

    def transpose(self) -> Self:
        """The last two dimensions exchanged."""
        if self.ndim < 2:
            raise ShapeError(
                "`transpose` exchanges the last two dimensions; shape "
                f"{list(self.shape)} has fewer."
            )
        return self._with(TRANSPOSE)

    def swap_dims(self, dim1: int, dim2: int) -> Self:
        """Two dimensions exchanged."""
        first, second = (dim_of("swap_dims", dim, self.ndim) for dim in (dim1, dim2))
        return self._with(SWAP_DIMS, first, second)

    def permute(self, *dims: int | Sequence[int]) -> Self:
        """The dimensions in another order; all of them are named."""
        order = dims_of("permute", sizes_of(dims), self.ndim)
        if len(order) != self.ndim:
            raise ShapeError(
                f"`permute` names all {self.ndim} dimensions of shape {list(self.shape)}; "
                f"got {list(order)}."
            )
        return self._with(PERMUTE, order)

    def reshape(self, *shape: int | Sequence[int]) -> Self:
        """The elements in row-major order in another shape; one size may be -1."""
        sizes = inferred_shape(self.shape, sizes_of(shape))
        return self._with(RESHAPE, sizes)

    def flatten(self) -> Self:
        """All elements in one dimension."""
        return self._with(RESHAPE, (self.size,))

    def squeeze(self, dim: int) -> Self:
        """Without `dim`, whose size is 1."""
        shape = self.shape
        position = dim_of("squeeze", dim, len(shape))
        if shape[position] != 1:
            raise ShapeError(
                f"`squeeze` removes a dimension of size 1; dimension {dim} of shape "
                f"{list(shape)} has size {shape[position]}."
            )
        return self._with(RESHAPE, shape[:position] + shape[position + 1 :])

    def unsqueeze(self, dim: int) -> Self:
        """With a new dimension of size 1 at `dim`."""
        shape = self.shape
        position = dim_of("unsqueeze", dim, len(shape) + 1)
        return self._with(RESHAPE, (*shape[:position], 1, *shape[position:]))

    def expand(self, *shape: int | Sequence[int]) -> Self:
        """Dimensions of size 1 repeated, new ones in front; -1 keeps a size."""
        return self._with(EXPAND, expanded_shape(self.shape, sizes_of(shape)))

    def flip(self, *dims: int | Sequence[int]) -> Self:
        """In reverse order along `dims`; along all dimensions without argument."""
        named = dims_of("flip", sizes_of(dims), self.ndim) if dims else range(self.ndim)
        return self._with(FLIP, tuple(named)) if named else self

    def repeat(self, *times: int | Sequence[int]) -> Self:
        """The whole tensor side by side, `times` along each dimension.

        More numbers than dimensions add dimensions in front. Fewer are a `ShapeError`.
        """
        counts = sizes_of(times)
        added = len(counts) - self.ndim
        if added < 0 or any(count < 0 for count in counts):
            raise ShapeError(
                f"`repeat` takes a count of 0 or more for each of the {self.ndim} dimensions, and "
                f"more to add dimensions in front; got {list(counts)}."
            )
        value = reshaped(self._value, (1,) * added + self.shape)
        for dim, count in enumerate(counts):
            if count != 1:
                value = REPEAT_DIM[value.kind](value, dim, count)
        return self._wrap(value)

    def unfold(self, dim: int, size: int, step: int) -> Self:
        """Windows of `size` elements every `step` along `dim`; they become the last dimension."""
        position = dim_of("unfold", dim, self.ndim)
        if not 0 < size <= self.shape[position] or step < 1:
            raise ShapeError(
                f"`unfold` takes windows of 1 to {self.shape[position]} elements along dimension "
                f"{dim} of shape {list(self.shape)}, and steps of 1 and more; got size {size} "
                f"and step {step}."
            )
        return self._with(UNFOLD, position, size, step)

    @classmethod
    def cat(cls, tensors: Sequence[Self], dim: int = 0) -> Self:
        """Side by side along `dim`; the other dimensions are equal, dtypes promote."""
        return cls.from_dispatch(_joined("cat", [cls._operand("cat", t) for t in tensors], dim))

    @classmethod
    def stack(cls, tensors: Sequence[Self], dim: int = 0) -> Self:
        """Side by side along a new dimension `dim`; shapes are equal, dtypes promote."""
        values = [cls._operand("stack", tensor) for tensor in tensors]
        _not_empty("stack", values)
        shape = values[0].shape
        for value in values:
            if value.shape != shape:
                raise ShapeError(
                    f"`stack` takes tensors of one shape; got {list(shape)} and "
                    f"{list(value.shape)}."
                )
        position = dim_of("stack", dim, len(shape) + 1)
        sizes = (*shape[:position], 1, *shape[position:])
        return cls.from_dispatch(
            _joined("stack", [RESHAPE[v.kind](v, sizes) for v in values], position)
        )


def _joined(shown: str, values: list[DispatchTensor], dim: int) -> DispatchTensor:
    _not_empty(shown, values)
    shapes = [value.shape for value in values]
    position = dim_of(shown, dim, len(shapes[0]))
    others = [(*shape[:position], *shape[position + 1 :]) for shape in shapes]
    for shape, other in zip(shapes, others, strict=True):
        if len(shape) != len(shapes[0]) or other != others[0]:
            raise ShapeError(
                f"`{shown}` along dimension {dim} needs the other dimensions to be equal; "
                f"got shapes {list(shapes[0])} and {list(shape)}."
            )
    promoted = common(shown, values)
    return CAT[promoted[0].kind](promoted, position)


def _not_empty(shown: str, values: Sequence[DispatchTensor]) -> None:
    if not values:
        raise ShapeError(f"`{shown}` needs at least one tensor; got an empty list.")
