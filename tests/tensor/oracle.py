"""Comparing tensors with NumPy, and values that exercise both."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from firebrick import Device, Tensor

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# Results of one operation in float64 differ by a few units in the last place at most.
RTOL = 1e-12


def tensor(values: Any, device: Device) -> Tensor:
    """The values as they are; Python floats become float64, which the oracle computes in."""
    return Tensor.from_numpy(np.asarray(values), device)


def assert_matches(actual: Tensor, expected: Any, rtol: float = RTOL) -> None:
    """Same shape, kind and values as NumPy's answer."""
    wanted = np.asarray(expected)
    assert actual.shape == wanted.shape
    assert actual.kind == {"f": "float", "i": "int", "u": "int", "b": "bool"}[wanted.dtype.kind]
    np.testing.assert_allclose(actual.numpy(), wanted, rtol=rtol, atol=rtol)


def floats(min_dims: int = 0, max_dims: int = 3, limit: float = 100.0) -> st.SearchStrategy[Array]:
    """Arrays of float64 of any small shape, zero-sized ones included."""
    shapes = array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=0, max_side=4)
    return arrays(np.float64, shapes, elements=st.floats(-limit, limit, width=32))


def full_floats(min_dims: int = 1) -> st.SearchStrategy[Array]:
    """Arrays of float64 with at least one element."""
    shapes = array_shapes(min_dims=min_dims, max_dims=3, min_side=1, max_side=4)
    return arrays(np.float64, shapes, elements=st.floats(-100, 100, width=32))
