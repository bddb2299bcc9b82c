"""Values back on the host."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given
from tests.tensor.oracle import Array, floats, tensor

from firebrick import Device, Tensor, bfloat16, float16
from firebrick.errors import DTypeError, KindError, ShapeError


@given(values=floats())
def test_values_come_back_as_they_went(device: Device, values: Array) -> None:
    x = tensor(values, device)
    np.testing.assert_array_equal(x.numpy(), values)
    np.testing.assert_array_equal(np.asarray(x), values)
    assert x.tolist() == values.tolist()
    assert (x.shape, x.ndim, x.size) == (values.shape, values.ndim, values.size)


def test_the_array_cannot_be_written_and_a_copy_can(device: Device) -> None:
    x = Tensor([1.0, 2.0], device)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 9.0
    copied = np.array(x)
    copied[0] = 9.0
    assert x.tolist() == [1.0, 2.0]


def test_numpy_asks_for_dtypes_and_copies(device: Device) -> None:
    x = Tensor([1.5, 2.0], device)
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="only in a copy"):
        np.array(x, dtype=np.float64, copy=False)
    assert np.exp(x - x).tolist() == [1.0, 1.0]


def test_one_element_is_a_python_number(device: Device) -> None:
    x, n = tensor([[2.5]], device), tensor([7], device)
    assert (x.item(), float(x), int(x), bool(x)) == (2.5, 2.5, 2, True)
    assert (n.item(), operator.index(n), bool(n - 7)) == (7, 7, False)
    assert isinstance(x.item(), float)
    assert isinstance(n.item(), int)


def test_several_elements_are_not_a_number(device: Device) -> None:
    x = Tensor([1, 2], device)
    for ask in (x.item, x.__bool__, x.__int__, x.__float__, x.__index__):
        with pytest.raises(ShapeError, match=r"exactly one element; shape \[2\] has 2"):
            ask()
    with pytest.raises(ShapeError, match=r"`bool\(\)` needs exactly one element; .* has 0"):
        bool(Tensor([], device))


def test_only_ints_are_an_index(device: Device) -> None:
    with pytest.raises(KindError, match=r"an index is an int; got a float32 tensor"):
        operator.index(Tensor(1.0, device))


def test_half_precision_comes_back(device: Device) -> None:
    x = Tensor([0.5], device, dtype=float16)
    assert (x.numpy().dtype, x.tolist()) == (np.float16, [0.5])


def test_bfloat16_is_read_as_numbers_but_not_as_an_array() -> None:
    pytest.importorskip("torch")
    x = Tensor([0.5], Device.libtorch(), dtype=bfloat16)
    assert (x.tolist(), x.item(), float(x)) == ([0.5], 0.5, 0.5)
    with pytest.raises(DTypeError, match="NumPy has no bfloat16; cast to float32"):
        x.numpy()


def test_a_tracked_tensor_is_read(tracked: Device) -> None:
    x = Tensor([2.0], tracked).require_grad()
    assert (x * x).tolist() == [4.0]
