"""Blocks of a tensor by start, stop and step. Torch has no negative steps: those are flipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from firebrick.backend.shapes import slice_assigned
from firebrick.core import Shape

if TYPE_CHECKING:
    from torch import Tensor


class Slicing:
    """Reading a block as a view, and writing one into a copy; the same code for every kind."""

    def float_slice(self, tensor: Tensor, slices: Sequence[slice]) -> Tensor:
        rising, reversed_dims = _rising(tensor.shape, slices)
        block = tensor[rising]
        return block.flip(reversed_dims) if reversed_dims else block

    def float_slice_assign(self, tensor: Tensor, slices: Sequence[slice], value: Tensor) -> Tensor:
        # Torch would broadcast the value.
        slice_assigned(Shape(tensor.shape), slices, Shape(value.shape))
        rising, reversed_dims = _rising(tensor.shape, slices)
        out = tensor.clone()
        out[rising] = value.flip(reversed_dims) if reversed_dims else value
        return out

    int_slice = bool_slice = float_slice
    int_slice_assign = bool_slice_assign = float_slice_assign


def _rising(
    shape: Sequence[int], slices: Sequence[slice]
) -> tuple[tuple[slice, ...], tuple[int, ...]]:
    """The same elements by positive steps, and the dimensions in which they then stand reversed."""
    rising: list[slice] = []
    reversed_dims: list[int] = []
    for dim, (size, part) in enumerate(zip(shape, slices, strict=False)):
        if part.step is None or part.step > 0:
            rising.append(part)
            continue
        positions = range(*part.indices(size))
        if positions:
            rising.append(slice(positions[-1], positions[0] + 1, -part.step))
        else:
            rising.append(slice(0, 0))
        reversed_dims.append(dim)
    return tuple(rising), tuple(reversed_dims)
