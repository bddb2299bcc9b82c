"""`check_gradients`: right and wrong backward passes of functions on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from firebrick import Device, Tensor, float64
from firebrick.errors import KindError
from firebrick.extension import (
    Autodiff,
    Flex,
    Float,
    Grads,
    LibTorch,
    NdArray,
    Need,
    Saved,
    op,
)
from firebrick.testing import check_gradients

Function: TypeAlias = Callable[..., Tensor]


def of_one(function: Callable[[Tensor], Tensor]) -> Function:
    return function


def of_two(function: Callable[[Tensor, Tensor], Tensor]) -> Function:
    return function


VALUES = [[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]


@op(Autodiff, Flex, NdArray, LibTorch)
def tripled(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x * 3.0


@tripled.gradient()
def _(saved: Saved, grad: Tensor, need: Need) -> Grads:
    return {"x": grad * 4.0}


@op(Autodiff, Flex, NdArray, LibTorch)
def cubed(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x * x * x


@cubed.gradient(save=("x",))
def _(saved: Saved, grad: Tensor, need: Need) -> Grads:
    return {"x": grad * 3.0 * saved.x * saved.x.detach()}


@pytest.mark.parametrize("order", [1, 2])
def test_right_gradients_pass(device: Device, order: Any) -> None:
    x, y = Tensor(VALUES, device), Tensor([[0.5], [0.25]], device)
    check_gradients(of_two(lambda x, y: (x.exp() * y).sum(1) + x.max(1)), x, y, order=order)


def test_a_wrong_factor_names_input_and_element(device: Device) -> None:
    x, y = Tensor([1.0, 2.0], device), Tensor([1.0, 2.0], device)
    message = (
        r"the gradient of element \[\d\] of input 1 is \S+ by backward but \S+ by central "
        r"differences \(rtol 0\.001, atol 0\.0001; 2 of 2 elements differ\)"
    )
    with pytest.raises(AssertionError, match=message):
        check_gradients(of_two(lambda x, y: x + tripled(y)), x, y)


def test_a_second_derivative_is_checked_when_asked_for(device: Device) -> None:
    x = Tensor(VALUES, device)
    check_gradients(cubed, x)
    with pytest.raises(AssertionError, match=r"the second derivative .* of input 0"):
        check_gradients(cubed, x, order=2)


def test_a_cut_gradient_is_found(flex: Device) -> None:
    with pytest.raises(AssertionError, match=r"element \[\] of input 0 is 0 by backward but"):
        check_gradients(of_one(lambda x: x.detach() * 2.0), Tensor(1.0, flex))


def test_a_function_that_ignores_an_input_has_a_gradient_of_zero(flex: Device) -> None:
    check_gradients(of_two(lambda x, y: x * 2.0), Tensor([1.0], flex), Tensor([1.0], flex), order=2)


def test_ints_are_passed_as_they_are(flex: Device) -> None:
    rows = Tensor([1, 0, 1], flex)
    check_gradients(of_two(lambda ids, x: x.select(0, ids)), rows, Tensor(VALUES, flex), order=2)


def test_inputs_may_be_tracked_and_stay_as_they_are(tracked: Device) -> None:
    x = Tensor([1.0, 2.0], tracked, dtype=float64).require_grad()
    check_gradients(of_one(lambda x: x * x), x)
    assert x.tolist() == [1.0, 2.0]
    assert x.is_require_grad


def test_tolerances_can_be_given(flex: Device) -> None:
    check_gradients(tripled, Tensor([1.0], flex), rtol=0.5)
    with pytest.raises(AssertionError, match=r"rtol 1e-07, atol 1e-07"):
        check_gradients(tripled, Tensor([1.0], flex), rtol=1e-7, atol=1e-7)


def test_a_call_without_floats_is_refused(flex: Device) -> None:
    with pytest.raises(KindError, match="needs a float tensor among its inputs"):
        check_gradients(of_one(lambda x: x), Tensor([1], flex))


def returning_a_number(x: Tensor) -> Any:
    return 1.0


def comparing(x: Tensor) -> Tensor:
    return x > 0


@pytest.mark.parametrize(
    ("function", "found"), [(comparing, "kind bool"), (returning_a_number, "float")]
)
def test_a_function_that_returns_no_float_tensor_is_refused(
    function: Function, found: str, flex: Device
) -> None:
    with pytest.raises(KindError, match=f"returns one float tensor; got {found}"):
        check_gradients(function, Tensor([1.0], flex))
