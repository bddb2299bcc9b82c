"""Sorting and positions of extremes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tensor.oracle import Array, assert_matches, floats, full_floats, tensor

from firebrick import Device, Tensor, uint8, uint64
from firebrick.errors import KindError, ShapeError


def stable_order(values: Array, dim: int, descending: bool) -> Array:
    """Positions that sort, equal values in their order."""
    return np.argsort(-values if descending else values, axis=dim, kind="stable")


@given(values=floats(min_dims=1, limit=2.0), descending=st.booleans(), data=st.data())
def test_sorting_is_stable(device: Device, values: Array, descending: bool, data: Any) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    values = np.round(values)
    order = stable_order(values, dim, descending)
    x = tensor(values, device)
    assert_matches(x.argsort(dim, descending=descending), order)
    assert_matches(x.sort(dim, descending=descending), np.take_along_axis(values, order, dim))


@given(values=full_floats(), keepdim=st.booleans(), data=st.data())
def test_positions_of_extremes_are_the_first_ones(
    device: Device, values: Array, keepdim: bool, data: Any
) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    values = np.round(values / 50)
    x = tensor(values, device)
    assert_matches(x.argmax(dim, keepdim=keepdim), values.argmax(dim, keepdims=keepdim))
    assert_matches(x.argmin(dim, keepdim=keepdim), values.argmin(dim, keepdims=keepdim))


def test_the_largest_elements_and_their_positions(device: Device) -> None:
    values, positions = tensor([[3.0, 1.0, 3.0], [0.0, 5.0, 2.0]], device).topk(2)
    assert (values.tolist(), positions.tolist()) == ([[3, 3], [5, 2]], [[0, 2], [1, 2]])
    assert positions.dtype == device.int_dtype
    first, _ = tensor([[3.0, 1.0], [4.0, 0.0]], device).topk(1, 0)
    assert first.tolist() == [[4.0, 1.0]]


def test_positions_are_of_the_devices_int_dtype(device: Device) -> None:
    for x in (Tensor([1.0, 2.0], device), Tensor([1, 2], device, dtype=uint8)):
        found = [x.argmax(0), x.argmin(0), x.argsort(), x.topk(1)[1]]
        assert [f.dtype for f in found] == [device.int_dtype] * 4


def test_positions_in_small_dtypes_do_not_wrap_around(device: Device) -> None:
    values = np.zeros(400, np.uint8)
    values[300] = 7
    x = tensor(values, device)
    assert (x.argmax(0).item(), x.argsort()[-1].item()) == (300, 300)
    largest, position = x.topk(1)
    assert (largest.dtype, largest.tolist(), position.tolist()) == (uint8, [7], [300])


def test_ints_that_fit_no_signed_dtype_are_ordered(flex: Device) -> None:
    x = Tensor(np.array([2**64 - 1, 0, 2**63], np.uint64), flex)
    assert (x.argsort().tolist(), x.argmax(0).item()) == ([1, 2, 0], 0)
    assert (x.sort().dtype, x.topk(1)[0].tolist()) == (uint64, [2**64 - 1])


def test_nan_comes_last(device: Device) -> None:
    x = tensor([np.nan, 2.0, -1.0], device)
    np.testing.assert_array_equal(x.sort().numpy(), [-1.0, 2.0, np.nan])


def test_bad_arguments_are_refused(device: Device) -> None:
    x = Tensor([1.0, 2.0], device)
    with pytest.raises(ShapeError, match="`topk` takes a `k` of 0 to 2, the size of dimension -1"):
        x.topk(3)
    with pytest.raises(ShapeError, match="`sort`: dimension 1 does not exist"):
        x.sort(1)
    with pytest.raises(ShapeError, match="`argmax` needs at least one element"):
        Tensor.zeros((0,), device).argmax(0)
    with pytest.raises(KindError, match="`sort` takes float and int tensors"):
        Tensor([True], device).sort()
