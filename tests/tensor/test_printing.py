"""How tensors show themselves."""

from __future__ import annotations

import pytest

from firebrick import Device, Tensor, bfloat16


def test_a_tensor_shows_values_shape_dtype_and_device(flex: Device) -> None:
    assert (
        repr(Tensor([1.5, 2.0], flex))
        == "Tensor([1.5, 2.0], shape=[2], dtype=float32, device=flex)"
    )
    assert repr(Tensor(3, flex)) == "Tensor(3, shape=[], dtype=int32, device=flex)"
    assert str(Tensor([True], flex)) == "Tensor([ True], shape=[1], dtype=bool, device=flex)"


def test_rows_stand_under_each_other(flex: Device) -> None:
    assert repr(Tensor([[1, 2], [3, 4]], flex)).splitlines() == [
        "Tensor([[1, 2],",
        "        [3, 4]],",
        "       shape=[2, 2], dtype=int32, device=flex)",
    ]


def test_an_autodiff_tensor_says_so(tracked: Device) -> None:
    assert "device=flex+autodiff" in repr(Tensor([1.0], tracked).require_grad())


def test_a_large_tensor_shows_its_edges(device: Device) -> None:
    text = repr(Tensor.arange(0, 10_000, device=device))
    assert "9999" in text
    assert "..." in text
    assert len(text) < 200


def test_bfloat16_is_shown() -> None:
    pytest.importorskip("torch")
    x = Tensor([0.5], Device.libtorch(), dtype=bfloat16)
    assert repr(x).startswith("Tensor([0.5], shape=[1], dtype=bfloat16")


def test_a_captured_tensor_shows_what_is_known(flex: Device) -> None:
    x = Tensor([1.0, 2.0], flex).to(Device.capture())
    assert repr(x) == "Tensor(shape=[2], dtype=float32, device=capture)"
