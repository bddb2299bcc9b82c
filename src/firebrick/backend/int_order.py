"""Greatest, least and sorted elements of integer tensors, and where they are.

Of equal elements the first one comes first, in both directions. Positions have the dtype of the
tensor: `DTypeError` if it does not hold them all.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.core import normalize_dim
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import IntTensor, P


class IntOrder(OpSet[P], builtin=True):
    """Extremes, sorting and the top k."""

    @forms.own_position
    def int_argmax(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Result has the INPUT int dtype (no out_dtype argument)."""
        raise NoDefault

    @forms.own_top_positions
    def int_argtopk(self, tensor: IntTensor[P], dim: int, k: int) -> IntTensor[P]:
        """Argtopk."""
        b = self.backend
        first = [*[slice(None)] * normalize_dim(dim, len(tensor.shape)), slice(k)]
        return b.int_slice(b.int_argsort(tensor, dim, True), first)

    @forms.top
    def int_topk(self, tensor: IntTensor[P], dim: int, k: int) -> IntTensor[P]:
        """Topk."""
        b = self.backend
        first = [*[slice(None)] * normalize_dim(dim, len(tensor.shape)), slice(k)]
        return b.int_slice(b.int_sort(tensor, dim, True), first)

    @forms.own_top_pair
    def int_topk_with_indices(
        self, tensor: IntTensor[P], dim: int, k: int
    ) -> tuple[IntTensor[P], IntTensor[P]]:
        """Topk with indices."""
        positions = self.backend.int_argtopk(tensor, dim, k)
        return self.backend.int_gather(dim, tensor, positions), positions

    @forms.own_position
    def int_argmin(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Index of minimum, dim kept."""
        # ~x reverses the order of signed and unsigned integers alike; -x wraps at the least one
        return self.backend.int_argmax(self.backend.bitwise_not(tensor), dim)

    @forms.total_of_some
    def int_max(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Max."""
        b = self.backend
        return b.int_reshape(b.int_max_dim(b.int_reshape(tensor, (-1,)), 0), ())

    @forms.reduced_of_some
    def int_max_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Max dim."""
        raise NoDefault

    @forms.own_extreme_pair
    def int_max_dim_with_indices(
        self, tensor: IntTensor[P], dim: int
    ) -> tuple[IntTensor[P], IntTensor[P]]:
        """Max dim with indices."""
        position = self.backend.int_argmax(tensor, dim)
        return self.backend.int_gather(dim, tensor, position), position

    @forms.total_of_some
    def int_max_abs(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Max abs."""
        return self.backend.int_max(self.backend.int_abs(tensor))

    @forms.reduced_of_some
    def int_max_abs_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Max abs dim."""
        return self.backend.int_max_dim(self.backend.int_abs(tensor), dim)

    @forms.total_of_some
    def int_min(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Min."""
        b = self.backend
        return b.int_reshape(b.int_min_dim(b.int_reshape(tensor, (-1,)), 0), ())

    @forms.reduced_of_some
    def int_min_dim(self, tensor: IntTensor[P], dim: int) -> IntTensor[P]:
        """Min dim."""
        b = self.backend
        return b.bitwise_not(b.int_max_dim(b.bitwise_not(tensor), dim))

    @forms.own_extreme_pair
    def int_min_dim_with_indices(
        self, tensor: IntTensor[P], dim: int
    ) -> tuple[IntTensor[P], IntTensor[P]]:
        """Min dim with indices."""
        position = self.backend.int_argmin(tensor, dim)
        return self.backend.int_gather(dim, tensor, position), position

    @forms.along
    def int_sort(self, tensor: IntTensor[P], dim: int, descending: bool) -> IntTensor[P]:
        """Stable sort along dim."""
        raise NoDefault

    @forms.own_sorted_pair
    def int_sort_with_indices(
        self, tensor: IntTensor[P], dim: int, descending: bool
    ) -> tuple[IntTensor[P], IntTensor[P]]:
        """Stable sort and source positions."""
        positions = self.backend.int_argsort(tensor, dim, descending)
        return self.backend.int_gather(dim, tensor, positions), positions

    @forms.own_positions
    def int_argsort(self, tensor: IntTensor[P], dim: int, descending: bool) -> IntTensor[P]:
        """As sort, positions only."""
        raise NoDefault
