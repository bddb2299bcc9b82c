"""Copies and pickles."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from firebrick import Device, Tensor, bfloat16, uint8


def through_pickle(x: Tensor) -> Tensor:
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("name", ["float32", "float64", "uint8", "int64", "bool"])
def test_a_pickled_tensor_comes_back(name: str, device: Device) -> None:
    x = Tensor.from_numpy(np.array([[0, 1, 1]]).astype(name), device)
    y = through_pickle(x)
    assert (y.dtype, y.device, y.tolist()) == (x.dtype, device, x.tolist())


def test_bfloat16_comes_back() -> None:
    pytest.importorskip("torch")
    x = Tensor([0.5], Device.libtorch(), dtype=bfloat16)
    assert (through_pickle(x).dtype, through_pickle(x).tolist()) == (bfloat16, [0.5])


def test_a_marked_leaf_comes_back_marked_and_a_derived_tensor_without_history(
    tracked: Device,
) -> None:
    x = Tensor([1.0], tracked).require_grad()
    assert through_pickle(x).is_require_grad
    derived = through_pickle(x * 2)
    assert (derived.is_autodiff, derived.is_tracked, derived.tolist()) == (True, False, [2.0])


def test_copies_share_the_values(device: Device) -> None:
    x = Tensor([1], device, dtype=uint8)
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0].tolist() == [1]


def test_a_deep_copy_of_a_leaf_is_a_leaf_of_its_own(tracked: Device) -> None:
    x = Tensor([3.0], tracked).require_grad()
    y = copy.deepcopy(x)
    gradients = (x * y * y).backward()
    assert y.is_require_grad
    assert (x.grad(gradients).tolist(), y.grad(gradients).tolist()) == ([9.0], [18.0])
