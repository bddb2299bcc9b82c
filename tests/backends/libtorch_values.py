"""Moving values between the host and the PyTorch backend, for its tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from firebrick.backends.libtorch import LibTorch
from firebrick.core import Device

torch: Any = pytest.importorskip("torch")

Array = np.ndarray[Any, np.dtype[Any]]
NAN, INF = math.nan, math.inf
BACKEND: Any = LibTorch()
DEVICES = [
    Device.of("libtorch", place)
    for place in ("cpu", *(["cuda"] if torch.cuda.is_available() else []))
]
FLOATS = ["float64", "float32", "float16"]
INTS = ["int8", "int16", "int32", "int64", "uint8"]
RTOL = {"float64": 1e-13, "float32": 2e-6, "float16": 2e-3}
"""Relative, of one operation: a few units in the last place."""


def kind_name(dtype: str) -> str:
    """The kind in the names of operations on values of that dtype."""
    return {"f": "float", "b": "bool"}.get(np.dtype(dtype).kind, "int")


def put(values: Any, device: Device, dtype: str | None = None) -> Any:
    """Host values as a tensor of their kind."""
    array = np.asarray(values, dtype)
    return getattr(BACKEND, f"{kind_name(array.dtype.name)}_from_data")(array, device)


def values(tensor: Any) -> Array:
    """What `tensor` holds, on the host."""
    return BACKEND.float_into_data(tensor)


def assert_same(tensor: Any, expected: Any, dtype: str | None = None) -> None:
    """Equal, NaN to NaN; of that dtype if one is given."""
    np.testing.assert_array_equal(values(tensor), expected)
    assert tuple(tensor.shape) == np.shape(expected)
    assert dtype is None or values(tensor).dtype == np.dtype(dtype)
    assert not tensor.requires_grad


def assert_near(tensor: Any, expected: Any, dtype: str, atol: float = 0.0) -> None:
    """Within the tolerance of one operation in that dtype, which the tensor has."""
    found = values(tensor)
    assert found.dtype == np.dtype(dtype)
    assert found.shape == np.shape(expected)
    with np.errstate(over="ignore"):
        rounded = np.asarray(expected, np.float64).astype(dtype).astype(np.float64)
    np.testing.assert_allclose(found.astype(np.float64), rounded, rtol=RTOL[dtype], atol=atol)


def sample(shape: Sequence[int], dtype: str, low: float = -2.0, high: float = 2.0) -> Array:
    """Values of a range, the same for the same rank; whole numbers for ints."""
    drawn = np.random.default_rng(len(shape)).uniform(low, high, tuple(shape))
    return np.asarray(np.round(drawn) if kind_name(dtype) == "int" else drawn).astype(dtype)
