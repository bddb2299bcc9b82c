"""Derivatives of derivatives, by recorded backward passes, also across devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, run

from firebrick import Device, Tensor
from firebrick.decorators.autodiff import AutodiffTensor
from firebrick.extension import (
    Autodiff,
    Flex,
    FloatTensor,
    Grads,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)

Array = np.ndarray[Any, np.dtype[Any]]
STRATEGIES = pytest.mark.parametrize("balanced", [False, True])


def tracked_device(device: Device, balanced: bool) -> Device:
    device = device.autodiff()
    return device.gradient_checkpointing() if balanced else device


@STRATEGIES
def test_derivatives_of_x_to_the_fifth(device: Device, balanced: bool) -> None:
    x = leaf([2.0, -1.0], tracked_device(device, balanced))
    value = x * x * x * x * x
    found: list[Any] = []
    for _ in range(5):
        value = x.grad(value.backward(create_graph=True))
        found.append(value.numpy())
    point = np.array([2.0, -1.0])
    expected = [5 * point**4, 20 * point**3, 60 * point**2, 120 * point, 120 + 0 * point]
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-14)


@STRATEGIES
def test_mixed_derivatives_are_symmetric(device: Device, balanced: bool) -> None:
    # f = sin(x y) + x / y
    d = tracked_device(device, balanced)
    x, y = leaf([0.5], d), leaf([2.0], d)
    first = ((x * y).sin() + x / y).backward(create_graph=True)
    in_x, in_y = x.grad(first), y.grad(first)
    mixed = y.grad(in_x.backward(retain_graph=True))
    other = x.grad(in_y.backward())
    expected = np.cos(1.0) - np.sin(1.0) - 0.25
    np.testing.assert_allclose(mixed.numpy(), [expected], rtol=1e-14)
    np.testing.assert_allclose(other.numpy(), [expected], rtol=1e-14)


def test_a_recorded_gradient_of_a_linear_function_has_no_history(device: Device) -> None:
    x = leaf([2.0], device)
    first = x.grad((x * 3.0).backward(create_graph=True))
    assert first.tolist() == [3.0]
    assert first.is_autodiff
    assert not first.is_tracked


def test_a_penalty_on_the_gradient_is_differentiated(device: Device) -> None:
    # loss = y + |dy/dx|^2 with y = x^3: 3 x^2 + 2 (3 x^2) 6 x
    x = leaf([2.0], device)
    y = x * x * x
    slope = x.grad(y.backward(create_graph=True))
    gradients = (y + slope * slope).backward()
    np.testing.assert_allclose(x.grad(gradients).numpy(), [12.0 + 2 * 12.0 * 12.0], rtol=1e-14)


@backend_extension(NdArray, Flex, Autodiff)
class Squares(OpSet[P]):
    def square(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def by_output(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def recursive(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class NdArraySquares(Squares[Array], on=NdArray):
    def square(self, x: Array) -> Array:
        return x * x

    def by_output(self, x: Array) -> Array:
        return x * x

    def recursive(self, x: Array) -> Array:
        return np.exp(x)


class FlexSquares(Squares[Array], on=Flex):
    def square(self, x: Array) -> Array:
        return x * x

    def by_output(self, x: Array) -> Array:
        return x * x

    def recursive(self, x: Array) -> Array:
        return np.exp(x)


class AutodiffSquares(Squares[AutodiffTensor], on=Autodiff):
    @gradient(save=("x",), cost="memory")
    def square(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_mul(grad, b.float_mul_scalar(saved.x, 2.0))}

    @gradient(save=("x", "out"), cost="memory")
    def by_output(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        slope = b.float_mul_scalar(b.float_div(saved.out, saved.x), 2.0)
        return {"x": b.float_mul(grad, slope)}

    @gradient(save=("x",), cost="memory")
    def recursive(self, saved: Saved, grad: P, need: Need) -> Grads:
        """With the operation itself, one decorator further down."""
        return {"x": self.inner.backend.float_mul(grad, self.inner.recursive(saved.x))}


squares = dispatch(Squares)


@STRATEGIES
@pytest.mark.parametrize("name", ["square", "by_output"])
def test_a_rule_with_a_saved_value_has_a_second_derivative(name: str, balanced: bool) -> None:
    x = leaf([3.0], tracked_device(Device.ndarray(), balanced))
    out = run(getattr(squares, name), x)
    first = x.grad(out.backward(create_graph=True))
    twice = [x.grad(first.backward(retain_graph=True)).tolist() for _ in range(2)]
    assert first.tolist() == [6.0]
    assert twice == [[2.0], [2.0]]


@STRATEGIES
def test_a_rule_may_use_its_own_operation(balanced: bool) -> None:
    x = leaf([0.5], tracked_device(Device.ndarray(), balanced))
    value = run(squares.recursive, x)
    for _ in range(3):
        value = x.grad(value.backward(create_graph=True))
    np.testing.assert_allclose(value.numpy(), [np.exp(0.5)], rtol=1e-15)


# ---- across devices --------------------------------------------------------------------------

PLACES = ["flex", "ndarray", "libtorch"]
PAIRS = [(one, other) for one in PLACES for other in PLACES if one != other]


@STRATEGIES
@pytest.mark.parametrize(("here", "there"), PAIRS)
def test_gradients_travel_back_in_two_orders(here: str, there: str, balanced: bool) -> None:
    x = leaf([2.0, -1.0], tracked_device(Device(here), balanced))
    moved = x.to(Device(there))
    first = x.grad((moved * moved * moved).to(Device(here)).backward(create_graph=True))
    second = x.grad(first.backward())
    assert (first.tolist(), first.device) == ([12.0, 3.0], Device(here))
    assert (second.tolist(), second.device) == ([12.0, -6.0], Device(here))


def test_leaves_on_several_devices_get_gradients_where_they_live() -> None:
    x, y = leaf([2.0], Device.flex()), leaf([3.0], Device.libtorch())
    z = leaf([5.0], Device.ndarray())
    moved = x.to(y.device) * y
    gradients = (moved.to(z.device) * z).backward()
    found = [(t.grad(gradients).tolist(), t.grad(gradients).device) for t in (x, y, z)]
    assert found == [
        ([15.0], Device.flex()),
        ([10.0], Device.libtorch()),
        ([6.0], Device.ndarray()),
    ]


def test_a_tensor_that_is_moved_without_history_stays_a_constant() -> None:
    constant = Tensor(np.array([4.0]), Device.flex().autodiff()).to(Device.ndarray())
    x = leaf([2.0], Device.ndarray())
    assert not constant.is_tracked
    assert x.grad((constant * x).backward()).tolist() == [4.0]


def test_a_moved_tensor_that_is_not_used_gets_no_gradient() -> None:
    x = leaf([2.0], Device.flex())
    moved = x.to(Device.ndarray())
    y = leaf([3.0], Device.ndarray())
    gradients = (y * 2.0).backward()
    assert x.grad(gradients) is None
    assert x.grad(moved.backward()).tolist() == [1.0]
