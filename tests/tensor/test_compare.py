"""Comparisons, against NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.tensor.oracle import Array, assert_matches, floats, tensor

from firebrick import Device, Tensor, uint8
from firebrick.errors import DTypeError, KindError

ORDER = [operator.lt, operator.le, operator.gt, operator.ge]
EQUALITY = [operator.eq, operator.ne]
Binary = Callable[[Any, Any], Any]


@given(values=floats(limit=2.0))
@pytest.mark.parametrize("sign", [*ORDER, *EQUALITY])
def test_floats_compare_with_tensors_and_scalars(
    sign: Binary, device: Device, values: Array
) -> None:
    x, rounded = tensor(values, device), np.round(values)
    assert_matches(sign(x, tensor(rounded, device)), sign(values, rounded))
    assert_matches(sign(x, 1), sign(values, 1))
    assert_matches(sign(0.5, x), sign(0.5, values))


@pytest.mark.parametrize("sign", [*ORDER, *EQUALITY])
def test_ints_compare(sign: Binary, device: Device) -> None:
    values = np.array([[-1, 0, 3]], np.int32)
    assert_matches(
        sign(tensor(values, device), tensor(values.T.copy(), device)), sign(values, values.T)
    )
    assert_matches(sign(tensor(values, device), 0), sign(values, 0))


@pytest.mark.parametrize("sign", EQUALITY)
def test_bools_are_equal_or_not(sign: Binary, device: Device) -> None:
    values = np.array([True, False])
    assert_matches(
        sign(tensor(values, device), tensor([True, True], device)), sign(values, [True, True])
    )
    assert_matches(sign(tensor(values, device), False), sign(values, False))


def test_bools_have_no_order(device: Device) -> None:
    with pytest.raises(KindError, match="`<` takes float and int tensors"):
        _ = Tensor([True], device) < Tensor([False], device)


def test_nan_equals_nothing(device: Device) -> None:
    x = tensor([np.nan, 1.0], device)
    assert ((x == x).tolist(), (x != x).tolist()) == ([False, True], [True, False])


def test_a_stranger_is_not_equal_and_has_no_order(device: Device) -> None:
    x: Any = Tensor([1.0], device)
    assert (x == None) is False  # noqa: E711 # how `==` answers, not whether it is None
    assert (x != "a") is True
    with pytest.raises(TypeError, match="'<' not supported"):
        _ = x < "a"


def test_scalars_that_do_not_fit_are_refused(device: Device) -> None:
    with pytest.raises(KindError, match=r"an int tensor goes with ints; got 1\.5"):
        _ = Tensor([1], device) == 1.5
    with pytest.raises(DTypeError, match="`<`: 256 is out of the range of uint8"):
        _ = Tensor([1], device, dtype=uint8) < 256


def test_a_tensor_hashes_by_identity(device: Device) -> None:
    x, y = Tensor([1.0], device), Tensor([1.0], device)
    assert len({x, y, x}) == 2
