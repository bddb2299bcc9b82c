"""Outputs that are positions along a dimension, for the `@fusion` forms, some beside their values.

As in `shapes.py`, functions take the operands by the names that the operations give them. The
dtype of positions is asked for, or that of an integer tensor; it must hold them all.
"""

from __future__ import annotations

from firebrick.backend import shapes
from firebrick.backend.dtypes import check_positions, of_kind
from firebrick.core import DType, Shape, TensorSpec

Pair = tuple[TensorSpec, TensorSpec]


def of_one(tensor: TensorSpec, dim: int, out_dtype: DType) -> TensorSpec:
    """Where one element is."""
    return _spec(tensor, dim, shapes.reduced_of_some(tensor.shape, dim), out_dtype)


def of_all(tensor: TensorSpec, dim: int, out_dtype: DType) -> TensorSpec:
    """Where each element is."""
    return _spec(tensor, dim, shapes.along(tensor.shape, dim), out_dtype)


def of_top(tensor: TensorSpec, dim: int, k: int, out_dtype: DType) -> TensorSpec:
    """Where the `k` first elements are."""
    return _spec(tensor, dim, shapes.top(tensor.shape, dim, k), out_dtype)


def with_one(tensor: TensorSpec, dim: int, indices_dtype: DType) -> Pair:
    """One element and where it is."""
    return _pair(tensor, of_one(tensor, dim, indices_dtype))


def with_all(tensor: TensorSpec, dim: int, indices_dtype: DType) -> Pair:
    """Each element and where it is."""
    return _pair(tensor, of_all(tensor, dim, indices_dtype))


def with_top(tensor: TensorSpec, dim: int, k: int, out_dtype: DType) -> Pair:
    """The `k` first elements and where they are."""
    return _pair(tensor, of_top(tensor, dim, k, out_dtype))


def own_of_one(tensor: TensorSpec, dim: int) -> TensorSpec:
    """Where one element of an integer tensor is."""
    return of_one(tensor, dim, tensor.dtype)


def own_of_all(tensor: TensorSpec, dim: int) -> TensorSpec:
    """Where each element of an integer tensor is."""
    return of_all(tensor, dim, tensor.dtype)


def own_of_top(tensor: TensorSpec, dim: int, k: int) -> TensorSpec:
    """Where the `k` first elements of an integer tensor are."""
    return of_top(tensor, dim, k, tensor.dtype)


def own_with_one(tensor: TensorSpec, dim: int) -> Pair:
    """One element of an integer tensor and where it is."""
    return with_one(tensor, dim, tensor.dtype)


def own_with_all(tensor: TensorSpec, dim: int) -> Pair:
    """Each element of an integer tensor and where it is."""
    return with_all(tensor, dim, tensor.dtype)


def own_with_top(tensor: TensorSpec, dim: int, k: int) -> Pair:
    """The `k` first elements of an integer tensor and where they are."""
    return with_top(tensor, dim, k, tensor.dtype)


def _spec(tensor: TensorSpec, dim: int, shape: Shape, dtype: DType) -> TensorSpec:
    check_positions(tensor.shape, dim, of_kind(dtype, "int"))
    return TensorSpec(shape, dtype)


def _pair(tensor: TensorSpec, positions: TensorSpec) -> Pair:
    return TensorSpec(positions.shape, tensor.dtype), positions
