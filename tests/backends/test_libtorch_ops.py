"""Computing on the PyTorch backend: every operation against NumPy in float64.

Reductions and order are in `test_libtorch_reduction.py`, layouts, slices, masks and indices in
`test_libtorch_parts.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.backends.libtorch_values import (
    BACKEND,
    DEVICES,
    FLOATS,
    INF,
    INTS,
    NAN,
    RTOL,
    Array,
    assert_near,
    assert_same,
    kind_name,
    put,
    sample,
    values,
)

from firebrick import core
from firebrick.backends.libtorch import int_matmul
from firebrick.core import Device
from firebrick.errors import DTypeError, ShapeError

Function = Callable[..., Any]
SHAPES: list[tuple[int, ...]] = [(), (0, 3), (2, 3, 4)]
erf: Function = np.vectorize(math.erf, otypes=[np.float64])
erfc: Function = np.vectorize(math.erfc, otypes=[np.float64])


@pytest.fixture(params=DEVICES, ids=str, scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return request.param


# ---- floats, element by element ----------------------------------------------------------------

MATH: dict[str, tuple[Function, float, float]] = {
    "exp": (np.exp, -5, 5),
    "log": (np.log, 0.01, 9),
    "log1p": (np.log1p, -0.9, 9),
    "sqrt": (np.sqrt, 0, 9),
    "cos": (np.cos, -9, 9),
    "sin": (np.sin, -9, 9),
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
    "round": (np.round, -9, 9),
    "floor": (np.floor, -9, 9),
    "ceil": (np.ceil, -9, 9),
    "trunc": (np.trunc, -9, 9),
    "erf": (erf, -3, 3),
    "neg": (np.negative, -9, 9),
    "abs": (np.abs, -9, 9),
    "recip": (np.reciprocal, 0.1, 9),
    "sign": (np.sign, -9, 9),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MATH)
def test_functions_of_one_float(
    device: Device, name: str, shape: tuple[int, ...], dtype: str
) -> None:
    oracle, low, high = MATH[name]
    x = sample(shape, dtype, low, high)
    out = getattr(BACKEND, f"float_{name}")(put(x, device))
    # Near a zero of the function, the error is that of the argument.
    assert_near(out, oracle(x.astype(np.float64)), dtype, atol=RTOL[dtype])


@pytest.mark.parametrize("name", [name for name in MATH if name != "sign"])
def test_functions_pass_nan_on(device: Device, name: str) -> None:
    assert_same(getattr(BACKEND, f"float_{name}")(put([NAN] * 9, device)), [NAN] * 9)


def test_the_sign_of_nan_is_0(device: Device) -> None:
    assert_same(BACKEND.float_sign(put([NAN, -INF, -0.0, INF] * 5, device)), [0, -1, 0, 1] * 5)


def test_rounding_goes_to_even(device: Device) -> None:
    x = put([0.5, 1.5, 2.5, -0.5, -1.5], device)
    assert_same(BACKEND.float_round(x), [0, 2, 2, 0, -2])


def test_functions_take_views(device: Device) -> None:
    x = np.arange(12.0).reshape(3, 4)
    turned = BACKEND.float_transpose(put(x, device))
    assert_near(BACKEND.float_exp(turned), np.exp(x.T), "float64")
    part = BACKEND.float_slice(put(x, device), [slice(None, None, -2), slice(1, None, 2)])
    assert_near(BACKEND.float_sqrt(part), np.sqrt(x[::-2, 1::2]), "float64")


BINARY: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "remainder": np.remainder,
    "powf": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    ("left", "right"),
    [((), ()), ((2, 3), (2, 3)), ((2, 1), (3,)), ((0, 3), (1, 3)), ((), (2, 2))],
)
def test_functions_of_two_floats_broadcast(
    device: Device, name: str, dtype: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    x, y = sample(left, dtype, 1, 4), sample(right, dtype, 0.5, 3)
    out = getattr(BACKEND, f"float_{name}")(put(x, device), put(y, device))
    expected = BINARY[name](x.astype(np.float64), y.astype(np.float64))
    assert_near(out, expected, dtype, atol=RTOL[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "remainder"])
@pytest.mark.parametrize("scalar", [2, -3.0, True])
def test_floats_meet_numbers(device: Device, name: str, dtype: str, scalar: float) -> None:
    x = sample((2, 3), dtype, -9, 9)
    out = getattr(BACKEND, f"float_{name}_scalar")(put(x, device), scalar)
    assert_near(out, BINARY[name](x.astype(np.float64), float(scalar)), dtype, atol=RTOL[dtype])


def test_floats_meet_integers_beyond_64_bits(device: Device) -> None:
    assert_same(BACKEND.float_add_scalar(put([0.0], device), 2**70), [2.0**70])
    assert_same(BACKEND.float_lower_elem(put([1.0], device), 2**70, core.bool_), [True])


def test_division_of_floats_follows_ieee(device: Device) -> None:
    x, zero = put([1.0, -1.0, 0.0, NAN], device), put([0.0], device)
    assert_same(BACKEND.float_div(x, zero), [INF, -INF, NAN, NAN])


def test_the_remainder_has_the_sign_of_the_divisor(device: Device) -> None:
    x, y = [5.0, -5.0, 5.0, -5.0, 5.0, -5.0, INF, NAN], [3.0, 3.0, -3.0, -3.0, INF, INF, 2.0, 1.0]
    out = BACKEND.float_remainder(put(x, device), put(y, device))
    assert_same(out, [2.0, 1.0, -1.0, -2.0, 5.0, INF, NAN, NAN])


@pytest.mark.parametrize("dtype", FLOATS)
def test_limits_keep_nan_and_the_upper_one_wins(device: Device, dtype: str) -> None:
    x = put([-INF, -2.0, 1.0, 5.0, INF, NAN], device, dtype)
    assert_same(BACKEND.float_clamp_min(x, 0), [0, 0, 1, 5, INF, NAN], dtype)
    assert_same(BACKEND.float_clamp_max(x, 2.0), [-INF, -2, 1, 2, 2, NAN], dtype)
    assert_same(BACKEND.float_clamp(x, -1, 2), [-1, -1, 1, 2, 2, NAN], dtype)
    assert_same(BACKEND.float_clamp(x, 4, 2), [2, 2, 2, 2, 2, NAN], dtype)
    assert_same(BACKEND.float_clamp(put([1.0], device, dtype), -1e300, 1e300), [1], dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_by_whole_numbers(device: Device, dtype: str) -> None:
    x, n = sample((3, 1), dtype, -2, 2), np.array([-2, -1, 0, 1, 2, 3, 4])
    out = BACKEND.float_powi(put(x, device), put(n, device))
    assert_near(out, np.power(x.astype(np.float64), n), dtype)
    for power in (-3, 0, 1, 5):
        expected = np.power(x.astype(np.float64), power)
        assert_near(BACKEND.float_powi_scalar(put(x, device), power), expected, dtype)
        assert_near(BACKEND.float_powf_scalar(put(x, device), power), expected, dtype)


def test_a_large_exponent_stays_odd(device: Device) -> None:
    n = 2**24 + 1
    x = put([-1.0, -0.0, 1.0, -2.0], device, "float32")
    assert_same(BACKEND.float_powi(x, put([n], device)), [-1.0, 0.0, 1.0, -INF], "float32")
    assert_same(BACKEND.float_powi_scalar(x, n), [-1.0, 0.0, 1.0, -INF], "float32")


@pytest.mark.parametrize("dtype", FLOATS)
def test_hypotenuses_do_not_overflow(device: Device, dtype: str) -> None:
    x, y = np.finfo(dtype).max / 2, np.finfo(dtype).tiny * 8
    assert_near(BACKEND.float_hypot(*[put([x], device, dtype)] * 2), [x * 2**0.5], dtype)
    assert_near(BACKEND.float_hypot(*[put([y], device, dtype)] * 2), [y * 2**0.5], dtype)
    infinite, missing = put([INF], device, dtype), put([NAN], device, dtype)
    assert_same(BACKEND.float_hypot(infinite, missing), [INF], dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("left", "right", "dim"),
    [((3,), (3,), 0), ((2, 3, 4), (1, 3, 1), 1), ((4, 3), (3,), -1), ((0, 3), (0, 3), 1)],
)
def test_vector_products_broadcast(
    device: Device, dtype: str, left: tuple[int, ...], right: tuple[int, ...], dim: int
) -> None:
    x, y = sample(left, dtype, 1, 2), sample(right, dtype, -2, -1)
    out = BACKEND.float_cross(put(x, device), put(y, device), dim)
    first, second = (a.astype(np.float64) for a in np.broadcast_arrays(x, y))
    assert_near(out, np.cross(first, second, axis=dim), dtype, atol=9 * RTOL[dtype])


def test_vectors_of_another_size_have_no_vector_product(device: Device) -> None:
    x = put(np.ones((2, 3)), device)
    with pytest.raises(ShapeError, match="size 3 along dimension 0"):
        BACKEND.float_cross(x, x, 0)


MATRICES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((3, 0), (0, 2)),
    ((0, 3), (3, 2)),
]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize(("left", "right"), MATRICES)
def test_matrix_products_broadcast_leading_dimensions(
    device: Device, dtype: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    x, y = sample(left, dtype, 0, 99), sample(right, dtype, 0, 99)
    out = getattr(BACKEND, f"{kind_name(dtype)}_matmul")(put(x, device), put(y, device))
    if kind_name(dtype) == "int":
        assert_same(out, x @ y, dtype)
    else:
        assert_near(out, x.astype(np.float64) @ y.astype(np.float64), dtype)


def test_vectors_have_no_matrix_product(device: Device) -> None:
    x, n = put(np.ones(3), device), put(np.ones(3, np.int64), device)
    for multiply, operand in ((BACKEND.float_matmul, x), (BACKEND.int_matmul, n)):
        with pytest.raises(ShapeError, match="at least 2 dimensions"):
            multiply(operand, operand)


@pytest.mark.parametrize("dtype", INTS)
def test_matrix_products_of_ints_wrap(device: Device, dtype: str) -> None:
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    x = rng.integers(limits.min, limits.max, (5, 300), dtype, endpoint=True)
    y = rng.integers(limits.min, limits.max, (300, 4), dtype, endpoint=True)
    left, right = put(x, device), put(y.T, device).T
    assert_same(BACKEND.int_matmul(left, right), x @ y, dtype)
    assert_same(int_matmul.int_matmul(left, right), x @ y, dtype)


def test_long_sums_of_products_are_taken_in_pieces(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(int_matmul, "EXACT_TERMS", 7)
    x = np.random.default_rng(0).integers(-(2**62), 2**62, (2, 3, 20))
    product = int_matmul.int_matmul(put(x, device), put(x.swapaxes(1, 2), device))
    assert_same(product, x @ x.swapaxes(1, 2), "int64")


# ---- ints, element by element ------------------------------------------------------------------


def truncated(x: Array, y: Any) -> Array:
    """Division toward zero in Python's integers, wrapped to the dtype; by 0 it is 0."""
    exact = [
        0 if b == 0 else abs(int(a)) // abs(int(b)) * (-1 if (a < 0) != (b < 0) else 1)
        for a, b in zip(x.tolist(), np.broadcast_to(y, x.shape).tolist(), strict=True)
    ]
    return np.array(exact, object).astype(np.int64).astype(x.dtype)


def int_pairs(dtype: str) -> tuple[Array, Array]:
    """Each of some values with each, the ends of the dtype among them."""
    limits = np.iinfo(dtype)
    some = {limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, limits.max}
    kept = [value for value in sorted(some) if value >= limits.min]
    x, y = np.meshgrid(np.array(kept, dtype), np.array(kept, dtype))
    return x.ravel(), y.ravel()


INT_BINARY: dict[str, Function] = {
    "int_add": np.add,
    "int_sub": np.subtract,
    "int_mul": np.multiply,
    "int_div": truncated,
    "int_remainder": np.remainder,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
}


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", INT_BINARY)
def test_functions_of_two_ints_are_numpys_at_every_end(
    device: Device, name: str, dtype: str
) -> None:
    if dtype == "int64" and name == "int_div":
        # Its most negative quotient does not fit the oracle's int64.
        x, y = int_pairs("int32")
        x, y = x.astype(dtype), y.astype(dtype)
    else:
        x, y = int_pairs(dtype)
    with np.errstate(all="ignore"):
        expected = INT_BINARY[name](x, y)
    assert_same(getattr(BACKEND, name)(put(x, device), put(y, device)), expected, dtype)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", INT_BINARY)
def test_ints_meet_numbers_as_they_meet_tensors(device: Device, name: str, dtype: str) -> None:
    x, y = int_pairs(dtype)
    for scalar in sorted(set(y.tolist())):
        full = put(np.full((), scalar, dtype), device)
        expected = values(getattr(BACKEND, name)(put(x, device), full))
        out = getattr(BACKEND, f"{name}_scalar")(put(x, device), scalar)
        assert_same(out, expected, dtype)


def test_the_least_integer_divided_by_minus_1_wraps(device: Device) -> None:
    for dtype in ("int8", "int32", "int64"):
        least = np.full(9, np.iinfo(dtype).min, dtype)
        minus = put(np.full(9, -1, dtype), device)
        assert_same(BACKEND.int_div(put(least, device), minus), least, dtype)
        assert_same(BACKEND.int_div_scalar(put(least, device), -1), least, dtype)


@pytest.mark.parametrize("name", INT_BINARY)
def test_ints_broadcast(device: Device, name: str) -> None:
    x, y = np.array([[7], [-8]]), np.array([1, 2, 3])
    out = getattr(BACKEND, name)(put(x, device), put(y, device))
    expected = INT_BINARY[name](*(a.ravel() for a in np.broadcast_arrays(x, y))).reshape(2, 3)
    assert_same(out, expected, "int64")


@pytest.mark.parametrize("name", INT_BINARY)
@pytest.mark.parametrize("scalar", [300, -129, 1.5, 2.0, NAN])
def test_a_number_that_the_dtype_does_not_hold_is_refused(
    device: Device, name: str, scalar: float
) -> None:
    with pytest.raises(DTypeError, match="int8, which holds whole numbers from -128 to 127"):
        getattr(BACKEND, f"{name}_scalar")(put([1], device, "int8"), scalar)


@pytest.mark.parametrize("dtype", INTS)
def test_functions_of_one_int_are_numpys(device: Device, dtype: str) -> None:
    x = int_pairs(dtype)[0]
    oracles: dict[str, Function] = {
        "int_square": np.square,
        "int_neg": np.negative,
        "int_abs": np.abs,
        "int_sign": np.sign,
        "bitwise_not": np.invert,
    }
    for name, oracle in oracles.items():
        with np.errstate(all="ignore"):
            assert_same(getattr(BACKEND, name)(put(x, device)), oracle(x), dtype)


def wrapped_power(base: int, power: int) -> np.uint64:
    return np.uint64(pow(base, power, 2**64))


@pytest.mark.parametrize("dtype", INTS)
def test_powers_of_ints_are_exact_and_wrap(device: Device, dtype: str) -> None:
    bases = np.array([0, 1, 2, 3, 7, np.iinfo(dtype).max], dtype)
    for power in (0, 1, 2, 5, 40, 127, 200, 2**40):
        expected = np.array([wrapped_power(int(base), power) for base in bases]).astype(dtype)
        assert_same(BACKEND.int_powi_scalar(put(bases, device), power), expected, dtype)
        if power <= np.iinfo(dtype).max:
            exponent = put(np.array([power], dtype), device)
            assert_same(BACKEND.int_powi(put(bases, device), exponent), expected, dtype)


def test_negative_powers_of_ints_are_0_but_for_units(device: Device) -> None:
    x = put([-2, -1, 0, 1, 2], device)
    for power, expected in ((-1, [0, -1, 0, 1, 0]), (-2, [0, 1, 0, 1, 0])):
        assert_same(BACKEND.int_powi_scalar(x, power), expected, "int64")
        assert_same(BACKEND.int_powi(x, put([power], device)), expected, "int64")
    assert_same(BACKEND.int_powi_scalar(put([1, 2], device, "uint8"), -1), [1, 0], "uint8")


def test_powers_of_ints_are_exact_above_the_floats(device: Device) -> None:
    assert_same(BACKEND.int_powi(put([3], device), put([39], device)), [3**39], "int64")


@pytest.mark.parametrize("dtype", INTS)
def test_limits_of_ints(device: Device, dtype: str) -> None:
    x = np.array([0, 3, 100], dtype)
    assert_same(BACKEND.int_clamp_min(put(x, device), 2), np.maximum(x, 2), dtype)
    assert_same(BACKEND.int_clamp_max(put(x, device), 4), np.minimum(x, 4), dtype)
    assert_same(BACKEND.int_clamp(put(x, device), 1, 5), np.clip(x, 1, 5), dtype)
    assert_same(BACKEND.int_clamp(put(x, device), 5, 1), [1, 1, 1], dtype)


def test_limits_beyond_the_dtype_do_not_limit(device: Device) -> None:
    x = put([-128, 5, 127], device, "int8")
    for low, high in ((-300, 300), (-INF, INF), (-(2**70), 2**70)):
        assert_same(BACKEND.int_clamp(x, low, high), [-128, 5, 127], "int8")


# ---- comparisons and logic ---------------------------------------------------------------------

COMPARISONS: dict[str, Function] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "lower": operator.lt,
    "lower_equal": operator.le,
}


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_numpys(device: Device, name: str, dtype: str) -> None:
    x, y = np.array([[1], [2], [3]], dtype), np.array([1, 2, 3], dtype)
    if kind_name(dtype) == "float":
        x[0, 0] = y[1] = NAN
    kind = kind_name(dtype)
    out = getattr(BACKEND, f"{kind}_{name}")(put(x, device), put(y, device), core.bool_)
    assert_same(out, COMPARISONS[name](x, y), "bool")
    out = getattr(BACKEND, f"{kind}_{name}_elem")(put(x, device), 2, core.bool_)
    assert_same(out, COMPARISONS[name](x, 2), "bool")


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", INTS)
def test_ints_compare_with_any_number_exactly(device: Device, name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = np.array([limits.min, 1, 2, limits.max], dtype)
    for scalar in (1, 1.5, 2.0, -0.5, 300, -129, 2**70, -(2**70), 2.0**63, INF, -INF, NAN, True):
        expected = [COMPARISONS[name](int(value), scalar) for value in x]
        out = getattr(BACKEND, f"int_{name}_elem")(put(x, device), scalar, core.bool_)
        assert_same(out, expected, "bool")


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_number_is_rounded_to_the_dtype_before_it_is_compared(device: Device, dtype: str) -> None:
    x = put([0.1], device, dtype)
    assert_same(BACKEND.float_equal_elem(x, 0.1, core.bool_), [True])
    assert_same(BACKEND.float_lower_elem(x, 0.1, core.bool_), [False])


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_are_found(device: Device, dtype: str) -> None:
    x = put([NAN, INF, -INF, 0.0], device, dtype)
    assert_same(BACKEND.float_is_nan(x, core.bool_), [True, False, False, False], "bool")
    assert_same(BACKEND.float_is_inf(x, core.bool_), [False, True, True, False], "bool")


def test_connectives_are_numpys(device: Device) -> None:
    x, y = np.array([[False], [True]]), np.array([False, True])
    oracles: dict[str, Function] = {
        "and": np.logical_and,
        "or": np.logical_or,
        "xor": np.logical_xor,
        "equal": np.equal,
        "not_equal": np.not_equal,
    }
    for name, oracle in oracles.items():
        out = getattr(BACKEND, f"bool_{name}")(put(x, device), put(y, device))
        assert_same(out, oracle(x, y), "bool")
    assert_same(BACKEND.bool_not(put(y, device)), [True, False], "bool")
    assert_same(BACKEND.bool_equal_elem(put(y, device), True), y, "bool")
    assert_same(BACKEND.bool_not_equal_elem(put(y, device), 1), ~y, "bool")


# ---- activations -------------------------------------------------------------------------------


def normal_below(x: Array) -> Array:
    return erfc(-x / math.sqrt(2)) / 2


def normal_density(x: Array) -> Array:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


ACTIVATIONS: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {
    "relu": ((), lambda x: np.maximum(x, 0)),
    "leaky_relu": ((0.25,), lambda x: np.maximum(x, 0.25 * x)),
    "gelu": ((), lambda x: x * normal_below(x)),
    "sigmoid": ((), lambda x: 1 / (1 + np.exp(-x))),
    "hard_sigmoid": ((0.25, 0.5), lambda x: np.minimum(np.maximum(0.25 * x + 0.5, 0), 1)),
    "log_sigmoid": ((), lambda x: -np.logaddexp(0, -x)),
    "softmax": ((-1,), lambda x: np.exp(log_softmax(x))),
    "log_softmax": ((-1,), log_softmax),
    "softmin": ((-1,), lambda x: np.exp(log_softmax(-x))),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
def test_activations_are_their_closed_forms(
    device: Device, name: str, dtype: str, shape: tuple[int, ...]
) -> None:
    x = sample(shape, dtype, -6, 6)
    arguments, oracle = ACTIVATIONS[name]
    out = getattr(BACKEND, name)(put(x, device), *arguments)
    assert_near(out, oracle(x.astype(np.float64)), dtype, atol=RTOL[dtype])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_pass_nan_on(device: Device, name: str) -> None:
    out = getattr(BACKEND, name)(put([NAN] * 9, device), *ACTIVATIONS[name][0])
    assert_same(out, [NAN] * 9)


def test_activations_are_stable_far_from_0(device: Device) -> None:
    x = put([-1e4, 1e4], device, "float32")
    assert_same(BACKEND.sigmoid(x), [0, 1])
    assert_same(BACKEND.log_sigmoid(x), [-1e4, 0])
    assert_same(BACKEND.log_sigmoid_backward(x, put([1.0, 1.0], device, "float32")), [1, 0])
    assert_same(BACKEND.gelu(x), [0, 1e4])
    assert_same(BACKEND.gelu(put([INF], device)), [INF])
    assert_same(BACKEND.log_softmax(x, 0), [-2e4, 0])


def test_gelu_keeps_its_digits_in_the_tail(device: Device) -> None:
    x = np.array([-5.0, -8.0], np.float32)
    assert_near(BACKEND.gelu(put(x, device)), x * normal_below(x.astype(np.float64)), "float32")


def test_prelu_broadcasts_its_slope(device: Device) -> None:
    x, slope = sample((2, 3, 4), "float64"), sample((3, 1), "float64")
    out = BACKEND.prelu(put(x, device), put(slope, device))
    assert_near(out, np.where(x >= 0, x, slope * x), "float64")


@pytest.mark.parametrize("dtype", FLOATS)
def test_derivatives_are_their_closed_forms(device: Device, dtype: str) -> None:
    x, grad = sample((3, 4), dtype, -4, 4), sample((3, 4), dtype)
    output = sample((3, 4), dtype, 0.01, 0.99)
    wide, wide_grad, wide_output = (a.astype(np.float64) for a in (x, grad, output))
    cases: dict[str, tuple[Array, Any]] = {
        "gelu_backward": (x, wide_grad * (normal_below(wide) + wide * normal_density(wide))),
        "log_sigmoid_backward": (x, wide_grad / (1 + np.exp(wide))),
        "sigmoid_backward": (output, wide_output * (1 - wide_output) * wide_grad),
        "relu_backward": (x, np.where(x > 0, wide_grad, 0)),
    }
    for name, (operand, expected) in cases.items():
        out = getattr(BACKEND, name)(put(operand, device), put(grad, device))
        assert_near(out, expected, dtype, atol=2 * RTOL[dtype])


def test_the_derivative_of_relu_is_0_where_the_output_is_not_positive(device: Device) -> None:
    output, grad = put([0.0, -0.0, NAN, 2.0], device), put([1.0, 1.0, 1.0, NAN], device)
    assert_same(BACKEND.relu_backward(output, grad), [0, 0, 0, NAN])
