"""Dimensions, and positions along them, as operations take and return them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backend.dtypes import check_positions
from firebrick.backends.libtorch.dtypes import dtypes, torch_dtype
from firebrick.core import DType, normalize_dim

if TYPE_CHECKING:
    from torch import Tensor


def axis(tensor: Tensor, dim: int) -> int:
    """`dim` counted from the front; `ShapeError` if there is none, where torch may take it."""
    return normalize_dim(dim, tensor.ndim)


def as_positions(positions: Tensor, tensor: Tensor, dim: int, dtype: DType) -> Tensor:
    """Positions along `dim` of `tensor` in `dtype`; `DTypeError` unless it holds all there are."""
    check_positions(tensor.shape, dim, dtype)
    return positions.to(torch_dtype(dtype, "int"))


def own_positions(positions: Tensor, tensor: Tensor, dim: int) -> Tensor:
    """Positions along `dim` of an int tensor in its dtype; `DTypeError` as above."""
    return as_positions(positions, tensor, dim, dtypes()[tensor.dtype])
