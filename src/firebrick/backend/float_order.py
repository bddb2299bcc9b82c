"""Greatest, least and sorted elements of float tensors, and where they are.

One rule for NaN: the greatest and the least of elements with a NaN is NaN, at the position of
the first one; sorted, NaN comes last, in descending order too. Of equal elements the first one
comes first, in both directions. The k first of a descending sort are the top k.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.core import DType, normalize_dim
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import FloatTensor, IntTensor, P


class FloatOrder(OpSet[P], builtin=True):
    """Extremes, sorting and the top k."""

    @forms.position
    def float_argmax(self, tensor: FloatTensor[P], dim: int, out_dtype: DType) -> IntTensor[P]:
        """Index of maximum, dim kept."""
        raise NoDefault

    @forms.top_positions
    def float_argtopk(
        self, tensor: FloatTensor[P], dim: int, k: int, out_dtype: DType
    ) -> IntTensor[P]:
        """Argtopk."""
        b = self.backend
        first = [*[slice(None)] * normalize_dim(dim, len(tensor.shape)), slice(k)]
        return b.int_slice(b.float_argsort(tensor, dim, True, out_dtype), first)

    @forms.top
    def float_topk(self, tensor: FloatTensor[P], dim: int, k: int) -> FloatTensor[P]:
        """Topk."""
        b = self.backend
        first = [*[slice(None)] * normalize_dim(dim, len(tensor.shape)), slice(k)]
        return b.float_slice(b.float_sort(tensor, dim, True), first)

    @forms.top_pair
    def float_topk_with_indices(
        self, tensor: FloatTensor[P], dim: int, k: int, out_dtype: DType
    ) -> tuple[FloatTensor[P], IntTensor[P]]:
        """Topk with indices."""
        positions = self.backend.float_argtopk(tensor, dim, k, out_dtype)
        return self.backend.float_gather(dim, tensor, positions), positions

    @forms.position
    def float_argmin(self, tensor: FloatTensor[P], dim: int, out_dtype: DType) -> IntTensor[P]:
        """Index of minimum, dim kept."""
        return self.backend.float_argmax(self.backend.float_neg(tensor), dim, out_dtype)

    @forms.total_of_some
    def float_max(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Max."""
        b = self.backend
        return b.float_reshape(b.float_max_dim(b.float_reshape(tensor, (-1,)), 0), ())

    @forms.reduced_of_some
    def float_max_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Max dim."""
        b = self.backend
        return b.float_max_dim_with_indices(tensor, dim, self._index_dtype(tensor))[0]

    @forms.extreme_pair
    def float_max_dim_with_indices(
        self, tensor: FloatTensor[P], dim: int, indices_dtype: DType
    ) -> tuple[FloatTensor[P], IntTensor[P]]:
        """Max dim with indices."""
        position = self.backend.float_argmax(tensor, dim, indices_dtype)
        return self.backend.float_gather(dim, tensor, position), position

    @forms.total_of_some
    def float_min(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Min."""
        b = self.backend
        return b.float_reshape(b.float_min_dim(b.float_reshape(tensor, (-1,)), 0), ())

    @forms.reduced_of_some
    def float_min_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Min dim."""
        b = self.backend
        return b.float_min_dim_with_indices(tensor, dim, self._index_dtype(tensor))[0]

    @forms.extreme_pair
    def float_min_dim_with_indices(
        self, tensor: FloatTensor[P], dim: int, indices_dtype: DType
    ) -> tuple[FloatTensor[P], IntTensor[P]]:
        """Min dim with indices."""
        position = self.backend.float_argmin(tensor, dim, indices_dtype)
        return self.backend.float_gather(dim, tensor, position), position

    @forms.total_of_some
    def float_max_abs(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Max abs."""
        return self.backend.float_max(self.backend.float_abs(tensor))

    @forms.reduced_of_some
    def float_max_abs_dim(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Max abs dim."""
        return self.backend.float_max_dim(self.backend.float_abs(tensor), dim)

    @forms.along
    def float_sort(self, tensor: FloatTensor[P], dim: int, descending: bool) -> FloatTensor[P]:
        """Stable sort along dim; NaN last."""
        b = self.backend
        dtype = self._index_dtype(tensor)
        return b.float_sort_with_indices(tensor, dim, descending, dtype)[0]

    @forms.sorted_pair
    def float_sort_with_indices(
        self, tensor: FloatTensor[P], dim: int, descending: bool, indices_dtype: DType
    ) -> tuple[FloatTensor[P], IntTensor[P]]:
        """Stable sort and source positions."""
        positions = self.backend.float_argsort(tensor, dim, descending, indices_dtype)
        return self.backend.float_gather(dim, tensor, positions), positions

    @forms.positions
    def float_argsort(
        self, tensor: FloatTensor[P], dim: int, descending: bool, out_dtype: DType
    ) -> IntTensor[P]:
        """As sort, positions only."""
        raise NoDefault

    def _index_dtype(self, tensor: P) -> DType:
        return self.backend.default_dtypes(self.backend.device_of(tensor))["int"]
