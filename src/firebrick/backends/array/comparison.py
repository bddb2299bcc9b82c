"""Comparisons, truth values and questions about the elements of arrays."""

from __future__ import annotations

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array.elementwise import Applied
from firebrick.core import DType


class Comparison(Applied):
    """From arrays of any kind to arrays of truth values, which have one dtype: `out_dtype`."""

    def float_equal(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.equal, lhs, rhs)

    def float_not_equal(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.not_equal, lhs, rhs)

    def float_greater(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.greater, lhs, rhs)

    def float_greater_equal(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.greater_equal, lhs, rhs)

    def float_lower(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.less, lhs, rhs)

    def float_lower_equal(self, lhs: Array, rhs: Array, out_dtype: DType) -> Array:
        return self.binary(np.less_equal, lhs, rhs)

    def float_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.equal, lhs, float(rhs))

    def float_not_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.not_equal, lhs, float(rhs))

    def float_greater_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.greater, lhs, float(rhs))

    def float_greater_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.greater_equal, lhs, float(rhs))

    def float_lower_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.less, lhs, float(rhs))

    def float_lower_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.less_equal, lhs, float(rhs))

    def int_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.equal, lhs, rhs)

    def int_not_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.not_equal, lhs, rhs)

    def int_greater_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.greater, lhs, rhs)

    def int_greater_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.greater_equal, lhs, rhs)

    def int_lower_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.less, lhs, rhs)

    def int_lower_equal_elem(self, lhs: Array, rhs: Scalar, out_dtype: DType) -> Array:
        return self.with_number(np.less_equal, lhs, rhs)

    int_equal = float_equal
    int_not_equal = float_not_equal
    int_greater = float_greater
    int_greater_equal = float_greater_equal
    int_lower = float_lower
    int_lower_equal = float_lower_equal

    def float_is_nan(self, tensor: Array, out_dtype: DType) -> Array:
        return self.unary(np.isnan, tensor)

    def float_is_inf(self, tensor: Array, out_dtype: DType) -> Array:
        return self.unary(np.isinf, tensor)

    def float_any(self, tensor: Array, out_dtype: DType) -> Array:
        return self.bool_any(tensor)

    def float_any_dim(self, tensor: Array, dim: int, out_dtype: DType) -> Array:
        return self.bool_any_dim(tensor, dim)

    def float_all(self, tensor: Array, out_dtype: DType) -> Array:
        return self.bool_all(tensor)

    def float_all_dim(self, tensor: Array, dim: int, out_dtype: DType) -> Array:
        return self.bool_all_dim(tensor, dim)

    int_any = float_any
    int_any_dim = float_any_dim
    int_all = float_all
    int_all_dim = float_all_dim

    def bool_any(self, tensor: Array) -> Array:
        return np.asarray(tensor.any())

    def bool_any_dim(self, tensor: Array, dim: int) -> Array:
        return np.asarray(tensor.any(dim, keepdims=True))

    def bool_all(self, tensor: Array) -> Array:
        return np.asarray(tensor.all())

    def bool_all_dim(self, tensor: Array, dim: int) -> Array:
        return np.asarray(tensor.all(dim, keepdims=True))

    def bool_equal(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.equal, lhs, rhs)

    def bool_not_equal(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.not_equal, lhs, rhs)

    def bool_equal_elem(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.equal, lhs, rhs)

    def bool_not_equal_elem(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.not_equal, lhs, rhs)

    def bool_not(self, tensor: Array) -> Array:
        return self.unary(np.logical_not, tensor)

    def bool_and(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.logical_and, lhs, rhs)

    def bool_or(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.logical_or, lhs, rhs)

    def bool_xor(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.logical_xor, lhs, rhs)
