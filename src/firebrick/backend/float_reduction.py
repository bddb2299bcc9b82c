"""Sums, products, means and running values of float tensors.

Sums and means of float16 are accumulated in float32. Reductions with `dim` keep it with size 1,
those without give 0-d.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.core import float32, normalize_dim
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import FloatTensor, P


class FloatReduction(OpSet[P], builtin=True):
    """Values of many elements together, order apart."""

    @forms.total
    def float_sum(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Sum of all elements, 0-d."""
        b = self.backend
        return b.float_reshape(b.float_sum_dim(b.float_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def float_sum_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Sum along dim, kept with size 1."""
        raise NoDefault

    @views("tensor")
    @forms.total
    def float_prod(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Product of all elements."""
        b = self.backend
        return b.float_reshape(b.float_prod_dim(b.float_reshape(tensor, (-1,)), 0), ())

    @views("tensor")
    @forms.reduced
    def float_prod_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Product along dim, kept with size 1."""
        b = self.backend
        shape = list(tensor.shape)
        position = normalize_dim(dim, len(shape))
        if shape[position] == 0:
            shape[position] = 1
            return b.float_ones(shape, b.device_of(tensor), b.dtype_of(tensor))
        product = tensor
        # halves are multiplied, so that the gradient is right where a factor is zero
        while (size := product.shape[position]) > 1:
            half = size // 2
            left = self._part(product, position, 0, half)
            pairs = b.float_mul(left, self._part(product, position, half, 2 * half))
            odd = self._part(product, position, 2 * half, size)
            product = b.float_cat([pairs, odd], position) if size % 2 else pairs
        return product

    @forms.total
    def float_mean(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Mean of all elements; NaN if there is none."""
        b = self.backend
        return b.float_reshape(b.float_mean_dim(b.float_reshape(tensor, (-1,)), 0), ())

    @forms.reduced
    def float_mean_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Mean along dim, kept with size 1."""
        b = self.backend
        count = tensor.shape[normalize_dim(dim, len(tensor.shape))]
        dtype = b.dtype_of(tensor)
        if dtype.itemsize >= float32.itemsize:
            return b.float_div_scalar(b.float_sum_dim(tensor, dim), count)
        # the sum of a narrow dtype may be out of its range although the mean is not
        total = b.float_sum_dim(b.float_cast(tensor, float32), dim)
        return b.float_cast(b.float_div_scalar(total, count), dtype)

    @forms.along
    def float_cumsum(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Running sum."""
        raise NoDefault

    @forms.along
    def float_cumprod(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Running product."""
        raise NoDefault

    @forms.along
    def float_cummin(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Running minimum; NaN from the first NaN on."""
        raise NoDefault

    @forms.along
    def float_cummax(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Running maximum; NaN from the first NaN on."""
        raise NoDefault

    def _part(self, tensor: P, position: int, start: int, stop: int) -> P:
        return self.backend.float_slice(tensor, [*[slice(None)] * position, slice(start, stop)])
