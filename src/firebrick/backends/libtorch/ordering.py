"""Sorting and the first `k` in order. Always stable: equal elements keep theirs. NaN comes last.

Torch's own `topk` is not used: which of equal elements it names is left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.lazy import torch
from firebrick.backends.libtorch.positions import as_positions, axis, own_positions
from firebrick.core import DType

if TYPE_CHECKING:
    from torch import Tensor


def sort_floats(tensor: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """Values in order and their int64 positions."""
    if not descending:
        values, positions = torch.sort(tensor, dim=axis(tensor, dim), stable=True)
        return values, positions
    # Torch would put NaN first here; the negative has it last, and keeps equal elements in order.
    values, positions = torch.sort(torch.neg(tensor), dim=axis(tensor, dim), stable=True)
    return torch.neg(values), positions


def sort_ints(tensor: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    """Values in order and their int64 positions."""
    values, positions = torch.sort(
        tensor, dim=axis(tensor, dim), descending=descending, stable=True
    )
    return values, positions


class Ordering:
    """`sort`, `argsort` and `topk`, which is the beginning of the descending order."""

    def float_sort(self, tensor: Tensor, dim: int, descending: bool) -> Tensor:
        return sort_floats(tensor, dim, descending)[0]

    def float_sort_with_indices(
        self, tensor: Tensor, dim: int, descending: bool, indices_dtype: DType
    ) -> tuple[Tensor, Tensor]:
        values, positions = sort_floats(tensor, dim, descending)
        return values, as_positions(positions, tensor, dim, indices_dtype)

    def float_argsort(self, tensor: Tensor, dim: int, descending: bool, out_dtype: DType) -> Tensor:
        positions = sort_floats(tensor, dim, descending)[1]
        return as_positions(positions, tensor, dim, out_dtype)

    def float_topk(self, tensor: Tensor, dim: int, k: int) -> Tensor:
        return _first(sort_floats(tensor, dim, descending=True)[0], dim, k)

    def float_argtopk(self, tensor: Tensor, dim: int, k: int, out_dtype: DType) -> Tensor:
        positions = sort_floats(tensor, dim, descending=True)[1]
        return as_positions(_first(positions, dim, k), tensor, dim, out_dtype)

    def float_topk_with_indices(
        self, tensor: Tensor, dim: int, k: int, out_dtype: DType
    ) -> tuple[Tensor, Tensor]:
        values, positions = sort_floats(tensor, dim, descending=True)
        top = as_positions(_first(positions, dim, k), tensor, dim, out_dtype)
        return _first(values, dim, k), top

    def int_sort(self, tensor: Tensor, dim: int, descending: bool) -> Tensor:
        return sort_ints(tensor, dim, descending)[0]

    def int_sort_with_indices(
        self, tensor: Tensor, dim: int, descending: bool
    ) -> tuple[Tensor, Tensor]:
        values, positions = sort_ints(tensor, dim, descending)
        return values, own_positions(positions, tensor, dim)

    def int_argsort(self, tensor: Tensor, dim: int, descending: bool) -> Tensor:
        return own_positions(sort_ints(tensor, dim, descending)[1], tensor, dim)

    def int_topk(self, tensor: Tensor, dim: int, k: int) -> Tensor:
        return _first(sort_ints(tensor, dim, descending=True)[0], dim, k)

    def int_argtopk(self, tensor: Tensor, dim: int, k: int) -> Tensor:
        positions = sort_ints(tensor, dim, descending=True)[1]
        return own_positions(_first(positions, dim, k), tensor, dim)

    def int_topk_with_indices(self, tensor: Tensor, dim: int, k: int) -> tuple[Tensor, Tensor]:
        values, positions = sort_ints(tensor, dim, descending=True)
        top = own_positions(_first(positions, dim, k), tensor, dim)
        return _first(values, dim, k), top


def _first(ordered: Tensor, dim: int, k: int) -> Tensor:
    """A copy, so that the rest is not kept in memory."""
    return ordered.narrow(dim, 0, k).clone()
