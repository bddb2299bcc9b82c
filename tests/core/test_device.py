"""`Device` as a value: equality, decorators, texts and copies. What it does is dispatch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from firebrick import BalancedCheckpointing, Device, NoCheckpointing
from firebrick.errors import AutodiffError

DEVICES = [
    Device.flex(),
    Device.ndarray(),
    Device.libtorch("cpu"),
    Device.libtorch("cuda:1"),
    Device.cpu(),
    Device.cuda(1, fusion=False),
    Device.rocm(),
    Device.wgpu(kind="discrete"),
    Device.capture(),
    Device.flex().autodiff(),
    Device.cuda().autodiff().gradient_checkpointing(),
]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_a_device_survives_pickling_and_copies(device: Device) -> None:
    for made in (pickle.loads(pickle.dumps(device)), copy.deepcopy(device)):
        assert (made, hash(made), str(made)) == (device, hash(device), str(device))
        assert (made.fused, made.checkpointing) == (device.fused, device.checkpointing)


def test_equality_looks_at_the_hardware_only() -> None:
    assert Device.flex() == Device.flex().autodiff()
    assert Device.cuda(0) == Device.cuda(0, fusion=False)
    assert Device.cuda(0) != Device.cuda(1)
    assert Device.flex() != Device.ndarray()
    assert (Device.flex() == "flex") is False


def test_autodiff_keeps_the_strategy_unless_one_is_given() -> None:
    device = Device.flex().autodiff(checkpointing=BalancedCheckpointing)
    assert device.autodiff() is device
    assert device.autodiff(checkpointing=NoCheckpointing).checkpointing is NoCheckpointing


def test_the_inside_of_a_plain_device_is_itself() -> None:
    device = Device.flex()
    assert device.inner() is device
    assert not device.autodiff().inner().is_autodiff


def test_checkpointing_needs_autodiff() -> None:
    assert Device.flex().autodiff().gradient_checkpointing().checkpointing is BalancedCheckpointing
    message = r"`gradient_checkpointing` needs an autodiff device; flex is none: call `\.autodiff\("
    with pytest.raises(AutodiffError, match=message):
        Device.flex().gradient_checkpointing()


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (Device.flex(), "flex"),
        (Device.libtorch("cuda:1"), "libtorch:cuda:1"),
        (Device.cpu(), "cpu"),
        (Device.cuda(1), "cuda:1"),
        (Device.wgpu(kind="discrete"), "wgpu-discrete:0"),
        (Device.flex().autodiff(), "flex+autodiff"),
        (Device.flex().autodiff().gradient_checkpointing(), "flex+autodiff+checkpointing"),
    ],
)
def test_the_text_names_the_place_and_the_decorators(device: Device, text: str) -> None:
    assert str(device) == text
    assert repr(device) == f"Device({text!r})"


def test_a_runtime_is_told_apart_from_its_adapter() -> None:
    device = Device.wgpu(2, kind="integrated")
    assert (device.backend, device.place, device.runtime) == ("cube", "wgpu-integrated", "wgpu")
    assert (device.index, Device.flex().runtime, Device.libtorch().runtime) == (2, None, None)


def test_kernel_devices_are_fused_unless_they_say_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (Device.cuda().fused, Device.cuda(fusion=False).fused, Device.flex().fused) == (
        True, False, False,
    )  # fmt: skip
    monkeypatch.setenv("FIREBRICK_FUSION", "0")
    assert not Device.cuda().fused
    assert not Device("cuda:0").fused


@pytest.mark.parametrize("given", [False, 0, "x", int])
def test_a_strategy_is_one_of_the_strategies(given: Any) -> None:
    with pytest.raises(AutodiffError, match="takes a strategy such as `BalancedCheckpointing`"):
        Device.flex().autodiff(checkpointing=given)
