"""Arrays from nothing and from host data, other dtypes, and back to the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firebrick.backend.dtypes import check_integer, of_data, of_kind
from firebrick.backend.options import Array, Scalar
from firebrick.backend.ranges import range_numbers
from firebrick.backends.array.quiet import quietly
from firebrick.core import Device, DType, Kind, to_numpy_dtype


class Creation:
    """Creation, conversion and reading; the device is always this process' memory."""

    def float_from_data(self, data: Array, device: Device) -> Array:
        return _own(data, "float")

    def int_from_data(self, data: Array, device: Device) -> Array:
        return _own(data, "int")

    def bool_from_data(self, data: Array, device: Device) -> Array:
        return _own(data, "bool")

    def float_into_data(self, tensor: Array) -> Array:
        values = tensor.view()
        values.flags.writeable = False
        return values

    int_into_data = bool_into_data = float_into_data

    def float_to_device(self, tensor: Array, device: Device) -> Array:
        return tensor

    int_to_device = bool_to_device = float_to_device

    def float_cast(self, tensor: Array, dtype: DType) -> Array:
        return _converted(tensor, of_kind(dtype, "float"))

    def int_cast(self, tensor: Array, dtype: DType) -> Array:
        return _converted(tensor, of_kind(dtype, "int"))

    def float_into_int(self, tensor: Array, out_dtype: DType) -> Array:
        return _converted(tensor, of_kind(out_dtype, "int"))

    bool_into_int = float_into_int

    def int_into_float(self, tensor: Array, out_dtype: DType) -> Array:
        return _converted(tensor, of_kind(out_dtype, "float"))

    bool_into_float = int_into_float

    def float_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.empty(tuple(shape), to_numpy_dtype(of_kind(dtype, "float")))

    def float_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.zeros(tuple(shape), to_numpy_dtype(of_kind(dtype, "float")))

    def float_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.ones(tuple(shape), to_numpy_dtype(of_kind(dtype, "float")))

    def float_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> Array:
        wanted = to_numpy_dtype(of_kind(dtype, "float"))
        return quietly(np.full, tuple(shape), float(fill_value), wanted)

    def int_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.empty(tuple(shape), to_numpy_dtype(of_kind(dtype, "int")))

    def int_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.zeros(tuple(shape), to_numpy_dtype(of_kind(dtype, "int")))

    def int_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.ones(tuple(shape), to_numpy_dtype(of_kind(dtype, "int")))

    def int_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> Array:
        check_integer(fill_value, of_kind(dtype, "int"))
        return np.full(tuple(shape), fill_value, to_numpy_dtype(dtype))

    def int_arange(self, range: range, device: Device, dtype: DType) -> Array:
        return range_numbers(range, dtype)

    def int_arange_step(self, range: range, step: int, device: Device, dtype: DType) -> Array:
        return self.int_arange(range[::step], device, dtype)

    def bool_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.zeros(tuple(shape), to_numpy_dtype(of_kind(dtype, "bool")))

    def bool_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.ones(tuple(shape), to_numpy_dtype(of_kind(dtype, "bool")))

    def bool_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Array:
        return np.empty(tuple(shape), to_numpy_dtype(of_kind(dtype, "bool")))


def _own(data: Array, kind: Kind) -> Array:
    """The data in native byte order; a copy unless nobody can write it."""
    wanted = to_numpy_dtype(of_data(data, kind))
    return np.array(data, wanted, copy=True if _may_change(data) else None)


def _may_change(data: Array) -> bool:
    """Whether somebody can still write the memory: through the array, or one it is a view of."""
    owner: object = data
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return False


def _converted(tensor: Array, dtype: DType) -> Array:
    return quietly(tensor.astype, to_numpy_dtype(dtype), copy=False)
