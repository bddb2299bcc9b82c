"""Derivatives where they jump, do not exist, or where a formula would divide zero by zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firebrick import Device, Tensor, bool_, float16, float32, float64, int64
from firebrick.backend import ActivationOps, FloatOps
from firebrick.opset import dispatch, from_dispatch, into_dispatch

torch: Any = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan


def call(operation: str, *arguments: Any) -> Any:
    op_set = FloatOps if operation in FloatOps.__operations__ else ActivationOps
    return from_dispatch(getattr(dispatch(op_set), operation)(*into_dispatch(arguments)))


@pytest.fixture(params=["ndarray", "libtorch"])
def device(request: pytest.FixtureRequest) -> Device:
    return Device(request.param).autodiff()


def leaf(values: Any, device: Device) -> Tensor:
    return Tensor(np.asarray(values, np.float64), device).require_grad()


def ints(values: Any, device: Device) -> Tensor:
    return Tensor(np.asarray(values, np.int64), device)


def weighted(out: Tensor, weights: Any) -> Tensor:
    return out * Tensor(np.asarray(weights, np.float64), out.device)


Point = tuple[str, float, tuple[Any, ...], float]
POINTS: list[Point] = [
    ("relu", 0.0, (), 0.0),
    ("float_abs", 0.0, (), 0.0),
    ("float_sign", 0.0, (), 0.0),
    ("float_sqrt", 0.0, (), INF),
    ("float_log", 0.0, (), INF),
    ("float_round", 0.5, (), 0.0),
    ("float_floor", 1.0, (), 0.0),
    ("float_ceil", 1.0, (), 0.0),
    ("float_trunc", 1.0, (), 0.0),
    ("float_clamp_min", 1.0, (1.0,), 1.0),
    ("float_clamp_max", 1.0, (1.0,), 1.0),
    ("float_clamp", 1.0, (-1.0, 1.0), 1.0),
    ("float_clamp", -1.0, (-1.0, 1.0), 1.0),
    ("float_clamp", NAN, (-1.0, 1.0), 0.0),
    ("float_powf_scalar", 0.0, (0.0,), 0.0),
    ("float_powf_scalar", 0.0, (1.0,), 1.0),
    ("float_powf_scalar", 0.0, (2.0,), 0.0),
    ("float_powf_scalar", 0.0, (0.5,), INF),
    ("float_powi_scalar", 0.0, (0,), 0.0),
    ("float_tanh", 400.0, (), 0.0),
    ("sigmoid", -800.0, (), 0.0),
    ("sigmoid", 800.0, (), 0.0),
    ("log_sigmoid", -800.0, (), 1.0),
    ("log_sigmoid", 800.0, (), 0.0),
    ("gelu", 50.0, (), 1.0),
    ("gelu", -50.0, (), 0.0),
    ("leaky_relu", 0.0, (0.1,), 1.0),
    ("float_asin", 1.0, (), INF),
    ("float_atanh", 1.0, (), INF),
    ("float_acosh", 1e200, (), 1e-200),
    ("float_div_scalar", 1.0, (0.0,), INF),
]


@pytest.mark.parametrize(("operation", "at", "rest", "slope"), POINTS)
def test_a_derivative_at_a_special_point(
    operation: str, at: float, rest: tuple[Any, ...], slope: float, device: Device
) -> None:
    x = leaf([at], device)
    assert x.grad(call(operation, x, *rest).backward()).tolist() == [slope]


Pair = tuple[str, float, float, float, float]
PAIRS: list[Pair] = [
    ("float_powf", 0.0, 0.0, 0.0, 0.0),
    ("float_powf", 0.0, 1.0, 1.0, 0.0),
    ("float_powf", 0.0, 2.0, 0.0, 0.0),
    ("float_powf", 2.0, 0.0, 0.0, math.log(2.0)),
    ("float_powf", NAN, 0.0, 0.0, NAN),
    ("float_powf", 1e-310, 0.0, 0.0, math.log(1e-310)),
    ("float_powf", -2.0, 2.0, -4.0, NAN),
    ("float_remainder", 1.0, 0.1, 1.0, -9.0),
    ("float_remainder", -1.0, 3.0, 1.0, 1.0),
    ("float_div", 1e200, 1e200, 1e-200, -1e-200),
    ("float_atan2", 0.0, -2.0, -0.5, 0.0),
    ("float_hypot", 0.0, 0.0, 0.0, 0.0),
    ("float_hypot", 3e200, -4e200, 0.6, -0.8),
]


@pytest.mark.parametrize(("operation", "x", "y", "in_x", "in_y"), PAIRS)
def test_two_derivatives_at_a_special_point(
    operation: str, x: float, y: float, in_x: float, in_y: float, device: Device
) -> None:
    first, second = leaf([x], device), leaf([y], device)
    gradients = call(operation, first, second).backward()
    np.testing.assert_allclose(first.grad(gradients).numpy(), [in_x], rtol=1e-12)
    np.testing.assert_allclose(second.grad(gradients).numpy(), [in_y], rtol=1e-12)


def test_a_power_has_finite_second_derivatives_where_the_first_is_masked(device: Device) -> None:
    # x ** 2 at 0: 2; x ** 0 at 0: 0
    x, y = leaf([0.0, 0.0], device), leaf([2.0, 0.0], device)
    first = call("float_powf", x, y).sum().backward(create_graph=True)
    second = x.grad(first).backward(retain_graph=True)
    assert x.grad(second).tolist() == [2.0, 0.0]
    mixed = y.grad(first).backward()
    assert np.isfinite(x.grad(mixed).numpy()).all()


# ---- of equal elements exactly one counts ----------------------------------------------------

TIES: list[tuple[str, list[float], tuple[Any, ...], list[float]]] = [
    ("float_max", [1.0, 3.0, 3.0, 2.0], (), [0, 1, 0, 0]),
    ("float_min", [4.0, 1.0, 1.0, 2.0], (), [0, 1, 0, 0]),
    ("float_max_dim", [1.0, 3.0, 3.0, 2.0], (0,), [0, 1, 0, 0]),
    ("float_min_dim", [4.0, 1.0, 1.0, 2.0], (0,), [0, 1, 0, 0]),
    ("float_max", [1.0, NAN, NAN], (), [0, 1, 0]),
    ("float_max_abs", [1.0, -3.0, 3.0], (), [0, -1, 0]),
    ("float_topk", [3.0, 1.0, 3.0, 3.0], (0, 2), [1, 0, 1, 0]),
    ("float_cummax", [1.0, 3.0, 3.0, 2.0], (0,), [1, 3, 0, 0]),
    ("float_cummin", [2.0, 2.0, 1.0, 1.0], (0,), [2, 0, 2, 0]),
    ("float_cummax", [1.0, NAN, NAN, 5.0], (0,), [1, 3, 0, 0]),
    ("float_cummax", [-0.0, 0.0], (0,), [2, 0]),
]


@pytest.mark.parametrize(("operation", "values", "rest", "expected"), TIES)
def test_of_equal_extremes_the_first_gets_the_gradient(
    operation: str,
    values: list[float],
    rest: tuple[Any, ...],
    expected: list[float],
    device: Device,
) -> None:
    x = leaf(values, device)
    assert x.grad(call(operation, x, *rest).backward()).tolist() == expected


def test_sorted_ties_keep_their_places(device: Device) -> None:
    x = leaf([2.0, 1.0, 2.0, 1.0], device)
    out = weighted(call("float_sort", x, 0, True), [1, 2, 3, 4])
    assert x.grad(out.backward()).tolist() == [1, 3, 2, 4]


# ---- products without division ---------------------------------------------------------------

ZEROS = [[2.0, 3.0, 4.0], [0.0, 3.0, 4.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [5.0, 0.0, -1.0]]


@pytest.mark.parametrize("values", ZEROS)
@pytest.mark.parametrize("operation", ["float_prod", "float_prod_dim", "float_cumprod"])
def test_products_with_zeros_have_exact_derivatives_of_two_orders(
    operation: str, values: list[float], device: Device
) -> None:
    def by_pytorch(x: Any) -> Any:
        if operation != "float_cumprod":
            return x[0] * x[1] * x[2]
        return x[0] + 2 * x[0] * x[1] + 3 * x[0] * x[1] * x[2]

    x = leaf(values, device)
    out = call(operation, x) if operation == "float_prod" else call(operation, x, 0)
    if operation == "float_cumprod":
        out = weighted(out, [1, 2, 3])
    first = x.grad(out.sum().backward(create_graph=True))
    second = x.grad(weighted(first, [1.0, 0.5, 0.25]).sum().backward())
    point = torch.tensor(values, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(by_pytorch, point)
    hessian = torch.autograd.functional.hessian(by_pytorch, point)
    np.testing.assert_allclose(first.numpy(), jacobian.numpy(), rtol=1e-14)
    curvature = hessian @ torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)
    np.testing.assert_allclose(second.numpy(), curvature.numpy(), rtol=1e-14)


# ---- several values for one place ------------------------------------------------------------


def scatter_gradients(
    update: str, tensor: list[float], indices: list[int], value: list[float], device: Device
) -> tuple[Any, list[float], list[float]]:  # fmt: skip
    """The result, and gradients of its sum weighted by 1, 2, ..."""
    x, v = leaf(tensor, device), leaf(value, device)
    out = call("float_scatter", 0, x, ints(indices, device), v, update)
    gradients = weighted(out, range(1, len(tensor) + 1)).sum().backward()
    return out.tolist(), x.grad(gradients).tolist(), v.grad(gradients).tolist()


def test_of_values_assigned_to_one_place_the_one_that_stayed_gets_the_gradient(
    device: Device,
) -> None:
    out, in_tensor, in_value = scatter_gradients(
        "assign", [1.0, 2.0], [1, 1, 1], [10.0, 20.0, 30.0], device
    )
    assert in_tensor == [1, 0]
    assert in_value == [2 * (value == out[1]) for value in (10.0, 20.0, 30.0)]


def test_of_equal_values_assigned_to_one_place_one_gets_the_gradient(device: Device) -> None:
    _, _, in_value = scatter_gradients("assign", [1.0, 2.0], [1, 1], [7.0, 7.0], device)
    assert sorted(in_value) == [0, 2]


@pytest.mark.parametrize(("update", "sign"), [("min", 1.0), ("max", -1.0)])
def test_an_extreme_comes_from_the_tensor_or_from_the_first_value(
    update: str, sign: float, device: Device
) -> None:
    tensor = [3.0 * sign, 1.0 * sign, 5.0 * sign]
    value = [2.0 * sign, 2.0 * sign, 1.0 * sign, 9.0 * sign]
    out, in_tensor, in_value = scatter_gradients(update, tensor, [0, 0, 1, 2], value, device)
    assert out == [2 * sign, 1 * sign, 5 * sign]
    assert in_tensor == [0, 2, 3]
    assert in_value == [1, 0, 0, 0]


def test_factors_for_one_place_count_the_others_even_if_zero(device: Device) -> None:
    out, in_tensor, in_value = scatter_gradients(
        "mul", [2.0, 3.0], [0, 0, 0, 1, 1], [0.0, 5.0, 7.0, 0.0, 0.0], device
    )
    assert out == [0, 0]
    assert in_tensor == [0, 0]
    assert in_value == [2 * 35, 0, 0, 0, 0]


def test_second_derivatives_of_factors_with_zeros_are_exact(device: Device) -> None:
    # out = x * v0 * v1 * v2, of which (v0, v1) are 0: only the derivative by both is left
    x, v = leaf([2.0], device), leaf([0.0, 0.0, 5.0], device)
    out = call("float_scatter", 0, x, ints([0, 0, 0], device), v, "mul")
    first = v.grad(out.backward(create_graph=True))
    second = v.grad(weighted(first, [1.0, 3.0, 0.0]).sum().backward())
    assert second.tolist() == [30, 10, 0]


def test_narrow_indices_do_for_long_updates(device: Device) -> None:
    indices = Tensor(np.zeros(300, np.uint8), device)
    x, v = leaf([1.0], device), leaf(np.ones(300), device)
    for update in ("assign", "mul", "max"):
        gradients = call("float_scatter", 0, x, indices, v, update).backward()
        assert v.grad(gradients).numpy().sum() == {"assign": 1, "mul": 300, "max": 0}[update]


# ---- sizes and dtypes ------------------------------------------------------------------------

EMPTY: list[tuple[str, tuple[Any, ...]]] = [
    *((name, ()) for name in (
        "float_neg", "float_exp", "float_abs", "float_sum", "float_mean", "float_prod", "relu",
        "gelu", "sigmoid", "log_sigmoid", "float_tanh", "float_sqrt", "float_round",
    )),
    *((name, (0,)) for name in (
        "float_sum_dim", "float_mean_dim", "float_prod_dim", "float_cumsum", "float_cumprod",
        "float_cummax", "float_cummin", "softmax", "log_softmax", "softmin",
    )),
    *((name, (1,)) for name in ("float_cumprod", "float_cummax", "softmax", "float_max_dim")),
    ("float_reshape", ((3, 0),)),
    ("float_transpose", ()),
    ("float_flip", ((0, 1),)),
    ("float_expand", ((2, 0, 3),)),
    ("float_repeat_dim", (1, 2)),
    ("float_slice", ([slice(None), slice(1, 3)],)),
    ("float_unfold", (1, 2, 1)),
    ("float_sort", (1, False)),
    ("float_powf_scalar", (2.0,)),
    ("float_cast", (float32,)),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "rest"), EMPTY)
def test_a_tensor_without_elements_gets_a_gradient_without_elements(
    operation: str, rest: tuple[Any, ...], device: Device
) -> None:
    x = leaf(np.zeros((0, 3)), device)
    gradient = x.grad(call(operation, x, *rest).backward(create_graph=True))
    assert gradient.shape == (0, 3)
    assert gradient.dtype == float64


def test_operations_on_two_empty_tensors_give_empty_gradients(device: Device) -> None:
    for operation in ("float_add", "float_mul", "float_div", "float_powf", "float_remainder"):
        x, y = leaf(np.zeros((0, 3)), device), leaf(np.ones(3), device)
        gradients = call(operation, x, y).backward()
        assert x.grad(gradients).shape == (0, 3)
        assert y.grad(gradients).tolist() == [0, 0, 0]


def test_a_product_over_no_columns_gives_zeros(device: Device) -> None:
    x, y = leaf(np.zeros((2, 0)), device), leaf(np.zeros((0, 3)), device)
    gradients = call("float_matmul", x, y).backward()
    assert (x.grad(gradients).shape, y.grad(gradients).shape) == ((2, 0), (0, 3))
    z = leaf(np.ones((3, 2)), device)
    empty = call("float_matmul", leaf(np.zeros((0, 4, 3)), device), z)
    assert z.grad(empty.backward()).tolist() == [[0, 0]] * 3


def test_what_is_read_nowhere_has_a_gradient_of_zeros(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    nothing = ints(np.zeros(0), device)
    assert x.grad(call("float_select", x, 0, nothing).backward()).tolist() == [0, 0]
    assert x.grad(call("float_gather", 0, x, nothing).backward()).tolist() == [0, 0]
    assert x.grad(call("float_slice", x, [slice(1, 1)]).backward()).tolist() == [0, 0]
    mask = Tensor(np.zeros(2, np.bool_), device)
    assert x.grad(call("float_mask_select", x, mask).backward()).tolist() == [0, 0]


def test_a_cast_gives_the_gradient_back_in_the_dtype_of_the_input(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    gradient = x.grad(call("float_cast", x, float32).backward())
    assert (gradient.dtype, gradient.tolist()) == (float64, [1, 1])


def test_the_mean_of_many_halves_has_a_gradient_in_range(device: Device) -> None:
    x = Tensor(np.zeros(100_000, np.float16), device).require_grad()
    for mean in (call("float_mean", x), call("float_mean_dim", x, 0)):
        gradient = x.grad((mean * 1024.0).backward())
        assert gradient.dtype == float16
        np.testing.assert_allclose(gradient.numpy(), 0.01024, rtol=1e-2)


Comparison = Callable[[Tensor], Any]
CONSTANTS: list[Comparison] = [
    lambda x: call("float_greater_elem", x, 0.0, bool_),
    lambda x: call("float_argmax", x, 0, int64),
    lambda x: call("float_into_int", x, int64),
    lambda x: call("float_is_nan", x, bool_),
]


@pytest.mark.parametrize("function", CONSTANTS)
def test_ints_and_bools_are_constants(function: Comparison, device: Device) -> None:
    assert not function(leaf([1.0, 2.0], device)).is_tracked
