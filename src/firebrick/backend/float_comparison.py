"""Comparisons of float tensors, and questions about their elements.

NaN equals nothing and is neither lower nor greater than anything.
"""

from __future__ import annotations

from math import inf

from firebrick.backend import forms
from firebrick.backend.options import Scalar
from firebrick.backend.scalar_operand import scalar_operand
from firebrick.core import DType
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import BoolTensor, FloatTensor, P


class FloatComparison(OpSet[P], builtin=True):
    """From floats to truth values."""

    @forms.comparison
    def float_equal(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """Elementwise ==."""
        raise NoDefault

    @forms.comparison
    def float_not_equal(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """Not equal."""
        return self.backend.bool_not(self.backend.float_equal(lhs, rhs, out_dtype))

    @forms.comparison_with_scalar
    def float_equal_elem(self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """== scalar."""
        return self.backend.float_equal(lhs, scalar_operand(self, lhs, rhs), out_dtype)

    @forms.comparison_with_scalar
    def float_not_equal_elem(
        self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """Not equal elem."""
        return self.backend.bool_not(self.backend.float_equal_elem(lhs, rhs, out_dtype))

    @forms.comparison
    def float_greater(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """>."""
        return self.backend.float_lower(rhs, lhs, out_dtype)

    @forms.comparison_with_scalar
    def float_greater_elem(
        self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """> scalar."""
        return self.backend.float_greater(lhs, scalar_operand(self, lhs, rhs), out_dtype)

    @forms.comparison
    def float_greater_equal(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """>=."""
        return self.backend.float_lower_equal(rhs, lhs, out_dtype)

    @forms.comparison_with_scalar
    def float_greater_equal_elem(
        self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """>= scalar."""
        return self.backend.float_greater_equal(lhs, scalar_operand(self, lhs, rhs), out_dtype)

    @forms.comparison
    def float_lower(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """<."""
        raise NoDefault

    @forms.comparison_with_scalar
    def float_lower_elem(self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """< scalar."""
        return self.backend.float_lower(lhs, scalar_operand(self, lhs, rhs), out_dtype)

    @forms.comparison
    def float_lower_equal(
        self, lhs: FloatTensor[P], rhs: FloatTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """<=."""
        b = self.backend
        return b.bool_or(b.float_lower(lhs, rhs, out_dtype), b.float_equal(lhs, rhs, out_dtype))

    @forms.comparison_with_scalar
    def float_lower_equal_elem(
        self, lhs: FloatTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """<= scalar."""
        return self.backend.float_lower_equal(lhs, scalar_operand(self, lhs, rhs), out_dtype)

    @forms.total_truth
    def float_any(self, tensor: FloatTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """True if some element is nonzero; NaN is nonzero."""
        b = self.backend
        return b.bool_any(b.float_not_equal_elem(tensor, 0.0, out_dtype))

    @forms.truth
    def float_any_dim(self, tensor: FloatTensor[P], dim: int, out_dtype: DType) -> BoolTensor[P]:
        """As any, dim kept."""
        b = self.backend
        return b.bool_any_dim(b.float_not_equal_elem(tensor, 0.0, out_dtype), dim)

    @forms.total_truth
    def float_all(self, tensor: FloatTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """True if no element is zero; exact for every size."""
        b = self.backend
        return b.bool_all(b.float_not_equal_elem(tensor, 0.0, out_dtype))

    @forms.truth
    def float_all_dim(self, tensor: FloatTensor[P], dim: int, out_dtype: DType) -> BoolTensor[P]:
        """As all, dim kept."""
        b = self.backend
        return b.bool_all_dim(b.float_not_equal_elem(tensor, 0.0, out_dtype), dim)

    @forms.as_bool
    def float_is_nan(self, tensor: FloatTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """Is nan."""
        return self.backend.float_not_equal(tensor, tensor, out_dtype)

    @forms.as_bool
    def float_is_inf(self, tensor: FloatTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """Is inf."""
        return self.backend.float_equal_elem(self.backend.float_abs(tensor), inf, out_dtype)
