"""Integer tensors from nothing, from host data and from other kinds, and back to the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firebrick.backend import forms
from firebrick.backend.options import Array, Distribution, Scalar
from firebrick.backend.ranges import range_numbers
from firebrick.core import Device, DType, to_numpy_dtype
from firebrick.opset import NoDefault, OpSet, views
from firebrick.opset.kinds import FloatTensor, IntTensor, P


class IntCreation(OpSet[P], builtin=True):
    """Creation and conversion."""

    @forms.new_int
    def int_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> IntTensor[P]:
        """Uninitialised contents."""
        return self.backend.int_zeros(shape, device, dtype)

    @forms.host_read
    def int_into_data(self, tensor: IntTensor[P]) -> Array:
        """The values on the host, not to be written; deferred errors surface here."""
        raise NoDefault

    @forms.int_data
    def int_from_data(self, data: Array, device: Device) -> IntTensor[P]:
        """Build from host data; dtype and shape are those of the data.

        Data that cannot be written may be shared; other data is copied.
        """
        raise NoDefault

    @views("tensor")
    @forms.elementwise
    def int_to_device(self, tensor: IntTensor[P], device: Device) -> IntTensor[P]:
        """Move; same device returns the input."""
        raise NoDefault

    @forms.as_float
    def int_into_float(self, tensor: IntTensor[P], out_dtype: DType) -> FloatTensor[P]:
        """Convert to out_dtype."""
        raise NoDefault

    @views("tensor")
    @forms.cast_int
    def int_cast(self, tensor: IntTensor[P], dtype: DType) -> IntTensor[P]:
        """Change dtype inside the kind; values out of range wrap."""
        raise NoDefault

    @forms.new_int
    def int_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> IntTensor[P]:
        """All 0."""
        return self.backend.int_full(shape, 0, device, dtype)

    @forms.new_int
    def int_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> IntTensor[P]:
        """All 1."""
        return self.backend.int_full(shape, 1, device, dtype)

    @forms.filled_int
    def int_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> IntTensor[P]:
        """Constant."""
        data = np.full(tuple(shape), fill_value, to_numpy_dtype(dtype))
        return self.backend.int_from_data(data, device)

    @forms.new_int
    def int_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> IntTensor[P]:
        """Sample from a distribution; Default is 0..255, or as far as the dtype goes.

        Uniform draws whole numbers between its bounds, normal rounds to the nearest one.
        """
        raise NoDefault

    @forms.number_steps
    def int_arange_step(
        self, range: range, step: int, device: Device, dtype: DType
    ) -> IntTensor[P]:
        """Every `step`-th number of a range; `step` is at least 1."""
        return self.backend.int_from_data(range_numbers(range[::step], dtype), device)

    @forms.number_range
    def int_arange(self, range: range, device: Device, dtype: DType) -> IntTensor[P]:
        """The numbers of a range."""
        return self.backend.int_arange_step(range, 1, device, dtype)
