"""Integers and truth values on the array backends: wrapping, truncation, and the open rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.backends.array_backends import BACKENDS, INTS, Array, assert_values

from firebrick.backend import IntOps
from firebrick.core import TensorSpec, bool_, float32, int8, int32, uint8
from firebrick.errors import DTypeError
from firebrick.opset import output_specs

SIGNED = ["int8", "int16", "int32", "int64"]
INT64 = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(params=BACKENDS, ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def ints(*values: int, dtype: str = "int64") -> Array:
    return np.array(values, dtype)


def wrapped(value: int, bits: int = 64) -> int:
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@given(a=INT64, b=INT64)
def test_arithmetic_wraps_in_the_dtype(a: int, b: int) -> None:
    for backend in BACKENDS:
        x, y = ints(a), ints(b)
        assert_values(backend.int_add(x, y), [wrapped(a + b)], "int64")
        assert_values(backend.int_sub(x, y), [wrapped(a - b)])
        assert_values(backend.int_mul(x, y), [wrapped(a * b)])
        assert_values(backend.int_neg(x), [wrapped(-a)])
        assert_values(backend.int_abs(x), [wrapped(abs(a))])


@given(a=INT64, b=INT64.filter(bool))
def test_division_truncates_and_remainder_has_the_sign_of_the_divisor(a: int, b: int) -> None:
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    for backend in BACKENDS:
        assert_values(backend.int_div(ints(a), ints(b)), [wrapped(quotient)], "int64")
        assert_values(backend.int_remainder(ints(a), ints(b)), [a % b])
        assert_values(backend.int_div_scalar(ints(a), b), [wrapped(quotient)])
        assert_values(backend.int_remainder_scalar(ints(a), b), [a % b])


@pytest.mark.parametrize("dtype", INTS)
def test_division_by_zero_gives_zero(backend: Any, dtype: str) -> None:
    x, zero = np.array([5, 0, 100], dtype), np.zeros(3, dtype)
    assert_values(backend.int_div(x, zero), [0, 0, 0], dtype)
    assert_values(backend.int_remainder(x, zero), [0, 0, 0], dtype)


@pytest.mark.parametrize("dtype", SIGNED)
def test_negative_numbers_divided_by_zero_give_zero(backend: Any, dtype: str) -> None:
    x = np.array([-5], dtype)
    assert_values(backend.int_div(x, np.zeros(1, dtype)), [0], dtype)
    assert_values(backend.int_div_scalar(x, 0), [0], dtype)


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_least_integer_divided_by_minus_one_wraps(backend: Any, dtype: str) -> None:
    least = np.array([np.iinfo(dtype).min], dtype)
    assert_values(backend.int_div_scalar(least, -1), least, dtype)
    assert_values(backend.int_remainder_scalar(least, -1), [0], dtype)


@pytest.mark.parametrize("dtype", INTS)
def test_results_keep_the_dtype(backend: Any, dtype: str) -> None:
    x = np.array([[3, 1], [2, 2]], dtype)
    for name in ("sum", "prod", "mean", "max", "min", "square", "sign"):
        assert getattr(backend, f"int_{name}")(x).dtype == np.dtype(dtype)
    for name in ("sum_dim", "cumsum", "cumprod", "argmax"):
        assert getattr(backend, f"int_{name}")(x, 1).dtype == np.dtype(dtype)


@given(base=st.integers(-5, 5), exponent=st.integers(-5, 12), dtype=st.sampled_from(SIGNED))
def test_powers_are_exact_in_the_dtype(base: int, exponent: int, dtype: str) -> None:
    bits = np.iinfo(dtype).bits
    if exponent >= 0:
        expected = wrapped(base**exponent, bits)
    else:
        expected = base ** (exponent % 2 + 2) if abs(base) == 1 else 0
    for backend in BACKENDS:
        x = np.array([base], dtype)
        assert_values(backend.int_powi_scalar(x, exponent), [expected], dtype)
        assert_values(backend.int_powi(x, np.array([exponent], dtype)), [expected], dtype)


def test_a_great_power_does_not_go_over_floats(backend: Any) -> None:
    assert_values(backend.int_powi_scalar(ints(3), 39), [3**39])


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32"])
def test_shifts_out_of_the_width_shift_everything_out(backend: Any, dtype: str) -> None:
    width = np.iinfo(dtype).bits
    x = np.full(2, 5, dtype)
    counts = np.array([width, width + 1], dtype)
    assert_values(backend.bitwise_left_shift(x, counts), [0, 0], dtype)
    assert_values(backend.bitwise_right_shift(x, counts), [0, 0], dtype)


@pytest.mark.parametrize("dtype", SIGNED)
def test_shifts_of_and_by_negative_numbers(backend: Any, dtype: str) -> None:
    x = np.array([-5, 5], dtype)
    assert_values(backend.bitwise_right_shift_scalar(x, 1), [-3, 2], dtype)
    assert_values(backend.bitwise_right_shift_scalar(x, 100), [-1, 0], dtype)
    assert_values(backend.bitwise_right_shift_scalar(x, -1), [-1, 0], dtype)
    assert_values(backend.bitwise_left_shift_scalar(x, -1), [0, 0], dtype)


def test_bit_operations_are_pythons(backend: Any) -> None:
    x, y = ints(12, -7), ints(10, 3)
    assert_values(backend.bitwise_and(x, y), [12 & 10, -7 & 3])
    assert_values(backend.bitwise_or_scalar(x, 3), [12 | 3, -7 | 3])
    assert_values(backend.bitwise_xor(x, y), [12 ^ 10, -7 ^ 3])
    assert_values(backend.bitwise_not(x), [~12, ~-7])


@pytest.mark.parametrize("bounds", [(-1000, 1000), (0, 1000), (-3, 3), (5, 1), (1000, 2000)])
def test_bounds_of_a_clamp_may_be_out_of_the_dtype(backend: Any, bounds: tuple[int, int]) -> None:
    low, high = (max(-128, min(127, bound)) for bound in bounds)
    x = np.array([-128, -1, 0, 4, 127], "int8")
    expected = np.minimum(np.maximum(x.astype(int), low), high)
    assert_values(backend.int_clamp(x, *bounds), expected, "int8")


def test_comparisons_with_numbers_out_of_the_dtype_are_exact(backend: Any) -> None:
    x = np.array([0, 255], "uint8")
    assert_values(backend.int_lower_elem(x, 300, bool_), [True, True])
    assert_values(backend.int_greater_elem(x, -1, bool_), [True, True])
    assert_values(backend.int_equal_elem(x, 256, bool_), [False, False])
    assert_values(backend.int_lower_elem(x, 0.5, bool_), [True, False])


@pytest.mark.parametrize("scalar", [2.5, 300, -1])
def test_a_number_that_the_dtype_does_not_hold_is_refused(backend: Any, scalar: float) -> None:
    x = np.array([1], "uint8")
    with pytest.raises((TypeError, OverflowError)):
        backend.int_add_scalar(x, scalar)
    with pytest.raises(DTypeError, match="uint8, which holds whole numbers from 0 to 255"):
        output_specs(
            IntOps.__operations__["int_add_scalar"], {"lhs": TensorSpec((1,), uint8), "rhs": scalar}
        )


def test_a_mean_does_not_overflow_and_truncates(backend: Any) -> None:
    assert_values(backend.int_mean(np.full(10, 100, "int8")), np.array(100), "int8")
    assert_values(backend.int_mean(ints(-1, -2)), np.array(-1))
    assert_values(backend.int_mean_dim(np.full((2, 3), 2**40), 1), np.full((2, 1), 2**40))
    assert_values(backend.int_mean(np.zeros(0, "int32")), np.array(0), "int32")


def test_sums_wrap_in_the_dtype(backend: Any) -> None:
    assert_values(backend.int_sum(np.full(3, 100, "int8")), np.array(300 - 256), "int8")
    assert_values(backend.int_cumsum(np.full(3, 100, "int8"), 0), [100, -56, 44], "int8")


def test_positions_that_the_dtype_does_not_hold_are_refused(backend: Any) -> None:
    x = np.zeros((2, 300), "uint8")
    for name in ("int_argmax", "int_argmin"):
        with pytest.raises(DTypeError, match="uint8 ends at 255 and cannot hold the 300 positions"):
            getattr(backend, name)(x, 1)
    with pytest.raises(DTypeError, match="use a wider dtype"):
        backend.int_argsort(x, 1, False)
    with pytest.raises(DTypeError, match="use a wider dtype"):
        backend.bool_argwhere(x > 0, int8)
    with pytest.raises(DTypeError, match="use a wider dtype"):
        backend.float_argmax(x.astype("float32"), 1, uint8)


@pytest.mark.parametrize("dtype", INTS)
def test_sorting_and_extremes_reach_the_ends_of_the_dtype(backend: Any, dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.max, info.min, 3, info.max, info.min], dtype)
    assert_values(backend.int_sort(x, 0, True), np.sort(x)[::-1], dtype)
    assert_values(backend.int_argsort(x, 0, True), [0, 3, 2, 1, 4], dtype)
    assert_values(backend.int_argmin(x, 0), [1], dtype)
    assert_values(backend.int_min_dim(x, 0), [info.min], dtype)


def test_truth_values_are_zero_and_one(backend: Any) -> None:
    x = np.array([True, False])
    assert_values(backend.bool_into_int(x, int32), [1, 0], "int32")
    assert_values(backend.bool_into_float(x, float32), [1.0, 0.0], "float32")


@pytest.mark.parametrize("length", [1, 3, 4, 8])
def test_logic_is_pythons(backend: Any, length: int) -> None:
    rng = np.random.default_rng(length)
    x, y = rng.random(length) > 0.5, rng.random(length) > 0.5
    assert_values(backend.bool_and(x, y), x & y, "bool")
    assert_values(backend.bool_or(x, y), x | y, "bool")
    assert_values(backend.bool_xor(x, y), x ^ y, "bool")
    assert_values(backend.bool_not(x), ~x, "bool")
    assert_values(backend.bool_equal(x, y), x == y, "bool")


def test_truth_of_nothing(backend: Any) -> None:
    nothing = np.zeros((0, 2), bool)
    assert_values(backend.bool_any(nothing), np.array(False))
    assert_values(backend.bool_all_dim(nothing, 0), [[True, True]])


def test_argwhere_lists_coordinates(backend: Any) -> None:
    x = np.array([[True, False], [True, True]])
    assert_values(backend.bool_argwhere(x, int32), [[0, 0], [1, 0], [1, 1]], "int32")
    assert_values(backend.bool_argwhere(np.array(True), int32), np.zeros((1, 0)), "int32")
    assert_values(backend.bool_argwhere(np.zeros((2, 3), bool), int32), np.zeros((0, 2)))
