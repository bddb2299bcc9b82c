"""Reductions over one, several and all dimensions, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tensor.oracle import Array, assert_matches, floats, full_floats, tensor

from firebrick import Device, Tensor, int8, int64, uint8
from firebrick.errors import KindError, ShapeError

# Sums of numbers up to 100 may cancel; their error is relative to the summands.
ATOL = 1e-9


def assert_close(actual: Tensor, expected: Any) -> None:
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-9, atol=ATOL)


def some_dims(draw: Any, ndim: int) -> Any:
    """None, one dimension, or several."""
    if ndim == 0:
        return draw(st.sampled_from([None, ()]))
    one = st.integers(-ndim, ndim - 1)
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim).map(tuple)
    return draw(st.none() | one | several)


@given(values=floats(), data=st.data(), keepdim=st.booleans())
@pytest.mark.parametrize("name", ["sum", "any", "all"])
def test_any_shape_reduces(
    name: str, device: Device, values: Array, data: Any, keepdim: bool
) -> None:
    values = np.round(values / 50)
    dim = some_dims(data.draw, values.ndim)
    result = getattr(tensor(values, device), name)(dim, keepdim=keepdim)
    assert_close(result, getattr(np, name)(values, axis=dim, keepdims=keepdim))


@given(values=full_floats(min_dims=0), data=st.data(), keepdim=st.booleans())
@pytest.mark.parametrize("name", ["mean", "max", "min", "prod"])
def test_shapes_with_elements_reduce(
    name: str, device: Device, values: Array, data: Any, keepdim: bool
) -> None:
    values = values / 50
    dim = some_dims(data.draw, values.ndim)
    result = getattr(tensor(values, device), name)(dim, keepdim=keepdim)
    assert_close(result, getattr(np, name)(values, axis=dim, keepdims=keepdim))


@pytest.mark.parametrize("dim", [None, 0, (0, 2), (-1, 1)])
@pytest.mark.parametrize("correction", [0, 1, 0.5])
@pytest.mark.parametrize("keepdim", [True, False])
def test_the_variance(dim: Any, correction: float, keepdim: bool, device: Device) -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 5))
    result = tensor(values, device).var(dim, keepdim=keepdim, correction=correction)
    assert_close(result, values.var(axis=dim, keepdims=keepdim, ddof=correction))


def test_the_variance_of_one_element_is_not_a_number(device: Device) -> None:
    assert np.isnan(Tensor([1.0], device).var().item())


def test_sums_of_ints_have_room(device: Device) -> None:
    x = Tensor([100, 100], device, dtype=int8)
    assert (x.sum().item(), x.sum(0).item(), x.prod().item()) == (200, 200, 10000)
    assert x.sum().dtype == x.cumsum(0).dtype == device.int_dtype
    assert Tensor([200, 200], device, dtype=uint8).sum().item() == 400
    assert Tensor([2**40], device, dtype=int64).sum().item() == 2**40


def test_the_sum_of_bools_counts(device: Device) -> None:
    mask = Tensor([[True, False], [True, True]], device)
    assert (mask.sum().item(), mask.sum().dtype) == (3, device.int_dtype)
    assert mask.sum(0).tolist() == [2, 1]


@pytest.mark.parametrize("name", ["any", "all"])
def test_any_and_all_of_every_kind(name: str, device: Device) -> None:
    values = np.array([[0, 1], [0, 0], [1, 1]])
    for dtype in (np.bool_, np.int32, np.float32):
        x = tensor(values.astype(dtype), device)
        assert_matches(getattr(x, name)(), getattr(np, name)(values))
        assert_matches(getattr(x, name)(1), getattr(np, name)(values, axis=1))


@given(values=floats(min_dims=1), data=st.data())
def test_running_totals(device: Device, values: Array, data: Any) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    values = values / 50
    assert_close(tensor(values, device).cumsum(dim), values.cumsum(dim))
    assert_close(tensor(values, device).cumprod(dim), values.cumprod(dim))


def test_the_mean_of_ints_is_refused(device: Device) -> None:
    with pytest.raises(KindError, match=r"`mean` takes float tensors; .*call `\.float\(\)`"):
        Tensor([1, 2], device).mean()
    with pytest.raises(KindError, match="`mean` takes float tensors"):
        Tensor([1, 2], device).mean(())
    with pytest.raises(KindError, match="`max` takes float and int tensors"):
        Tensor([True], device).max()


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_largest_of_nothing_is_refused(name: str, device: Device) -> None:
    x = Tensor.zeros((2, 0), device)
    with pytest.raises(ShapeError, match=rf"`{name}` needs at least one element; shape \[2, 0\]"):
        getattr(x, name)()
    with pytest.raises(ShapeError, match=rf"`{name}` needs at least one element"):
        getattr(x, name)(1)
    assert getattr(x, name)(0).shape == (0,)


def test_dimensions_that_do_not_exist_are_refused(device: Device) -> None:
    with pytest.raises(ShapeError, match=r"`sum`: dimension 2 does not exist .* -2 to 1"):
        Tensor.ones((2, 3), device).sum(2)
    with pytest.raises(ShapeError, match="`sum`: dimension 0 does not exist: the tensor is 0-d"):
        Tensor.ones((), device).sum(0)
    with pytest.raises(ShapeError, match=r"`mean` takes each dimension once; got \[0, -2\]"):
        Tensor.ones((2, 3), device).mean((0, -2))
