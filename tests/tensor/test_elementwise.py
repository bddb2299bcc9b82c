"""Functions element by element and activations, against NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tensor.oracle import Array, assert_matches, floats, full_floats, tensor

from firebrick import Device, Tensor, uint8
from firebrick.errors import DTypeError, KindError, ShapeError

Function = Callable[[Any], Any]
# `erf` is computed by a series of our own on some backends.
ERF_RTOL = 1e-10


def erf(values: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(values)


EVERYWHERE: dict[str, Function] = {
    "exp": np.exp,
    "square": np.square,
    "abs": np.abs,
    "sign": np.sign,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
    "relu": lambda a: np.maximum(a, 0),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "is_nan": np.isnan,
    "is_inf": np.isinf,
}
POSITIVE: dict[str, Function] = {
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "recip": np.reciprocal,
    "tan": lambda a: np.tan(a),
}


@given(values=floats(limit=8.0))
@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_function_of_any_float(name: str, device: Device, values: Array) -> None:
    assert_matches(getattr(tensor(values, device), name)(), EVERYWHERE[name](values))


@pytest.mark.parametrize("name", POSITIVE)
def test_a_function_of_positive_floats(name: str, device: Device) -> None:
    values = np.array([[0.01, 0.5], [1.0, 1.4]])
    assert_matches(getattr(tensor(values, device), name)(), POSITIVE[name](values))


@given(values=floats(limit=4.0))
def test_erf_and_gelu_are_exact(device: Device, values: Array) -> None:
    x = tensor(values, device)
    assert_matches(x.erf(), erf(values), ERF_RTOL)
    assert_matches(x.gelu(), values * (1 + erf(values / np.sqrt(2))) / 2, ERF_RTOL)


def test_rounding_ties_go_to_even(device: Device) -> None:
    assert tensor([0.5, 1.5, 2.5, -0.5], device).round().tolist() == [0.0, 2.0, 2.0, 0.0]


@given(values=full_floats(), data=st.data())
def test_softmax_sums_to_one_along_its_dimension(device: Device, values: Array, data: Any) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    powers = np.exp(values - values.max(dim, keepdims=True))
    expected = powers / powers.sum(dim, keepdims=True)
    x = tensor(values, device)
    assert_matches(x.softmax(dim), expected)
    np.testing.assert_allclose(x.log_softmax(dim).exp().numpy(), expected, rtol=1e-9, atol=1e-12)


def test_softmax_needs_an_existing_dimension(device: Device) -> None:
    with pytest.raises(ShapeError, match="`softmax`: dimension 1 does not exist"):
        Tensor([1.0], device).softmax(1)


@given(values=floats(limit=4.0))
def test_clamp_takes_one_or_both_limits(device: Device, values: Array) -> None:
    x = tensor(values, device)
    assert_matches(x.clamp(-1, 0.5), np.clip(values, -1, 0.5))
    assert_matches(x.clamp(min=1.0), np.maximum(values, 1))
    assert_matches(x.clamp(max=1.0), np.minimum(values, 1))
    assert x.clamp() is x


def test_clamp_of_ints(device: Device) -> None:
    n = Tensor([1, 5, 9], device, dtype=uint8)
    assert (n.clamp(3, 7).tolist(), n.clamp(3, 7).dtype) == ([3, 5, 7], uint8)
    with pytest.raises(DTypeError, match="`clamp`: -1 is out of the range of uint8"):
        n.clamp(min=-1)
    with pytest.raises(KindError, match=r"`clamp`: an int tensor goes with ints; got 1\.5"):
        n.clamp(max=1.5)


def test_ints_have_signs_and_are_whole(device: Device) -> None:
    values = np.array([-3, 0, 2], np.int32)
    n = tensor(values, device)
    for name in ("abs", "sign", "square"):
        assert_matches(getattr(n, name)(), getattr(np, name)(values))
    for name in ("floor", "ceil", "round", "trunc"):
        assert getattr(n, name)() is n
    assert n.is_nan().tolist() == n.is_inf().tolist() == [False] * 3


@pytest.mark.parametrize("name", ["exp", "sqrt", "recip", "sigmoid", "gelu", "erf", "relu"])
def test_functions_of_floats_refuse_ints(name: str, device: Device) -> None:
    with pytest.raises(KindError, match=rf"`{name}` takes float tensors; .*call `\.float\(\)`"):
        getattr(Tensor([1], device), name)()
