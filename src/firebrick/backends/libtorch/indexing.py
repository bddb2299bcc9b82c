"""Elements and rows picked by indices, and updates of them; the same code for every kind.

Indices are checked before a kernel sees them: on a GPU, torch answers one that is out of range
by refusing all further work of the process. Reading their range back waits for the GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backend.options import Update
from firebrick.backend.shapes import gathered, scattered, select_assigned, selected
from firebrick.backends.libtorch.dtypes import accumulator
from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import axis
from firebrick.core import Shape
from firebrick.errors import ShapeError

if TYPE_CHECKING:
    from torch import Tensor

REDUCTIONS = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}
"""Torch's names of the updates that combine; `assign` does not."""


class Indexing:
    """`gather`, `scatter`, `select` and its updates; no input is written.

    Updates of 16-bit floats are combined in float32 and rounded once.
    """

    def float_gather(self, dim: int, tensor: Tensor, indices: Tensor) -> Tensor:
        gathered(dim, Shape(tensor.shape), Shape(indices.shape))
        return torch.gather(tensor, dim, checked_indices(indices, tensor.shape[dim]))

    def float_scatter(
        self, dim: int, tensor: Tensor, indices: Tensor, value: Tensor, update: Update
    ) -> Tensor:
        scattered(dim, Shape(tensor.shape), Shape(indices.shape), Shape(value.shape))
        places = checked_indices(indices, tensor.shape[dim])
        if update == "assign":
            return torch.scatter(tensor, dim, places, _last_elements(dim, tensor, places, value))
        return _combined(dim, tensor, places, value, update)

    def float_scatter_add(self, dim: int, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor:
        return self.float_scatter(dim, tensor, indices, value, "add")

    def float_select(self, tensor: Tensor, dim: int, indices: Tensor) -> Tensor:
        selected(Shape(tensor.shape), dim, Shape(indices.shape))
        return torch.index_select(tensor, dim, checked_indices(indices, tensor.shape[dim]))

    def float_select_assign(
        self, tensor: Tensor, dim: int, indices: Tensor, value: Tensor, update: Update
    ) -> Tensor:
        shapes = Shape(tensor.shape), dim, Shape(indices.shape), Shape(value.shape)
        select_assigned(*shapes)
        places = checked_indices(indices, tensor.shape[dim])
        if update == "assign":
            return torch.index_copy(tensor, dim, places, _last_rows(dim, tensor, places, value))
        spread = _along(places, axis(tensor, dim), tensor.ndim).expand(value.shape)
        return _combined(dim, tensor, spread, value, update)

    def float_select_add(self, tensor: Tensor, dim: int, indices: Tensor, value: Tensor) -> Tensor:
        return self.float_select_assign(tensor, dim, indices, value, "add")

    int_gather = bool_gather = float_gather
    int_scatter = float_scatter
    int_scatter_add = float_scatter_add
    int_select = bool_select = float_select
    int_select_assign = float_select_assign
    int_select_add = float_select_add

    def bool_scatter_or(self, dim: int, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor:
        # The greater of 0 and 1; torch has no such update of bools on every device.
        numbers = self.float_scatter(dim, tensor.byte(), indices, value.byte(), "max")
        return numbers.bool()

    def bool_select_or(self, tensor: Tensor, dim: int, indices: Tensor, value: Tensor) -> Tensor:
        numbers = self.float_select_assign(tensor.byte(), dim, indices, value.byte(), "max")
        return numbers.bool()


def checked_indices(indices: Tensor, size: int) -> Tensor:
    """`indices` in int64; `ShapeError` unless all lie from 0 to below `size`."""
    if indices.numel():
        bounds = torch.stack(torch.aminmax(indices)).cpu()
        least, greatest = int(bounds[0]), int(bounds[1])
        if least < 0 or greatest >= size:
            raise ShapeError(
                f"indices count from 0 and lie below {size}, the size of their dimension; "
                f"got {least if least < 0 else greatest}."
            )
    return indices.long()


def _combined(dim: int, tensor: Tensor, places: Tensor, value: Tensor, update: Update) -> Tensor:
    wide = accumulator(tensor.dtype)
    out = torch.scatter_reduce(tensor.to(wide), dim, places, value.to(wide), REDUCTIONS[update])
    return out.to(tensor.dtype)


def _along(values: Tensor, position: int, ndim: int) -> Tensor:
    """A 1-D tensor laid along one dimension of `ndim`."""
    return values.reshape([-1 if dim == position else 1 for dim in range(ndim)])


def _last_elements(dim: int, tensor: Tensor, places: Tensor, value: Tensor) -> Tensor:
    """`value`, in which elements of one place are all the last of them.

    Torch leaves open which of several it writes to one place; it does not matter if all are equal.
    """
    order = torch.arange(places.shape[dim], device=places.device)
    turns = _along(order, axis(tensor, dim), tensor.ndim).expand(places.shape)
    latest = torch.zeros(tensor.shape, dtype=torch.int64, device=places.device)
    latest = latest.scatter_reduce(dim, places, turns, "amax")
    return torch.gather(value, dim, torch.gather(latest, dim, places))


def _last_rows(dim: int, tensor: Tensor, places: Tensor, value: Tensor) -> Tensor:
    """As `_last_elements`, for rows along `dim`."""
    order = torch.arange(places.numel(), device=places.device)
    latest = torch.zeros(tensor.shape[dim], dtype=torch.int64, device=places.device)
    latest = latest.scatter_reduce(0, places, order, "amax")
    return torch.index_select(value, dim, latest[places])
