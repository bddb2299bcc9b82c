"""`Gradients`: reading, taking out and replacing the gradient of a leaf."""

from __future__ import annotations

import numpy as np
import pytest
from tests.autodiff.tensors import leaf

from firebrick import Device, Gradients, Tensor, float32
from firebrick.errors import AutodiffError, DeviceError, GradientError, KindError


@pytest.fixture(scope="module")
def device() -> Device:
    return Device.ndarray().autodiff()


@pytest.fixture
def x(device: Device) -> Tensor:
    return leaf([1.0, 2.0], device)


@pytest.fixture
def gradients(x: Tensor) -> Gradients:
    return (x * x).backward()


def test_a_leaf_finds_its_gradient(x: Tensor, gradients: Gradients) -> None:
    assert x.grad(gradients).tolist() == [2.0, 4.0]
    assert x.grad(gradients).tolist() == [2.0, 4.0]


def test_other_tensors_have_none(device: Device, x: Tensor, gradients: Gradients) -> None:
    others = [
        leaf([1.0, 2.0], device), x * 1.0, x.inner(), x.detach(), Tensor([1], device),
        Tensor([1.0], Device.flex()),
    ]  # fmt: skip
    assert [other.grad(gradients) for other in others] == [None] * len(others)
    assert [other.grad_remove(gradients) for other in others] == [None] * len(others)


def test_a_gradient_is_taken_out_once(x: Tensor, gradients: Gradients) -> None:
    assert x.grad_remove(gradients).tolist() == [2.0, 4.0]
    assert x.grad_remove(gradients) is None
    assert x.grad(gradients) is None


def test_the_number_of_leaves_is_told(device: Device, x: Tensor) -> None:
    y = leaf([3.0, 4.0], device)
    both = (x * y).backward()
    assert (len(both), repr(both)) == (2, "Gradients(of 2 leaves)")
    x.grad_remove(both)
    assert (len(both), repr(both)) == (1, "Gradients(of 1 leaf)")


def test_a_gradient_is_replaced(device: Device, x: Tensor, gradients: Gradients) -> None:
    x.grad_replace(gradients, Tensor(np.array([7.0, 8.0]), device.inner()))
    assert x.grad(gradients).tolist() == [7.0, 8.0]
    assert not x.grad(gradients).is_autodiff


def test_a_gradient_is_set_for_a_leaf_that_had_none(device: Device, gradients: Gradients) -> None:
    other = leaf(5.0, device)
    other.grad_replace(gradients, Tensor(np.array(9.0), device.inner()))
    assert other.grad(gradients).tolist() == 9.0
    assert len(gradients) == 2


def test_a_tracked_tensor_may_be_a_gradient(device: Device, x: Tensor) -> None:
    gradients = (x * x).backward()
    y = leaf([3.0, 4.0], device)
    x.grad_replace(gradients, y * y)
    found = x.grad(gradients)
    assert found.is_tracked
    assert y.grad(found.backward()).tolist() == [6.0, 8.0]


def test_only_a_leaf_takes_a_gradient(device: Device, x: Tensor, gradients: Gradients) -> None:
    value = Tensor(np.array([7.0, 8.0]), device.inner())
    for other in (x * 1.0, x.inner(), Tensor(np.array([1.0, 2.0]), device)):
        with pytest.raises(AutodiffError, match=r"`grad_replace` takes a marked leaf; call `requ"):
            other.grad_replace(gradients, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([[7.0, 8.0]]), r"its leaf's shape \[2\] and dtype float64; got \[1, 2\] and flo"),
        (np.array(7.0), r"shape \[2\].*got \[\]"),
        (np.array([7.0, 8.0], np.float32), r"dtype float64; got \[2\] and float32"),
    ],
)
def test_a_gradient_of_another_shape_or_dtype_is_refused(
    device: Device, x: Tensor, gradients: Gradients, value: np.ndarray, message: str
) -> None:
    with pytest.raises(GradientError, match="`grad_replace`: a gradient has .*" + message):
        x.grad_replace(gradients, Tensor(value, device.inner()))


@pytest.mark.parametrize("values", [[1, 2], [True, False]])
def test_a_gradient_of_another_kind_is_refused(
    device: Device, x: Tensor, gradients: Gradients, values: list[int]
) -> None:
    with pytest.raises(KindError, match=r"a gradient is a float tensor; got a tensor of kind"):
        x.grad_replace(gradients, Tensor(values, device.inner()))


@pytest.mark.parametrize(
    "elsewhere",
    [Device.flex(), Device.flex().autodiff(), Device.ndarray().autodiff().gradient_checkpointing()],
)
def test_a_gradient_from_elsewhere_is_refused(
    x: Tensor, gradients: Gradients, elsewhere: Device
) -> None:
    with pytest.raises(DeviceError, match=r"`grad_replace`: the gradient lives on Device.*\.to\("):
        x.grad_replace(gradients, Tensor(np.array([7.0, 8.0]), elsewhere))


def test_nothing_is_replaced_by_a_refused_gradient(
    device: Device, x: Tensor, gradients: Gradients
) -> None:
    with pytest.raises(GradientError):
        x.grad_replace(gradients, Tensor([7.0, 8.0], device.inner(), dtype=float32))
    assert x.grad(gradients).tolist() == [2.0, 4.0]


def test_gradients_of_two_passes_are_apart(x: Tensor) -> None:
    first, second = (x * 2.0).backward(), (x * 3.0).backward()
    assert x.grad(first).tolist() == [2.0, 2.0]
    assert x.grad(second).tolist() == [3.0, 3.0]
