"""Sums, products, means and running values of arrays.

Narrow floats are accumulated in a wider dtype and rounded once; integers wrap in their dtype.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firebrick.backend.options import Array
from firebrick.backends.array.int_math import truncated_quotient
from firebrick.backends.array.quiet import quietly
from firebrick.backends.array.summation import sum_all, sum_along

NpDType = np.dtype[np.generic]
FLOAT16: NpDType = np.dtype(np.float16)
FLOAT32: NpDType = np.dtype(np.float32)
WIDER: dict[NpDType, NpDType] = {FLOAT16: FLOAT32, FLOAT32: np.dtype(np.float64)}


def _accumulator(dtype: NpDType) -> NpDType:
    """Of one result: a float16 sum in float32, everything else in its own dtype."""
    return FLOAT32 if dtype == FLOAT16 else dtype


def _running_accumulator(dtype: NpDType) -> NpDType:
    """Of running results, which are added one by one: the next wider float."""
    return WIDER.get(dtype, dtype)


class Reduction:
    """Values of many elements together, order apart."""

    def float_sum(self, tensor: Array) -> Array:
        return self._reduced(sum_all, tensor)

    def float_sum_dim(self, tensor: Array, dim: int) -> Array:
        return self._reduced(sum_along, tensor, dim)

    def float_mean(self, tensor: Array) -> Array:
        return self._reduced(_mean_all, tensor)

    def float_mean_dim(self, tensor: Array, dim: int) -> Array:
        return self._reduced(_mean_along, tensor, dim)

    def float_prod(self, tensor: Array) -> Array:
        return self._reduced(_product_all, tensor)

    def float_prod_dim(self, tensor: Array, dim: int) -> Array:
        return self._reduced(_product_along, tensor, dim)

    int_sum = float_sum
    int_sum_dim = float_sum_dim
    int_prod = float_prod
    int_prod_dim = float_prod_dim

    def int_mean(self, tensor: Array) -> Array:
        total = sum_all(tensor, _widest(tensor))
        return _truncated_mean(total, tensor.size, tensor.dtype)

    def int_mean_dim(self, tensor: Array, dim: int) -> Array:
        total = sum_along(tensor, dim, _widest(tensor))
        return _truncated_mean(total, tensor.shape[dim], tensor.dtype)

    def float_cumsum(self, tensor: Array, dim: int) -> Array:
        return self._running(np.add, tensor, dim)

    def float_cumprod(self, tensor: Array, dim: int) -> Array:
        return self._running(np.multiply, tensor, dim)

    def float_cummin(self, tensor: Array, dim: int) -> Array:
        return np.minimum.accumulate(tensor, dim)

    def float_cummax(self, tensor: Array, dim: int) -> Array:
        return np.maximum.accumulate(tensor, dim)

    int_cumsum = float_cumsum
    int_cumprod = float_cumprod
    int_cummin = float_cummin
    int_cummax = float_cummax

    def _reduced(self, function: Callable[..., Array], tensor: Array, *dim: int) -> Array:
        def reduce() -> Array:
            total = function(tensor, *dim, _accumulator(tensor.dtype))
            return total.astype(tensor.dtype, copy=False)

        return quietly(reduce)

    def _running(self, function: np.ufunc, tensor: Array, dim: int) -> Array:
        def accumulate() -> Array:
            wide = function.accumulate(tensor, dim, _running_accumulator(tensor.dtype))
            return wide.astype(tensor.dtype, copy=False)

        return quietly(accumulate)


def _mean_all(array: Array, accumulator: NpDType) -> Array:
    return np.asarray(np.divide(sum_all(array, accumulator), float(array.size)))


def _mean_along(array: Array, dim: int, accumulator: NpDType) -> Array:
    return np.divide(sum_along(array, dim, accumulator), float(array.shape[dim]))


def _product_all(array: Array, accumulator: NpDType) -> Array:
    return np.asarray(np.multiply.reduce(array, None, accumulator))


def _product_along(array: Array, dim: int, accumulator: NpDType) -> Array:
    return np.multiply.reduce(array, dim, accumulator, keepdims=True)


def _widest(tensor: Array) -> NpDType:
    return np.dtype(np.uint64 if tensor.dtype.kind == "u" else np.int64)


def _truncated_mean(total: Array, count: int, dtype: NpDType) -> Array:
    quotient = quietly(truncated_quotient, total, np.asarray(count, total.dtype))
    return np.asarray(quotient).astype(dtype)
