"""Selecting and replacing parts, against NumPy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices
from tests.tensor.oracle import Array, assert_matches, floats, tensor

from firebrick import Device, Tensor, float32, float64, int64, uint8
from firebrick.errors import DTypeError, KindError, ShapeError, TensorError

Update = Literal["assign", "add", "mul", "min", "max"]
UPDATES: list[Update] = ["assign", "add", "mul", "min", "max"]
UFUNCS: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
TABLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@given(values=floats(max_dims=3), data=st.data())
def test_slice_assign_is_numpys_assignment(device: Device, values: Array, data: Any) -> None:
    index = data.draw(basic_indices(values.shape, allow_newaxis=False))
    block = np.asarray(values[index])
    expected = values.copy()
    expected[index] = block * 2 + 1
    x = tensor(values, device)
    assert_matches(x.slice_assign(index, tensor(block * 2 + 1, device)), expected)
    assert_matches(x, values)


def test_slice_assign_broadcasts_and_widens_the_value(device: Device) -> None:
    x = tensor(TABLE, device)
    written = x.slice_assign((slice(None), slice(None, None, -2)), Tensor([7.0, 8.0], device))
    assert (written.dtype, written.tolist()) == (float64, [[8, 2, 7], [8, 5, 7]])
    assert x.slice_assign(0, Tensor(0.0, device)).tolist() == [[0, 0, 0], [4, 5, 6]]


def test_slice_assign_refuses_what_does_not_fit(device: Device) -> None:
    x = Tensor.ones((2, 3), device)
    with pytest.raises(ShapeError, match=r"a block of shape \[3\], to which values of shape \[2\]"):
        x.slice_assign(0, Tensor.ones((2,), device))
    with pytest.raises(DTypeError, match=r"into a float32 tensor, which cannot hold .* float64"):
        x.slice_assign(0, Tensor.ones((3,), device, dtype=float64))
    with pytest.raises(KindError, match="`slice_assign` takes tensors of one kind"):
        x.slice_assign(0, Tensor.ones((3,), device, dtype=int64))
    with pytest.raises(KindError, match="got a tensor in the index: use `select_assign`"):
        x.slice_assign(Tensor([0], device), x)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
@pytest.mark.parametrize("dim", [0, -1])
def test_select_takes_rows(dim: int, dtype: Any, device: Device) -> None:
    values, rows = (TABLE % 3).astype(dtype), np.array([1, 0, 1])
    assert_matches(
        tensor(values, device).select(dim, tensor(rows, device)), np.take(values, rows, dim)
    )


def test_select_refuses_other_indices(device: Device) -> None:
    x = tensor(TABLE, device)
    with pytest.raises(ShapeError, match=r"`select` takes a 1-D tensor of indices; got shape"):
        x.select(0, tensor([[0]], device))
    with pytest.raises(KindError, match="`select` takes indices of kind int; got float64"):
        x.select(0, tensor([0.0], device))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("update", UPDATES)
def test_select_assign_updates_rows(update: Update, dtype: Any, device: Device) -> None:
    values, rows = TABLE.astype(dtype), np.array([2, 0])
    new = np.array([[5, -1], [2, 9]]).astype(dtype)
    expected = values.copy()
    for column, row in enumerate(rows):
        old = expected[:, row]
        expected[:, row] = (
            new[:, column] if update == "assign" else UFUNCS[update](old, new[:, column])
        )
    x = tensor(values, device)
    assert_matches(x.select_assign(1, tensor(rows, device), tensor(new, device), update), expected)
    assert_matches(x, values)


def test_repeated_rows_add_up(device: Device) -> None:
    x = tensor(np.zeros((2, 2)), device)
    rows, ones = tensor([0, 0, 1], device), tensor(np.ones((3, 2)), device)
    assert x.select_assign(0, rows, ones, "add").tolist() == [[2, 2], [1, 1]]


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("assign", [True, False, False, True]),
        ("add", [True, True, False, True]),
        ("max", [True, True, False, True]),
        ("mul", [False, False, False, True]),
        ("min", [False, False, False, True]),
    ],
)
def test_bools_are_updated_by_logic(update: Update, expected: list[bool], device: Device) -> None:
    x = tensor([False, True, False, True], device)
    new = tensor([True, False, False, True], device)
    places = Tensor.arange(0, 4, device=device)
    for written in (x.select_assign(0, places, new, update), x.scatter(0, places, new, update)):
        assert (written.kind, written.tolist()) == ("bool", expected)


@given(values=floats(min_dims=1), data=st.data())
def test_gather_is_take_along_axis(device: Device, values: Array, data: Any) -> None:
    dim = data.draw(st.integers(0, values.ndim - 1))
    count = data.draw(st.integers(0, 3)) if values.shape[dim] else 0
    shape = (*values.shape[:dim], count, *values.shape[dim + 1 :])
    indices = np.random.default_rng(0).integers(0, max(values.shape[dim], 1), shape)
    assert_matches(
        tensor(values, device).gather(dim, tensor(indices, device)),
        np.take_along_axis(values, indices, dim),
    )


def test_gather_takes_fewer_indices_in_other_dimensions(device: Device) -> None:
    x = tensor(TABLE, device)
    assert x.gather(1, tensor([[2, 0]], device)).tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize("update", UPDATES)
def test_scatter_writes_where_gather_reads(update: Update, device: Device) -> None:
    indices, new = np.array([[2, 0], [1, 2]]), np.array([[9.0, -1.0], [0.5, 7.0]])
    expected = TABLE.copy()
    for row in range(2):
        for place in range(2):
            column = indices[row, place]
            value = new[row, place]
            expected[row, column] = (
                value if update == "assign" else UFUNCS[update](expected[row, column], value)
            )
    x = tensor(TABLE, device)
    written = x.scatter(1, tensor(indices, device), tensor(new, device), update)
    assert_matches(written, expected)
    assert_matches(x, TABLE)


def test_scatter_and_gather_refuse_what_does_not_fit(device: Device) -> None:
    x = tensor(TABLE, device)
    with pytest.raises(ShapeError, match=r"`gather` .* got shapes \[1\] and \[2, 3\]"):
        x.gather(0, tensor([0], device))
    with pytest.raises(ShapeError, match=r"`gather` .* got shapes \[1, 4\] and \[2, 3\]"):
        x.gather(0, tensor([[0, 0, 0, 0]], device))
    with pytest.raises(KindError, match="`gather` takes indices of kind int; got bool"):
        x.gather(0, tensor([[True]], device))
    with pytest.raises(ShapeError, match="`scatter` takes one value per index"):
        x.scatter(0, tensor([[0]], device), tensor([[1.0, 2.0]], device))
    with pytest.raises(ShapeError, match=r"with 1 indices takes values of shape \[1, 3\]"):
        x.select_assign(0, tensor([0], device), tensor([1.0], device))
    wrong: Any = "replace"
    with pytest.raises(TensorError, match="no update 'replace'; accepted are assign, add"):
        x.scatter(0, tensor([[0]], device), tensor([[1.0]], device), wrong)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_masks_choose(dtype: Any, device: Device) -> None:
    values, mask = (TABLE % 2).astype(dtype), TABLE[:1] > 1
    other = np.ones((2, 1)).astype(dtype)
    x = tensor(values, device)
    assert_matches(
        x.mask_where(tensor(mask, device), tensor(other, device)), np.where(mask, other, values)
    )
    assert_matches(x.mask_fill(tensor(mask, device), True), np.where(mask, other, values))


def test_masks_are_bools_and_values_fit(device: Device) -> None:
    x = Tensor([1], device, dtype=uint8)
    mask = Tensor([True], device)
    with pytest.raises(KindError, match="`mask_where` takes a mask of kind bool; got uint8"):
        x.mask_where(x, x)
    with pytest.raises(KindError, match="`mask_where` takes tensors of one kind"):
        x.mask_where(mask, Tensor([1.0], device))
    with pytest.raises(DTypeError, match="`mask_fill`: 300 is out of the range of uint8"):
        x.mask_fill(mask, 300)


def test_one_hot_keeps_the_dtype(device: Device) -> None:
    for dtype in (uint8, int64, float32):
        hot = Tensor([[1, 0], [2, 5]], device, dtype=dtype).one_hot(3)
        assert (hot.dtype, hot.shape) == (dtype, (2, 2, 3))
        assert hot.tolist() == [[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 0, 0]]]


def test_one_hot_of_many_classes_does_not_wrap_around(device: Device) -> None:
    hot = Tensor([4], device, dtype=uint8).one_hot(300)
    assert hot.sum().item() == 1
    assert hot[0, 4].item() == 1


def test_one_hot_refuses_bools_and_no_classes(device: Device) -> None:
    with pytest.raises(KindError, match=r"got a bool tensor: call `\.int\(\)`"):
        Tensor([True], device).one_hot(2)
    with pytest.raises(ShapeError, match="at least one class; got 0"):
        Tensor([1], device).one_hot(0)
