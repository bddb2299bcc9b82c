"""Parts of float tensors: slices, masks, and elements or rows picked by indices.

Indices count from 0 and lie below the size of the dimension; others are a `ShapeError`. Where
an update meets one place twice, both count, except for `assign`: which value stays is not said.
"""

from __future__ import annotations

from collections.abc import Sequence

from firebrick.backend import forms
from firebrick.backend.options import Scalar, Update
from firebrick.backend.scalar_operand import scalar_operand
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import BoolTensor, FloatTensor, IntTensor, P


class FloatIndexing(OpSet[P], builtin=True):
    """Reading and writing parts; what is written is a new tensor."""

    @forms.gathered
    def float_gather(
        self, dim: int, tensor: FloatTensor[P], indices: IntTensor[P]
    ) -> FloatTensor[P]:
        """out[i..]=t[.., idx[i..], ..] along dim; index rank equals tensor rank."""
        raise NoDefault

    @forms.scattered
    def float_scatter_add(
        self, dim: int, tensor: FloatTensor[P], indices: IntTensor[P], value: FloatTensor[P]
    ) -> FloatTensor[P]:
        """Add value at index along dim."""
        return self.backend.float_scatter(dim, tensor, indices, value, "add")

    @forms.scattered
    def float_scatter(
        self,
        dim: int,
        tensor: FloatTensor[P],
        indices: IntTensor[P],
        value: FloatTensor[P],
        update: Update,
    ) -> FloatTensor[P]:
        """Scatter along dim with `update`."""
        raise NoDefault

    @forms.selected
    def float_select(
        self, tensor: FloatTensor[P], dim: int, indices: IntTensor[P]
    ) -> FloatTensor[P]:
        """Pick rows given by a 1-D index tensor along dim."""
        raise NoDefault

    @forms.select_assigned
    def float_select_add(
        self, tensor: FloatTensor[P], dim: int, indices: IntTensor[P], value: FloatTensor[P]
    ) -> FloatTensor[P]:
        """index-add rows along dim."""
        return self.backend.float_select_assign(tensor, dim, indices, value, "add")

    @forms.select_assigned
    def float_select_assign(
        self,
        tensor: FloatTensor[P],
        dim: int,
        indices: IntTensor[P],
        value: FloatTensor[P],
        update: Update,
    ) -> FloatTensor[P]:
        """Update rows along dim with `update`."""
        raise NoDefault

    @views("tensor")
    @forms.sliced
    def float_slice(self, tensor: FloatTensor[P], slices: Sequence[slice]) -> FloatTensor[P]:
        """per-dim start/end/step; negative step reverses."""
        raise NoDefault

    @forms.slice_assigned
    def float_slice_assign(
        self, tensor: FloatTensor[P], slices: Sequence[slice], value: FloatTensor[P]
    ) -> FloatTensor[P]:
        """Write a block; value has the shape of the slice."""
        raise NoDefault

    @forms.choice
    def float_mask_where(
        self, tensor: FloatTensor[P], mask: BoolTensor[P], value: FloatTensor[P]
    ) -> FloatTensor[P]:
        """Value where mask is true, else tensor; all three broadcast."""
        raise NoDefault

    @forms.fill
    def float_mask_fill(
        self, tensor: FloatTensor[P], mask: BoolTensor[P], value: Scalar
    ) -> FloatTensor[P]:
        """Scalar where mask is true."""
        return self.backend.float_mask_where(tensor, mask, scalar_operand(self, tensor, value))

    @forms.host_read
    def float_mask_select(self, tensor: FloatTensor[P], mask: BoolTensor[P]) -> FloatTensor[P]:
        """1-D values where mask is true; waits for the mask, which expands to the tensor."""
        b = self.backend
        whole = b.bool_reshape(b.bool_expand(mask, tensor.shape), (-1,))
        index_dtype = b.default_dtypes(b.device_of(tensor))["int"]
        positions = b.bool_argwhere(whole, index_dtype)
        return b.float_select(b.float_reshape(tensor, (-1,)), 0, b.int_reshape(positions, (-1,)))
