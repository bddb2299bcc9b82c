"""Comparisons of integer tensors, and questions about their elements.

A scalar need not fit the tensor's dtype: comparisons with it are exact.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.backend.options import Scalar
from firebrick.core import DType
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import BoolTensor, IntTensor, P


class IntComparison(OpSet[P], builtin=True):
    """From integers to truth values."""

    @forms.comparison
    def int_equal(self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """Elementwise ==."""
        raise NoDefault

    @forms.comparison
    def int_not_equal(
        self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """Not equal."""
        return self.backend.bool_not(self.backend.int_equal(lhs, rhs, out_dtype))

    @forms.comparison_with_scalar
    def int_equal_elem(self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """== scalar."""
        raise NoDefault

    @forms.comparison_with_scalar
    def int_not_equal_elem(self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """Not equal elem."""
        return self.backend.bool_not(self.backend.int_equal_elem(lhs, rhs, out_dtype))

    @forms.comparison
    def int_greater(self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """>."""
        return self.backend.int_lower(rhs, lhs, out_dtype)

    @forms.comparison_with_scalar
    def int_greater_elem(self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """> scalar."""
        return self.backend.bool_not(self.backend.int_lower_equal_elem(lhs, rhs, out_dtype))

    @forms.comparison
    def int_greater_equal(
        self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """>=."""
        return self.backend.bool_not(self.backend.int_lower(lhs, rhs, out_dtype))

    @forms.comparison_with_scalar
    def int_greater_equal_elem(
        self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """>= scalar."""
        return self.backend.bool_not(self.backend.int_lower_elem(lhs, rhs, out_dtype))

    @forms.comparison
    def int_lower(self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """<."""
        raise NoDefault

    @forms.comparison_with_scalar
    def int_lower_elem(self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType) -> BoolTensor[P]:
        """< scalar."""
        raise NoDefault

    @forms.comparison
    def int_lower_equal(
        self, lhs: IntTensor[P], rhs: IntTensor[P], out_dtype: DType
    ) -> BoolTensor[P]:
        """<=."""
        return self.backend.bool_not(self.backend.int_lower(rhs, lhs, out_dtype))

    @forms.comparison_with_scalar
    def int_lower_equal_elem(
        self, lhs: IntTensor[P], rhs: Scalar, out_dtype: DType
    ) -> BoolTensor[P]:
        """<= scalar."""
        b = self.backend
        lower = b.int_lower_elem(lhs, rhs, out_dtype)
        return b.bool_or(lower, b.int_equal_elem(lhs, rhs, out_dtype))

    @forms.total_truth
    def int_any(self, tensor: IntTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """True if some element is nonzero."""
        return self.backend.bool_any(self.backend.int_not_equal_elem(tensor, 0, out_dtype))

    @forms.truth
    def int_any_dim(self, tensor: IntTensor[P], dim: int, out_dtype: DType) -> BoolTensor[P]:
        """As any, dim kept."""
        return self.backend.bool_any_dim(self.backend.int_not_equal_elem(tensor, 0, out_dtype), dim)

    @forms.total_truth
    def int_all(self, tensor: IntTensor[P], out_dtype: DType) -> BoolTensor[P]:
        """True if no element is zero."""
        return self.backend.bool_all(self.backend.int_not_equal_elem(tensor, 0, out_dtype))

    @forms.truth
    def int_all_dim(self, tensor: IntTensor[P], dim: int, out_dtype: DType) -> BoolTensor[P]:
        """As all, dim kept."""
        return self.backend.bool_all_dim(self.backend.int_not_equal_elem(tensor, 0, out_dtype), dim)
