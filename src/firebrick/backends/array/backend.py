"""What NumPy arrays are to firebrick, and every built-in operation by family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np

from firebrick.backend import Backend
from firebrick.backend.options import Array
from firebrick.backends.array.activation import Activation
from firebrick.backends.array.comparison import Comparison
from firebrick.backends.array.creation import Creation
from firebrick.backends.array.float_math import FloatMath
from firebrick.backends.array.indexing import Indexing
from firebrick.backends.array.int_math import IntMath
from firebrick.backends.array.layout import Layout
from firebrick.backends.array.order import Order
from firebrick.backends.array.random import Random
from firebrick.backends.array.reduction import Reduction
from firebrick.core import (
    Device,
    DType,
    Kind,
    bool_,
    float32,
    from_numpy_dtype,
    int64,
)
from firebrick.core.dtype import FROM_NUMPY

KINDS: Mapping[Any, Kind] = {known: d.kind for known, d in FROM_NUMPY.items()}
MAX_OVERLAP_WORK: Any = 10_000  # the type that NumPy states has only -1 and 0
"""Candidates that NumPy may try in order to find out whether two arrays share memory."""


class ArrayBackend(
    Random,
    Creation,
    Layout,
    Indexing,
    FloatMath,
    IntMath,
    Comparison,
    Reduction,
    Order,
    Activation,
    Backend[Array],
):
    """NumPy on the CPU: the primitive is `numpy.ndarray`; bfloat16 is not supported."""

    int_dtype: ClassVar[DType] = int64
    """Of tensors made from Python ints."""
    native: type[Array] = np.ndarray
    kinds: Mapping[Any, Kind] = KINDS

    def __init__(self) -> None:
        super().__init__()
        self._device = Device.of(self.name)

    def default_dtypes(self, device: Device) -> dict[str, DType]:
        """Of values that say no dtype, by kind."""
        return {"float": float32, "int": self.int_dtype, "bool": bool_}

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        """Whether NumPy has it."""
        return dtype in FROM_NUMPY.values()

    def device_of(self, tensor: Array) -> Device:
        """This process' memory."""
        return self._device

    def dtype_of(self, tensor: Array) -> DType:
        """The element type."""
        return from_numpy_dtype(tensor.dtype)

    def adopt(self, value: Any) -> Any:
        """A NumPy scalar as a 0-d array; anything else unchanged."""
        return np.asarray(cast("Any", value)) if isinstance(value, np.generic) else value

    def read_only(self, tensor: Array) -> Array:
        """A view that cannot be written."""
        view = tensor.view()
        view.flags.writeable = False
        return view

    def shares_memory(self, first: Array, second: Array) -> bool:
        """Whether two arrays have a byte in common; so taken where it is too hard to tell."""
        try:
            return np.shares_memory(first, second, MAX_OVERLAP_WORK)
        except np.exceptions.TooHardError:
            return True
