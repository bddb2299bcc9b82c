"""Sums, products, means and running values of integer tensors.

Results stay in the dtype and wrap when they are out of its range; means do not. Reductions with
`dim` keep it with size 1, those without give 0-d.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.core import int64, normalize_dim
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import IntTensor, P


class IntReduction(OpSet[P], builtin=True):
    """Values of many elements together, order apart."""

    @forms.total
    def int_sum(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Sum of all elements, 0-d."""
        b = self.backend
        return b.int_reshape(b.int_sum_dim(b.int_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def int_sum_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Keeps the dim with size 1."""
        raise NoDefault

    @forms.total
    def int_prod(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Full product."""
        b = self.backend
        return b.int_reshape(b.int_prod_dim(b.int_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def int_prod_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Product, dim kept."""
        raise NoDefault

    @forms.total
    def int_mean(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Mean, truncated; 0 if there is no element."""
        b = self.backend
        return b.int_reshape(b.int_mean_dim(b.int_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def int_mean_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Dim kept."""
        b = self.backend
        count = tensor.shape[normalize_dim(dim, len(tensor.shape))]
        dtype = b.dtype_of(tensor)
        # the sum of a narrow dtype may be out of its range although the mean is not
        wide = tensor if dtype.itemsize == int64.itemsize else b.int_cast(tensor, int64)
        return b.int_cast(b.int_div_scalar(b.int_sum_dim(wide, dim), count), dtype)

    @forms.along
    def int_cumsum(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Running sum."""
        raise NoDefault

    @forms.along
    def int_cumprod(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Running product."""
        raise NoDefault

    @forms.along
    def int_cummin(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Running minimum."""
        raise NoDefault

    @forms.along
    def int_cummax(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Running maximum."""
        raise NoDefault
