"""Moving tensors: values arrive as they were, contexts stay, gradients travel back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firebrick.backends.ndarray import NdArray
from firebrick.core import (
    BalancedCheckpointing,
    Device,
    DispatchTensor,
    DType,
    Kind,
    NoCheckpointing,
    bfloat16,
    float16,
    float32,
)
from firebrick.decorators.autodiff import is_leaf, is_tracked, mark_leaf, run_backward
from firebrick.decorators.capture import capture_scope
from firebrick.dispatch import backend_for, register_backend, transfer
from firebrick.errors import DispatchError, DTypeError, SettingsError

FLEX, NDARRAY, CAPTURE = Device.flex(), Device.ndarray(), Device.capture()
VALUES: dict[Kind, np.ndarray[Any, Any]] = {
    "float": np.array([[1.5, -2.0], [np.inf, 0.0]], np.float32),
    "int": np.array([3, -4, 5], np.int16),
    "bool": np.array([True, False]),
}


def tensor(values: np.ndarray[Any, Any], kind: Kind, device: Device) -> DispatchTensor:
    """Host values on a device; on an autodiff one with its context."""
    backend = backend_for(device)
    return DispatchTensor(getattr(backend, f"{kind}_from_data")(values, device), kind, backend)


def read(moved: DispatchTensor) -> np.ndarray[Any, Any]:
    return getattr(moved.backend, f"{moved.kind}_into_data")(moved.primitive)


class HalfOnly(NdArray):
    """Hardware that computes in float32 and float16 only."""

    name = "half_only"

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        return dtype in (float32, float16)


class OnBoard(np.ndarray[Any, Any]):
    """An array that knows which board of its machine it is on."""

    board = 0


class Boards(NdArray):
    """Hardware with two places for tensors."""

    name = "boards"
    has_many_devices = True

    @classmethod
    def devices(cls) -> list[Device]:
        return [Device.of("boards", None, 0), Device.of("boards", None, 1)]

    def device_of(self, tensor: np.ndarray[Any, Any]) -> Device:
        return self.devices()[getattr(tensor, "board", 0)]

    def float_to_device(self, tensor: np.ndarray[Any, Any], device: Device) -> OnBoard:
        moved = tensor.copy().view(OnBoard)
        moved.board = device.index
        return moved


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("target", [NDARRAY, NDARRAY.autodiff()])
def test_a_plain_tensor_stays_plain(kind: Kind, target: Device) -> None:
    moved = transfer(tensor(VALUES[kind], kind, FLEX), target)
    assert (moved.kind, moved.is_autodiff, moved.device) == (kind, False, NDARRAY)
    assert moved.backend is backend_for(NDARRAY)
    np.testing.assert_array_equal(read(moved), VALUES[kind])
    assert read(moved).dtype == VALUES[kind].dtype


@pytest.mark.parametrize("device", [FLEX, FLEX.autodiff()])
@pytest.mark.parametrize(
    "target", [FLEX, FLEX.autodiff(), FLEX.autodiff().gradient_checkpointing()]
)
def test_a_tensor_that_is_there_already_is_itself(device: Device, target: Device) -> None:
    x = tensor(VALUES["float"], "float", device)
    assert transfer(x, target) is x


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("target", [NDARRAY, NDARRAY.autodiff()])
@pytest.mark.parametrize("strategy", [NoCheckpointing, BalancedCheckpointing])
def test_an_untracked_tensor_keeps_its_context(kind: Kind, target: Device, strategy: Any) -> None:
    x = tensor(VALUES[kind], kind, FLEX.autodiff(checkpointing=strategy))
    moved = transfer(x, target)
    assert moved.device == NDARRAY
    assert moved.device.checkpointing is strategy
    assert not is_tracked(moved)
    np.testing.assert_array_equal(read(moved), VALUES[kind])


def test_the_gradient_of_a_tracked_tensor_travels_back() -> None:
    x = mark_leaf(tensor(VALUES["float"], "float", FLEX.autodiff()))
    moved = transfer(x, NDARRAY)
    assert is_tracked(moved)
    assert not is_leaf(moved)
    backend: Any = moved.backend
    out = DispatchTensor(backend.float_mul_scalar(moved.primitive, 3.0), "float", backend)
    gradient = run_backward(out).get(x)
    assert gradient is not None
    assert gradient.device == FLEX
    assert gradient.backend is backend_for(FLEX)
    np.testing.assert_array_equal(read(gradient), np.full((2, 2), 3.0, np.float32))


def test_within_a_backend_its_own_move_is_used_there_and_back() -> None:
    register_backend(Boards)
    first, target = Boards.devices()
    plain = transfer(tensor(VALUES["float"], "float", first), target)
    assert (plain.device, type(plain.primitive)) == (target, OnBoard)
    x = mark_leaf(tensor(VALUES["float"], "float", first.autodiff()))
    moved = transfer(x, target)
    assert moved.device == target
    gradient = run_backward(moved).get(x)
    assert gradient is not None
    assert gradient.device == first
    np.testing.assert_array_equal(read(gradient), np.ones((2, 2)))


def test_a_gradient_that_traveled_back_can_be_differentiated() -> None:
    # The second derivative of x^3 is 6 x.
    values = np.array([1.0, -2.0], np.float32)
    x = mark_leaf(tensor(values, "float", FLEX.autodiff()))
    moved = transfer(x, NDARRAY)
    ops: Any = moved.backend
    square = ops.float_mul(moved.primitive, moved.primitive)
    cube = DispatchTensor(ops.float_mul(square, moved.primitive), "float", ops)
    first = run_backward(cube, create_graph=True).get(x)
    assert first is not None
    assert is_tracked(first)
    np.testing.assert_allclose(read(first), 3 * values**2)
    second = run_backward(first).get(x)
    assert second is not None
    np.testing.assert_allclose(read(second), 6 * values)


def test_a_dtype_that_the_target_lacks_is_refused() -> None:
    register_backend(HalfOnly)
    x = tensor(np.ones(2, np.float64), "float", FLEX)
    with pytest.raises(
        DTypeError,
        match=r"cannot move a float64 tensor to `half_only`.*one of float32, float16 first",
    ):
        transfer(x, Device("half_only"))


def test_data_moves_onto_the_capture_device() -> None:
    with capture_scope() as graph:
        moved = transfer(tensor(VALUES["float"], "float", FLEX), CAPTURE)
    assert (moved.shape, moved.dtype, moved.device) == ((2, 2), float32, CAPTURE)
    np.testing.assert_array_equal(graph.initial_values[moved.primitive], VALUES["float"])


@pytest.mark.parametrize("target", [FLEX, NDARRAY.autodiff()])
def test_nothing_leaves_the_capture_device(target: Device) -> None:
    captured = transfer(tensor(VALUES["int"], "int", FLEX), CAPTURE)
    with pytest.raises(DispatchError, match=r"`to` cannot move a tensor from the capture device"):
        transfer(captured, target)
    assert transfer(captured, CAPTURE) is captured


def test_moving_counts_as_use_of_the_target() -> None:
    class Untouched(NdArray):
        name = "untouched"

    register_backend(Untouched)
    device = Device("untouched")
    transfer(tensor(VALUES["float"], "float", FLEX), device)
    with pytest.raises(SettingsError, match="tensors were made there already"):
        device.configure(float_dtype=float16)


# ---- PyTorch ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
def test_values_come_from_pytorch_as_they_went(kind: Kind) -> None:
    pytest.importorskip("torch")
    there = transfer(tensor(VALUES[kind], kind, FLEX), Device.libtorch())
    assert there.device == Device.libtorch()
    back = transfer(there, FLEX)
    np.testing.assert_array_equal(read(back), VALUES[kind])
    assert back.dtype == tensor(VALUES[kind], kind, FLEX).dtype


def test_bfloat16_passes_through_the_host_without_loss() -> None:
    torch = pytest.importorskip("torch")

    # Every finite bfloat16: NumPy has no such dtype, so a loss would show here.
    values = torch.arange(0x7F80, dtype=torch.int16).view(torch.bfloat16)
    backend = backend_for(Device.libtorch())
    x = DispatchTensor(values, "float", backend)
    with capture_scope() as graph:
        moved = transfer(x, CAPTURE)
    assert moved.dtype is bfloat16
    (kept,) = graph.initial_values.values()
    assert kept.dtype == np.float32
    np.testing.assert_array_equal(kept, values.to(torch.float32).numpy())


def test_bfloat16_is_refused_where_numpy_computes() -> None:
    torch = pytest.importorskip("torch")
    x = DispatchTensor(torch.ones(2, dtype=torch.bfloat16), "float", backend_for(Device.libtorch()))
    with pytest.raises(DTypeError, match=r"cannot move a bfloat16 tensor to `flex`.*float32"):
        transfer(x, FLEX)
