"""Float tensors from nothing, from host data and from other kinds, and back to the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firebrick.backend import forms
from firebrick.backend.options import Array, Distribution, Scalar
from firebrick.core import Device, DType, to_numpy_dtype
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import FloatTensor, IntTensor, P


class FloatCreation(OpSet[P], builtin=True):
    """Creation, conversion and the marks that differentiation reads."""

    @forms.float_data
    def float_from_data(self, data: Array, device: Device) -> FloatTensor[P]:
        """Build from host data; dtype and shape are those of the data.

        Data that cannot be written may be shared; other data is copied.
        """
        raise NoDefault

    @forms.new_float
    def float_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> FloatTensor[P]:
        """Sample from a distribution."""
        raise NoDefault

    @forms.new_float
    def float_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> FloatTensor[P]:
        """All 0."""
        return self.backend.float_full(shape, 0.0, device, dtype)

    @forms.new_float
    def float_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> FloatTensor[P]:
        """All 1."""
        return self.backend.float_full(shape, 1.0, device, dtype)

    @forms.new_float
    def float_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> FloatTensor[P]:
        """Constant."""
        data = np.full(tuple(shape), fill_value, to_numpy_dtype(dtype))
        return self.backend.float_from_data(data, device)

    @forms.host_read
    def float_into_data(self, tensor: FloatTensor[P]) -> Array:
        """The values on the host, not to be written; deferred errors surface here."""
        raise NoDefault

    @views("tensor")
    @forms.elementwise
    def float_to_device(self, tensor: FloatTensor[P], device: Device) -> FloatTensor[P]:
        """Move; same device returns the input."""
        raise NoDefault

    @forms.as_int
    def float_into_int(self, tensor: FloatTensor[P], out_dtype: DType) -> IntTensor[P]:
        """Convert, float truncates toward zero."""
        raise NoDefault

    @forms.new_float
    def float_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> FloatTensor[P]:
        """Uninitialised contents."""
        return self.backend.float_zeros(shape, device, dtype)

    @views("tensor")
    @forms.cast_float
    def float_cast(self, tensor: FloatTensor[P], dtype: DType) -> FloatTensor[P]:
        """Change dtype inside the kind."""
        raise NoDefault

    @views("tensor")
    @forms.elementwise
    def float_detach(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Cut from the graph."""
        return tensor

    @views("tensor")
    @forms.elementwise
    def float_set_require_grad(self, tensor: FloatTensor[P], require_grad: bool) -> FloatTensor[P]:
        """A leaf with that flag."""
        return tensor

    @forms.host_read
    def float_is_require_grad(self, tensor: FloatTensor[P]) -> bool:
        """Whether the leaf is marked."""
        return False
