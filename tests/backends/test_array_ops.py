"""Floats on the array backends, element by element: against float64 NumPy, and at the edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tests.backends.array_backends import (
    BACKENDS,
    FLOATS,
    INF,
    NAN,
    Array,
    assert_values,
    ulps,
)

from firebrick.core import bool_, float32

MAX_ULPS = 4.0
"""Of an elementary function; what reliable libraries promise of theirs."""
MATH: dict[str, tuple[Callable[..., Any], float, float]] = {
    "exp": (np.exp, -5, 5),
    "log": (np.log, 0.01, 9),
    "log1p": (np.log1p, -0.9, 9),
    "sqrt": (np.sqrt, 0, 9),
    "cos": (np.cos, -1, 1),
    "sin": (np.sin, -1, 1),
    "tan": (np.tan, -1, 1),
    "cosh": (np.cosh, -3, 3),
    "sinh": (np.sinh, -3, 3),
    "tanh": (np.tanh, -3, 3),
    "acos": (np.arccos, -0.9, 0.9),
    "acosh": (np.arccosh, 1.1, 9),
    "asin": (np.arcsin, -0.9, 0.9),
    "asinh": (np.arcsinh, -9, 9),
    "atan": (np.arctan, -9, 9),
    "atanh": (np.arctanh, -0.9, 0.9),
    "recip": (np.reciprocal, 0.1, 9),
    "erf": (np.vectorize(math.erf, otypes=[np.float64]), -6, 6),
}


@pytest.fixture(params=BACKENDS, ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def float_array(*values: float, dtype: str = "float32") -> Array:
    return np.array(values, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", MATH)
def test_an_elementary_function_is_exact_to_a_few_units(
    backend: Any, name: str, dtype: str
) -> None:
    oracle, low, high = MATH[name]
    x = np.linspace(low, high, 4001).astype(dtype)
    found = getattr(backend, f"float_{name}")(x)
    assert found.dtype == np.dtype(dtype)
    assert ulps(found, oracle(x.astype(np.float64))) <= MAX_ULPS


def test_erf_is_exact_to_two_units_over_its_whole_range(backend: Any) -> None:
    x = np.concatenate([np.linspace(-7, 7, 40001), 10.0 ** np.linspace(-300, 0.8, 4001)])
    expected = np.array([math.erf(value) for value in x])
    assert ulps(backend.float_erf(x), expected) <= 2.0


def test_erf_at_the_edges(backend: Any) -> None:
    found = backend.float_erf(float_array(NAN, INF, -INF, -0.0))
    assert_values(found, [NAN, 1.0, -1.0, -0.0], "float32")
    assert math.copysign(1.0, found[3]) == -1.0


@given(
    x=arrays(np.float64, array_shapes(min_dims=0, max_dims=3, min_side=0), elements=st.floats()),
    y=st.floats(),
)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic_follows_ieee_without_warnings(name: str, x: Array, y: float) -> None:
    oracle = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    with np.errstate(all="ignore"):
        expected = oracle(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for backend in BACKENDS:
            assert_values(getattr(backend, f"float_{name}_scalar")(x, y), expected)
            assert_values(getattr(backend, f"float_{name}")(x, np.asarray(y)), expected)


def test_broadcasting_is_numpys(backend: Any) -> None:
    x, y = np.arange(6.0).reshape(2, 1, 3), np.arange(4.0).reshape(4, 1)
    assert_values(backend.float_mul(x, y), x * y)


@pytest.mark.parametrize("scalar", [2, True, 0.5, np.float64(0.5), np.float32(0.5)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_number_takes_the_dtype_of_the_tensor(backend: Any, scalar: Any, dtype: str) -> None:
    for shape in ((), (3,)):
        assert backend.float_mul_scalar(np.ones(shape, dtype), scalar).dtype == np.dtype(dtype)


def test_a_number_beyond_the_dtype_is_infinite(backend: Any) -> None:
    assert_values(backend.float_add_scalar(float_array(1.0), 1e300), [INF], "float32")


def test_remainder_has_the_sign_of_the_divisor(backend: Any) -> None:
    lhs, rhs = float_array(-7, 7, -7, 7, 5, -5), float_array(2, -2, -2, 2, INF, INF)
    assert_values(backend.float_remainder(lhs, rhs), [1, -1, -1, 1, 5, INF])
    assert_values(backend.float_remainder_scalar(float_array(-7.5, 7.5), 2), [0.5, 1.5])
    assert_values(backend.float_remainder(float_array(1), float_array(0)), [NAN])


def test_remainder_of_a_tiny_negative_number_is_pythons(backend: Any) -> None:
    x = float_array(-1e-20, -1e-3, dtype="float64")
    assert_values(backend.float_remainder_scalar(x, 3.0), [-1e-20 % 3.0, -1e-3 % 3.0])


def test_nan_passes_through_clamp_relu_and_extremes(backend: Any) -> None:
    x = float_array(NAN, -2.0, 2.0)
    assert_values(backend.float_clamp(x, -1, 1), [NAN, -1, 1])
    assert_values(backend.float_clamp_min(x, 0), [NAN, 0, 2])
    assert_values(backend.float_clamp_max(x, 0), [NAN, -2, 0])
    assert_values(backend.relu(x), [NAN, 0, 2])
    assert_values(backend.float_max(x), NAN)
    assert_values(backend.float_min_dim(x, 0), [NAN])


def test_the_greatest_bound_of_a_clamp_wins(backend: Any) -> None:
    assert_values(backend.float_clamp(float_array(-5.0, 0.0, 5.0), 3.0, 1.0), [1, 1, 1])


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [(-8.0, 1 / 3, NAN), (0.0, 0.0, 1.0), (-2.0, 3.0, -8.0), (0.0, -1.0, INF), (NAN, 0.0, 1.0)],
)
def test_powers_at_the_edges(backend: Any, base: float, exponent: float, expected: float) -> None:
    x = float_array(base)
    assert_values(backend.float_powf(x, float_array(exponent)), [expected])
    assert_values(backend.float_powf_scalar(x, exponent), [expected])


def test_a_power_by_integers_keeps_the_parity_of_great_exponents(backend: Any) -> None:
    exponents = np.array([2**24, 2**24 + 1])
    assert_values(backend.float_powi(float_array(-1, -1), exponents), [1, -1], "float32")


def test_rounding_goes_to_even(backend: Any) -> None:
    x = float_array(-1.5, -0.5, 0.5, 1.5, 2.5, NAN)
    assert_values(backend.float_round(x), [-2, -0.0, 0, 2, 2, NAN])
    assert_values(backend.float_trunc(float_array(-1.7, 1.7)), [-1, 1])


def test_the_sign_of_nan_is_zero(backend: Any) -> None:
    assert_values(backend.float_sign(float_array(-3, -0.0, 0, 2, NAN, -INF)), [-1, 0, 0, 1, 0, -1])


def test_hypot_does_not_overflow(backend: Any) -> None:
    x, y = float_array(3e38, 0.0, INF), float_array(1e38, 0.0, NAN)
    assert_values(backend.float_hypot(x, y), np.hypot(x, y))


def test_cross_is_numpys(backend: Any) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 4, 3))
    np.testing.assert_allclose(backend.float_cross(x, y, -1), np.cross(x, y), rtol=1e-14)


def test_nan_and_infinity_are_told_apart(backend: Any) -> None:
    x = float_array(NAN, INF, -INF, 0.0)
    assert_values(backend.float_is_nan(x, bool_), [True, False, False, False], "bool")
    assert_values(backend.float_is_inf(x, bool_), [False, True, True, False], "bool")


def test_nan_compares_with_nothing(backend: Any) -> None:
    x = float_array(NAN)
    for name in ("equal", "greater", "greater_equal", "lower", "lower_equal"):
        assert_values(getattr(backend, f"float_{name}")(x, x, bool_), [False], "bool")
    assert_values(backend.float_not_equal(x, x, bool_), [True])


def test_truth_of_floats(backend: Any) -> None:
    x = float_array(0.0, NAN, -0.0)
    assert_values(backend.float_any(x, bool_), np.array(True))
    assert_values(backend.float_all(x, bool_), np.array(False))
    assert_values(backend.float_all(np.zeros((0,), "float32"), bool_), np.array(True))


def test_all_is_exact_for_many_half_precision_elements(backend: Any) -> None:
    x = np.ones(100_000, "float16")
    assert backend.float_all(x, bool_)
    x[77_777] = 0
    assert not backend.float_all(x, bool_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoid_and_its_logarithm_are_stable(backend: Any, dtype: str) -> None:
    x = np.array([-1000, -80, -1, 0, 1, 80, 1000], dtype)
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(-wide))
    assert ulps(backend.sigmoid(x), expected) <= MAX_ULPS
    log_expected = np.minimum(wide, 0) - np.log1p(np.exp(-np.abs(wide)))
    assert ulps(backend.log_sigmoid(x), log_expected) <= MAX_ULPS
    assert_values(backend.sigmoid(float_array(NAN, INF, -INF)), [NAN, 1, 0])


def test_gelu_is_the_exact_one_and_so_is_its_derivative(backend: Any) -> None:
    x = np.linspace(-4, 4, 101)
    torch = pytest.importorskip("torch")
    leaf = torch.tensor(x, requires_grad=True)
    torch.nn.functional.gelu(leaf).sum().backward()
    expected = torch.nn.functional.gelu(torch.tensor(x)).numpy()
    np.testing.assert_allclose(backend.gelu(x), expected, rtol=1e-12, atol=1e-15)
    slope = backend.gelu_backward(x, np.ones_like(x))
    np.testing.assert_allclose(slope, leaf.grad.numpy(), rtol=1e-12, atol=1e-15)


def test_relu_backward_looks_at_the_output(backend: Any) -> None:
    output, grad = float_array(0.0, 1.0, -0.0, NAN), float_array(5.0, 5.0, 5.0, 5.0)
    assert_values(backend.relu_backward(output, grad), [0, 5, 0, 0])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_does_not_overflow_and_sums_to_one(backend: Any, dim: int) -> None:
    x = np.array([[1000.0, 1001.0, -1000.0], [0.0, -3.0, 2.0]])
    shifted = np.exp(x - x.max(dim, keepdims=True))
    expected = shifted / shifted.sum(dim, keepdims=True)
    np.testing.assert_allclose(backend.softmax(x, dim), expected, rtol=1e-15)
    np.testing.assert_allclose(
        np.exp(backend.log_softmax(x, dim)), expected, rtol=1e-12, atol=1e-300
    )
    np.testing.assert_allclose(backend.softmin(-x, dim), expected, rtol=1e-15)
    assert_values(backend.softmax(np.zeros((2, 0)), 1), np.zeros((2, 0)))


def test_leaky_and_parametric_relu(backend: Any) -> None:
    x = float_array(-2.0, 0.0, 3.0, NAN)
    assert_values(backend.leaky_relu(x, 0.5), [-1, 0, 3, NAN])
    assert_values(backend.prelu(x, float_array(0.25)), [-0.5, 0, 3, NAN])


def test_hard_sigmoid_is_computed_in_float32(backend: Any) -> None:
    x = float_array(-3.0, 0.001, 3.0, dtype="float16")
    wide = np.clip(np.float32(0.2) * x.astype(np.float32) + np.float32(0.5), 0, 1)
    assert_values(backend.hard_sigmoid(x, 0.2, 0.5), wide.astype(np.float16), "float16")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matmul_batches_broadcast(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(1)
    lhs, rhs = rng.normal(size=(5, 1, 2, 7)).astype(dtype), rng.normal(size=(3, 7, 4)).astype(dtype)
    expected = lhs.astype(np.float64) @ rhs.astype(np.float64)
    scale = np.abs(lhs.astype(np.float64)) @ np.abs(rhs.astype(np.float64))
    found = backend.float_matmul(lhs, rhs)
    assert found.dtype == np.dtype(dtype)
    assert np.max(np.abs(found - expected) / scale) <= 7 * np.finfo(dtype).eps


def test_half_precision_matmul_is_accumulated_in_float32(backend: Any) -> None:
    ones = np.ones((1, 4096), "float16")
    assert_values(backend.float_matmul(ones, ones.T), [[4096]], "float16")


def test_a_read_only_operand_is_fine(backend: Any) -> None:
    x = backend.read_only(float_array(1.0, 2.0))
    assert not x.flags.writeable
    assert_values(backend.float_add_scalar(x, 1), [2, 3])
    assert_values(backend.float_cast(x, float32), [1, 2])


def test_an_operation_inside_of_another_one_is_fine(backend: Any) -> None:
    """As in a finalizer or a signal handler that runs while NumPy computes."""
    x = float_array(0.0)

    def interrupted(tensor: Array) -> Array:
        return backend.float_div(tensor, backend.float_sum(tensor))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_values(backend.unary(interrupted, x), [NAN], "float32")
