"""Comparisons of floats and ints. Every result is torch's bool, whatever `out_dtype` is called."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firebrick.backends.libtorch.dtypes import int_range
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import DType, Scalar

if TYPE_CHECKING:
    from torch import Tensor

Comparison = Callable[[Any, Any], Any]

# x < 1.5 and x <= 1.5 both mean x <= 1 for an integer x; the other two mean x > 1.
WITH_FLOOR: dict[Comparison, Comparison] = {
    operator.lt: operator.le,
    operator.le: operator.le,
    operator.gt: operator.gt,
    operator.ge: operator.gt,
}


def compare_int(compare: Comparison, tensor: Tensor, scalar: Scalar) -> Tensor:
    """An int tensor against any number: torch would wrap one that the dtype does not hold."""
    low, high = int_range(tensor.dtype)
    if low <= scalar <= high:
        whole = math.floor(scalar)
        if whole == scalar:
            return compare(tensor, whole)
        if compare in WITH_FLOOR:
            return WITH_FLOOR[compare](tensor, whole)
    # Out of range, a fraction that nothing equals, or NaN: the same for every integer.
    return torch.full_like(tensor, compare(low, scalar), dtype=torch.bool)


class Comparisons:
    """`==`, `!=`, `>`, `>=`, `<` and `<=` with tensors and with numbers; NaN and infinity."""

    def float_equal(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.eq(lhs, rhs)

    def float_not_equal(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.ne(lhs, rhs)

    def float_greater(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.gt(lhs, rhs)

    def float_greater_equal(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.ge(lhs, rhs)

    def float_lower(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.lt(lhs, rhs)

    def float_lower_equal(self, lhs: Tensor, rhs: Tensor, out_dtype: DType) -> Tensor:
        return torch.le(lhs, rhs)

    int_equal = float_equal
    int_not_equal = float_not_equal
    int_greater = float_greater
    int_greater_equal = float_greater_equal
    int_lower = float_lower
    int_lower_equal = float_lower_equal

    def float_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.eq(lhs, float(rhs))

    def float_not_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.ne(lhs, float(rhs))

    def float_greater_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.gt(lhs, float(rhs))

    def float_greater_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.ge(lhs, float(rhs))

    def float_lower_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.lt(lhs, float(rhs))

    def float_lower_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return torch.le(lhs, float(rhs))

    def int_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.eq, lhs, rhs)

    def int_not_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.ne, lhs, rhs)

    def int_greater_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.gt, lhs, rhs)

    def int_greater_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.ge, lhs, rhs)

    def int_lower_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.lt, lhs, rhs)

    def int_lower_equal_elem(self, lhs: Tensor, rhs: Scalar, out_dtype: DType) -> Tensor:
        return compare_int(operator.le, lhs, rhs)

    def float_is_nan(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return torch.isnan(tensor)

    def float_is_inf(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return torch.isinf(tensor)
