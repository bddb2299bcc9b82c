"""Sizes of tensors, and the arithmetic on sizes that every layer shares."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from firebrick.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Shape(tuple[int, ...]):
    """Sizes of the dimensions, outermost first; equal to a tuple of the same numbers."""

    __slots__ = ()

    def num_elements(self) -> int:
        """The product; 1 for a 0-d shape."""
        return prod(self)

    def swap(self, dim1: int, dim2: int) -> Shape:
        """A new shape with two dimensions exchanged; negative ones count from the end."""
        first, second = normalize_dim(dim1, len(self)), normalize_dim(dim2, len(self))
        sizes = list(self)
        sizes[first], sizes[second] = sizes[second], sizes[first]
        return Shape(sizes)

    def replace(self, dim: int, size: int) -> Shape:
        """A new shape in which one dimension has another size."""
        position = normalize_dim(dim, len(self))
        return Shape((*self[:position], size, *self[position + 1 :]))

    def __repr__(self) -> str:
        return f"Shape({list(self)})"


def normalize_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; `ShapeError` when a tensor of `ndim` dimensions has no such."""
    if not -ndim <= dim < ndim:
        raise ShapeError(
            f"dimension {dim} does not exist in a tensor of {ndim} dimensions; "
            f"accepted are {-ndim} to {ndim - 1}."
            if ndim
            else f"dimension {dim} does not exist: the tensor is 0-d."
        )
    return dim % ndim


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """The shape that all `shapes` broadcast to by NumPy's rules; `ShapeError` naming them."""
    ndim = max((len(shape) for shape in shapes), default=0)
    sizes = [1] * ndim
    for shape in shapes:
        for position, size in enumerate(shape, start=ndim - len(shape)):
            if sizes[position] == 1:
                sizes[position] = size
            elif size not in (1, sizes[position]):
                listed = " and ".join(str(list(s)) for s in shapes)
                raise ShapeError(
                    f"shapes {listed} do not broadcast: sizes {sizes[position]} and {size} meet "
                    f"in dimension {position - ndim}; sizes must be equal or 1."
                )
    return Shape(sizes)
