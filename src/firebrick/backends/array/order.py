"""Greatest, least and sorted elements of arrays, and where they are.

NumPy agrees with the rules of the contract: the extremes of elements with a NaN are NaN, at the
position of the first one, and sorted NaN comes last. A descending sort is an ascending one of
the elements in reversed order of values, so that equal ones keep their places.
"""

from __future__ import annotations

import numpy as np

from firebrick.backend.dtypes import check_positions
from firebrick.backend.options import Array
from firebrick.core import DType, from_numpy_dtype, to_numpy_dtype


class Order:
    """Extremes and sorting."""

    def float_argmax(self, tensor: Array, dim: int, out_dtype: DType) -> Array:
        check_positions(tensor.shape, dim, out_dtype)
        return tensor.argmax(dim, keepdims=True).astype(to_numpy_dtype(out_dtype))

    def float_argmin(self, tensor: Array, dim: int, out_dtype: DType) -> Array:
        check_positions(tensor.shape, dim, out_dtype)
        return tensor.argmin(dim, keepdims=True).astype(to_numpy_dtype(out_dtype))

    def int_argmax(self, tensor: Array, dim: int) -> Array:
        return self.float_argmax(tensor, dim, from_numpy_dtype(tensor.dtype))

    def int_argmin(self, tensor: Array, dim: int) -> Array:
        return self.float_argmin(tensor, dim, from_numpy_dtype(tensor.dtype))

    def float_max(self, tensor: Array) -> Array:
        return np.asarray(np.maximum.reduce(tensor, None))

    def float_max_dim(self, tensor: Array, dim: int) -> Array:
        return np.maximum.reduce(tensor, dim, keepdims=True)

    def float_min(self, tensor: Array) -> Array:
        return np.asarray(np.minimum.reduce(tensor, None))

    def float_min_dim(self, tensor: Array, dim: int) -> Array:
        return np.minimum.reduce(tensor, dim, keepdims=True)

    int_max = float_max
    int_max_dim = float_max_dim
    int_min = float_min
    int_min_dim = float_min_dim

    def float_sort(self, tensor: Array, dim: int, descending: bool) -> Array:
        return -_sorted(-tensor, dim) if descending else _sorted(tensor, dim)

    def float_argsort(self, tensor: Array, dim: int, descending: bool, out_dtype: DType) -> Array:
        return _argsorted(-tensor if descending else tensor, dim, out_dtype)

    def int_sort(self, tensor: Array, dim: int, descending: bool) -> Array:
        return ~_sorted(~tensor, dim) if descending else _sorted(tensor, dim)

    def int_argsort(self, tensor: Array, dim: int, descending: bool) -> Array:
        return _argsorted(~tensor if descending else tensor, dim, from_numpy_dtype(tensor.dtype))


def _sorted(tensor: Array, dim: int) -> Array:
    return np.sort(tensor, dim, kind="stable")


def _argsorted(tensor: Array, dim: int, dtype: DType) -> Array:
    check_positions(tensor.shape, dim, dtype)
    return np.argsort(tensor, dim, kind="stable").astype(to_numpy_dtype(dtype))
