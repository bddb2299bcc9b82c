"""Methods about shapes, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tensor.oracle import Array, assert_matches, floats, tensor

from firebrick import Device, Tensor
from firebrick.errors import KindError, ShapeError

CUBE = np.arange(24.0).reshape(2, 3, 4)
Change = Callable[[Any], Any]


def windows(values: Array) -> Array:
    view: Any = np.lib.stride_tricks.sliding_window_view(values, 2, axis=2)
    return view[:, :, ::2]


CHANGES: dict[str, tuple[Change, Change]] = {
    "T": (lambda x: x.T, lambda a: a.swapaxes(-1, -2)),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(-1, -2)),
    "transpose": (lambda x: x.transpose(), lambda a: a.swapaxes(-1, -2)),
    "swap_dims": (lambda x: x.swap_dims(0, -1), lambda a: a.swapaxes(0, -1)),
    "permute": (lambda x: x.permute(2, 0, -2), lambda a: a.transpose(2, 0, 1)),
    "permute a sequence": (lambda x: x.permute((1, 0, 2)), lambda a: a.transpose(1, 0, 2)),
    "reshape": (lambda x: x.reshape(4, 6), lambda a: a.reshape(4, 6)),
    "reshape with -1": (lambda x: x.reshape(2, -1, 2), lambda a: a.reshape(2, -1, 2)),
    "reshape a sequence": (lambda x: x.reshape([24]), lambda a: a.reshape(24)),
    "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "unsqueeze last": (lambda x: x.unsqueeze(-1), lambda a: a[..., None]),
    "expand": (
        lambda x: x[:, :1].expand(5, -1, 3, -1),
        lambda a: np.broadcast_to(a[:, :1], (5, 2, 3, 4)),
    ),
    "flip": (lambda x: x.flip(0, -1), lambda a: np.flip(a, (0, 2))),
    "flip all": (lambda x: x.flip(), np.flip),
    "repeat": (lambda x: x.repeat(2, 1, 3), lambda a: np.tile(a, (2, 1, 3))),
    "repeat more": (lambda x: x.repeat(2, 1, 1, 2), lambda a: np.tile(a, (2, 1, 1, 2))),
    "repeat never": (lambda x: x.repeat(1, 0, 1), lambda a: np.tile(a, (1, 0, 1))),
    "unfold": (lambda x: x.unfold(2, 2, 2), windows),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_a_change_of_shape(name: str, dtype: Any, device: Device) -> None:
    change, expected = CHANGES[name]
    values = CUBE.astype(dtype)
    assert_matches(change(tensor(values, device)), expected(values))


@given(values=floats(), data=st.data())
def test_squeeze_undoes_unsqueeze(device: Device, values: Array, data: Any) -> None:
    dim = data.draw(st.integers(-values.ndim - 1, values.ndim))
    x = tensor(values, device)
    assert x.unsqueeze(dim).shape == np.expand_dims(values, dim).shape
    assert_matches(x.unsqueeze(dim).squeeze(dim), values)


@given(values=floats(min_dims=1), count=st.integers(1, 3), data=st.data())
def test_cat_and_stack(device: Device, values: Array, count: int, data: Any) -> None:
    dim = data.draw(st.integers(-values.ndim, values.ndim - 1))
    parts = [values + n for n in range(count)]
    tensors = [tensor(part, device) for part in parts]
    assert_matches(Tensor.cat(tensors, dim), np.concatenate(parts, dim))
    assert_matches(Tensor.stack(tensors, dim), np.stack(parts, dim))


def test_zero_sized_parts_add_nothing(device: Device) -> None:
    empty, full = tensor(np.zeros((0, 2)), device), tensor([[1.0, 2.0]], device)
    for parts in ([empty, full], [full, empty], [empty, full, empty]):
        assert Tensor.cat(parts).tolist() == [[1.0, 2.0]]
    assert Tensor.cat([empty, empty]).shape == (0, 2)
    assert Tensor.cat([empty.T, empty.T], 0).shape == (4, 0)


def test_joining_what_does_not_fit_is_refused(device: Device) -> None:
    x = Tensor.ones((2, 3), device)
    with pytest.raises(ShapeError, match="`cat` needs at least one tensor; got an empty list"):
        Tensor.cat([])
    with pytest.raises(ShapeError, match="`stack` needs at least one tensor"):
        Tensor.stack([])
    with pytest.raises(ShapeError, match=r"`cat` along dimension 0 .* \[2, 3\] and \[2, 2\]"):
        Tensor.cat([x, Tensor.ones((2, 2), device)])
    with pytest.raises(ShapeError, match=r"`cat` .* \[2, 3\] and \[3\]"):
        Tensor.cat([x, Tensor.ones((3,), device)])
    with pytest.raises(ShapeError, match=r"`stack` takes tensors of one shape; got \[2, 3\] and"):
        Tensor.stack([x, Tensor.ones((2, 2), device)])
    with pytest.raises(KindError, match="`cat` takes tensors of one kind"):
        Tensor.cat([x, Tensor.ones((2, 3), device).int()])


REFUSED: dict[str, tuple[Change, str]] = {
    "transpose": (lambda x: x[0, 0].transpose(), "`transpose` exchanges the last two"),
    "permute": (lambda x: x.permute(0, 1), r"`permute` names all 3 dimensions .* got \[0, 1\]"),
    "permute twice": (lambda x: x.permute(0, 1, 1), "`permute` takes each dimension once"),
    "reshape": (lambda x: x.reshape(5), r"shape \[2, 3, 4\] has 24, and \[5\] does not fit"),
    "reshape unknown": (lambda x: x.reshape(-1, -1), "at most one size may be -1"),
    "reshape odd": (lambda x: x.reshape(7, -1), "has 24"),
    "reshape negative": (lambda x: x.reshape(-2, -12), "has 24"),
    "squeeze": (lambda x: x.squeeze(1), r"dimension 1 of shape \[2, 3, 4\] has size 3"),
    "unsqueeze": (lambda x: x.unsqueeze(4), "`unsqueeze`: dimension 4 does not exist"),
    "expand": (lambda x: x.expand(2, 3, 5), r"does not expand to \[2, 3, 5\]"),
    "expand fewer": (lambda x: x.expand(3, 4), "does not expand"),
    "expand unknown": (lambda x: x.expand(-1, 2, 3, 4), "does not expand"),
    "flip": (lambda x: x.flip(0, 0), "`flip` takes each dimension once"),
    "repeat": (lambda x: x.repeat(2), r"each of the 3 dimensions.* got \[2\]"),
    "repeat negative": (lambda x: x.repeat(1, 1, -1), "a count of 0 or more"),
    "unfold": (lambda x: x.unfold(1, 4, 1), "`unfold` takes windows of 1 to 3 elements"),
    "unfold step": (lambda x: x.unfold(1, 2, 0), "steps of 1 and more"),
    "swap_dims": (lambda x: x.swap_dims(0, 3), "`swap_dims`: dimension 3 does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str, device: Device) -> None:
    change, message = REFUSED[name]
    with pytest.raises(ShapeError, match=message):
        change(tensor(CUBE, device))


def test_a_zero_sized_tensor_takes_an_unknown_size_where_it_is_clear(device: Device) -> None:
    x = Tensor.zeros((0, 3), device)
    assert x.reshape(-1, 3).shape == (0, 3)
    with pytest.raises(ShapeError, match="has 0"):
        x.reshape(0, -1)
