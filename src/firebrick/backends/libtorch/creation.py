"""Tensors from host data and from constants; reading them; other dtypes, kinds and places.

Random tensors are in `random.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from firebrick.backend.dtypes import of_data, of_range
from firebrick.backend.options import Array
from firebrick.backends.libtorch.dtypes import (
    float_scalar,
    int_scalar,
    torch_dtype,
)
from firebrick.backends.libtorch.hardware import Hardware
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Device, DType, Kind, Scalar
from firebrick.errors import DTypeError

if TYPE_CHECKING:
    from torch import Tensor


class Creation(Hardware):
    """Making, reading, converting and moving."""

    def float_from_data(self, data: Array, device: Device) -> Tensor:
        return self._from_data(data, "float", device)

    def int_from_data(self, data: Array, device: Device) -> Tensor:
        return self._from_data(data, "int", device)

    def bool_from_data(self, data: Array, device: Device) -> Tensor:
        return self._from_data(data, "bool", device)

    def _from_data(self, data: Array, kind: Kind, device: Device) -> Tensor:
        torch_dtype(of_data(data, kind), kind)
        # Torch can share neither memory that must not be written nor strides below 0.
        own = np.array(data, dtype=data.dtype.newbyteorder("="), order="C")
        return torch.as_tensor(own, device=self.place(device))

    def float_into_data(self, tensor: Tensor) -> Array:
        if tensor.dtype is torch.bfloat16:
            raise DTypeError("NumPy has no bfloat16; cast to float32 before reading values.")
        array = tensor.cpu().numpy()
        # It may be the tensor's own memory.
        array.flags.writeable = False
        return array

    int_into_data = bool_into_data = float_into_data

    def float_to_device(self, tensor: Tensor, device: Device) -> Tensor:
        return tensor.to(self.place(device))

    int_to_device = bool_to_device = float_to_device

    def float_cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        return tensor.to(torch_dtype(dtype, "float"))

    def int_cast(self, tensor: Tensor, dtype: DType) -> Tensor:
        return tensor.to(torch_dtype(dtype, "int"))

    def float_into_int(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return tensor.to(torch_dtype(out_dtype, "int"))

    bool_into_int = float_into_int

    def int_into_float(self, tensor: Tensor, out_dtype: DType) -> Tensor:
        return tensor.to(torch_dtype(out_dtype, "float"))

    bool_into_float = int_into_float

    def float_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "float")
        return torch.empty(tuple(shape), dtype=known, device=self.place(device))

    def float_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "float")
        return torch.zeros(tuple(shape), dtype=known, device=self.place(device))

    def float_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "float")
        return torch.ones(tuple(shape), dtype=known, device=self.place(device))

    def int_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "int")
        return torch.empty(tuple(shape), dtype=known, device=self.place(device))

    def int_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "int")
        return torch.zeros(tuple(shape), dtype=known, device=self.place(device))

    def int_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "int")
        return torch.ones(tuple(shape), dtype=known, device=self.place(device))

    def bool_empty(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "bool")
        return torch.empty(tuple(shape), dtype=known, device=self.place(device))

    def bool_zeros(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "bool")
        return torch.zeros(tuple(shape), dtype=known, device=self.place(device))

    def bool_ones(self, shape: Sequence[int], device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(dtype, "bool")
        return torch.ones(tuple(shape), dtype=known, device=self.place(device))

    def float_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> Tensor:
        known = torch_dtype(dtype, "float")
        value = float_scalar(fill_value, known)
        return torch.full(tuple(shape), value, dtype=known, device=self.place(device))

    def int_full(
        self, shape: Sequence[int], fill_value: Scalar, device: Device, dtype: DType
    ) -> Tensor:
        known = torch_dtype(dtype, "int")
        value = int_scalar(fill_value, known)
        return torch.full(tuple(shape), value, dtype=known, device=self.place(device))

    def int_arange_step(self, range: range, step: int, device: Device, dtype: DType) -> Tensor:
        return self.int_arange(range[::step], device, dtype)

    def int_arange(self, range: range, device: Device, dtype: DType) -> Tensor:
        known = torch_dtype(of_range(range, dtype), "int")
        counted = torch.arange(len(range), dtype=torch.int64, device=self.place(device))
        # In int64, which wraps: so the numbers are exact up to its ends.
        return (counted * _wrapped(range.step) + _wrapped(range.start)).to(known)


def _wrapped(number: int) -> int:
    """The integer of 64 bits that equals `number` modulo 2**64."""
    return (number + 2**63) % 2**64 - 2**63
