"""The two array backends, and how their results are compared, for their tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from firebrick.backends.flex import Flex
from firebrick.backends.ndarray import NdArray
from firebrick.core import Device

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS: list[Any] = [NdArray(), Flex()]
HERE = Device.of("ndarray")
NAN, INF = math.nan, math.inf
FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def assert_values(found: Any, expected: Any, dtype: str | None = None) -> None:
    """Equal, NaN to NaN, of the shape of `expected`, an array even where it is 0-d."""
    assert type(found) is np.ndarray
    assert found.shape == np.shape(expected)
    np.testing.assert_array_equal(found, expected)
    assert dtype is None or found.dtype == np.dtype(dtype)


def ulps(found: Array, expected: Array) -> float:
    """The greatest difference, in units of the last place of what is expected."""
    rounded = expected.astype(found.dtype).astype(np.float64)
    unit = np.spacing(np.abs(rounded).astype(found.dtype)).astype(np.float64)
    return float(np.max(np.abs(found.astype(np.float64) - expected) / unit, initial=0.0))
