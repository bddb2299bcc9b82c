"""What float operations give, value by value, at every width."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.cube.build import (
    Array,
    binary,
    bits_as,
    call,
    cast_to,
    compare,
    evaluate,
    from_storage,
    to_storage,
    unary,
)

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import Constant
from firebrick.cube.ir.types import BF16, BOOL, F16, F32, F64, I32, I64, U32, Type

FLOATS = [F16, BF16, F32, F64]
VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 2.5, 3.5, -3.5, 7.25, 100.7, -1e-3, 6e-5, 1e-7, 1e-38, 1e-40,
    -1e-45, 6.0e4, 1e30, -3e38, 1e308, math.inf, -math.inf, math.nan,
]  # fmt: skip
TRANSCENDENTAL: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "degrees": np.degrees,
    "radians": np.radians, "recip": np.reciprocal,
    "inverse_sqrt": lambda x: 1.0 / np.sqrt(x),
    "erf": lambda x: torch.erf(torch.tensor(x)).numpy(),
}  # fmt: skip
INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "abs": np.abs,
}  # fmt: skip


def samples(type: Type) -> list[float]:
    with np.errstate(over="ignore"):
        return from_storage(to_storage(VALUES, type), type)


def pairs(type: Type) -> tuple[list[float], list[float]]:
    values = samples(type)
    return [a for a in values for _ in values], [b for _ in values for b in values]


def rounded(values: Array, type: Type) -> Array:
    """What float32 or float64 results become in a type, as float64."""
    with np.errstate(over="ignore", under="ignore"):
        if type == BF16:
            return torch.tensor(values).to(torch.bfloat16).to(torch.float64).numpy()
        return values.astype(f"f{type.bits // 8}").astype(np.float64)


def computed(function: Callable[..., Array], type: Type, *operands: list[float]) -> Array:
    """NumPy's result: in float32 for narrow types, then rounded."""
    width = np.float64 if type == F64 else np.float32
    with np.errstate(all="ignore"):
        return rounded(function(*(np.array(values, width) for values in operands)), type)


def assert_same(found: list[float], expected: Array) -> None:
    """Equal bits, except that one NaN is as good as another."""
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    signs = np.signbit(np.array(found)[numbers])
    np.testing.assert_array_equal(signs, np.signbit(expected[numbers]))


def floor_divide(a: Array, b: Array) -> Array:
    return np.floor(a / b)


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


OPERATORS: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mod": np.mod,
    "floordiv": floor_divide,
}  # fmt: skip


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", OPERATORS)
def test_arithmetic_rounds_once_like_numpy(op: Any, type: Type) -> None:
    left, right = pairs(type)
    found = evaluate(binary(op), (type, left), (type, right))
    assert_same(found, computed(OPERATORS[op], type, left, right))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize(("op", "oracle"), [("min", np.minimum), ("max", np.maximum)])
def test_the_smaller_and_larger_of_nan_is_nan(op: Any, oracle: Any, type: Type) -> None:
    left, right = pairs(type)
    found = evaluate(binary(op), (type, left), (type, right))
    np.testing.assert_array_equal(found, computed(oracle, type, left, right))


@pytest.mark.parametrize("op", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_only_ne_holds_with_a_nan(op: Any) -> None:
    numbers, nans = samples(F32), [math.nan] * len(VALUES)
    for left, right in ((numbers, nans), (nans, numbers)):
        found = evaluate(compare(op), (F32, left), (F32, right))
        assert found == [op == "ne"] * len(VALUES)


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_a_sign_changes_zeros_too(type: Type) -> None:
    found = evaluate(unary("neg"), (type, samples(type)))
    assert_same(found, -np.array(samples(type)))


def test_products_and_sums_are_not_contracted() -> None:
    # (1 + e)(1 - e) is 1 - e**2, which rounds to 1 before 1 is subtracted
    a, b = [1 + 2.0**-13], [1 - 2.0**-13]

    def make(x: Any, y: Any) -> Any:
        return binary("sub")(binary("mul")(x, y), Constant(F32, 1.0))

    assert evaluate(make, (F32, a), (F32, b)) == [0.0]


# ---- conversions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_a_float_truncates_and_saturates_as_an_integer(source: Type, name: Any) -> None:
    target = Type(name)
    low, high = integer_range(target)
    values = samples(source)

    def expected(value: float) -> int:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(math.trunc(value), low), high)

    found = evaluate(cast_to(target), (source, values))
    assert found == [expected(value) for value in values]


@pytest.mark.parametrize("target", FLOATS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_a_float_becomes_the_nearest_one(source: Type, target: Type) -> None:
    values = samples(source)
    found = evaluate(cast_to(target), (source, values))
    assert_same(found, rounded(np.array(values), target))


@pytest.mark.parametrize(("target", "bits"), [(F16, 11), (BF16, 8), (F32, 24)])
def test_a_double_is_rounded_once(target: Type, bits: int) -> None:
    # just above the middle between 1 and the next number; float32 would hold the middle itself
    above = 1 + 2.0**-bits + 2.0**-50
    assert evaluate(cast_to(target), (F64, [above])) == [1 + 2.0 ** (1 - bits)]


@pytest.mark.parametrize(("target", "bits"), [(F16, 11), (BF16, 8), (F32, 24)])
def test_ties_go_to_the_even_number(target: Type, bits: int) -> None:
    step = 2.0 ** (1 - bits)
    ties = [1 + step / 2, 1 + step * 1.5]
    assert evaluate(cast_to(target), (F64, ties)) == [1.0, 1 + 2 * step]


def test_a_large_integer_is_rounded_once() -> None:
    # just above the middle of two float32, on the middle for a float64
    value = 2**60 + 2**36 + 1
    assert evaluate(cast_to(F32), (I64, [value, -value])) == [
        2.0**60 + 2.0**37,
        -(2.0**60) - 2.0**37,
    ]


@pytest.mark.parametrize("target", FLOATS, ids=str)
def test_an_integer_becomes_the_nearest_float(target: Type) -> None:
    values = [0, 1, -1, 7, 2049, -2051, 65519, 65520, 2**24 + 1, 2**31 - 1, -(2**31)]
    single = np.array(values, np.int32).astype(np.float64 if target == F64 else np.float32)
    found = evaluate(cast_to(target), (I32, values))
    assert_same(found, rounded(single, target))


def test_a_number_is_true_unless_it_is_0() -> None:
    values = [0.0, -0.0, 0.5, math.nan, math.inf]
    found = evaluate(cast_to(BOOL), (F32, values))
    assert found == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("source", "name"), [(F16, "u16"), (BF16, "u16"), (F32, "u32"), (F64, "u64")]
)
def test_bits_survive_the_way_through_an_integer(source: Type, name: Any) -> None:
    bits = Type(name)
    values = [v for v in samples(source) if not math.isnan(v)]
    stored = to_storage(values, source).view(f"u{source.bits // 8}").tolist()
    assert evaluate(bits_as(bits), (source, values)) == stored
    assert_same(evaluate(bits_as(source), (bits, stored)), np.array(values))


def test_a_float_as_a_signed_integer_has_its_sign() -> None:
    assert evaluate(bits_as(I32), (F32, [-0.0, 1.0])) == [-(2**31), 0x3F800000]
    assert evaluate(bits_as(F32), (U32, [0x7F800000])) == [math.inf]


# ---- mathematics ------------------------------------------------------------------------------


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("name", INTEGRAL)
def test_rounding_to_integers_is_numpys(name: Any, type: Type) -> None:
    values = [*samples(type), 0.5, -0.5, 1.5, 2.5, -2.5]
    found = evaluate(call(type, name), (type, values))
    assert_same(found, computed(INTEGRAL[name], type, values))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_mathematics_is_numpys_in_double_precision(name: Any, type: Type) -> None:
    values = samples(type)
    with np.errstate(all="ignore"):
        exact = TRANSCENDENTAL[name](np.array(values))
    found = evaluate(call(type, name), (type, values))
    with np.errstate(over="ignore"):
        expected = exact if type == F64 else rounded(exact.astype(np.float32), type)
    ulp = {F16: 2.0**-10, BF16: 2.0**-7, F32: 2.0**-23, F64: 2.0**-51}[type]
    np.testing.assert_allclose(found, expected, rtol=ulp, atol=1e-45)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("name", "oracle"), [("pow", np.power), ("atan2", np.arctan2), ("hypot", np.hypot)]
)
def test_functions_of_two_numbers_are_numpys(name: Any, oracle: Any, type: Type) -> None:
    left, right = pairs(type)
    with np.errstate(all="ignore"):
        exact = oracle(np.array(left), np.array(right))
        expected = exact if type == F64 else rounded(exact.astype(np.float32), type)
    found = evaluate(call(type, name), (type, left), (type, right))
    np.testing.assert_allclose(found, expected, rtol=2.0**-50 if type == F64 else 0, atol=1e-320)


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_nan_and_infinity_are_told_by_their_bits(type: Type) -> None:
    values = samples(type)
    nans = evaluate(call(BOOL, "is_nan"), (type, values))
    assert nans == [math.isnan(value) for value in values]
    infinities = evaluate(call(BOOL, "is_inf"), (type, values))
    assert infinities == [math.isinf(value) for value in values]


@pytest.mark.parametrize("type", [F32, F64], ids=str)
def test_an_integer_power_is_a_product(type: Type) -> None:
    exponents = [0, 1, 2, 3, 10, -1, -2, -3]
    bases = [1.5, -2.0, 0.0, math.inf, math.nan]
    left = [base for base in bases for _ in exponents]
    right = exponents * len(bases)
    found = evaluate(call(type, "powi"), (type, left), (I32, right))
    with np.errstate(all="ignore"):
        expected = np.power(np.array(left), np.array(right, np.float64))
    np.testing.assert_allclose(found, rounded(expected, type), rtol=1e-6)


def test_the_largest_negative_exponent_has_an_opposite() -> None:
    found = evaluate(call(F32, "powi"), (F32, [2.0, 1.0]), (I32, [-(2**31)] * 2))
    assert found == [0.0, 1.0]


singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(a=singles, b=singles, c=singles)
def test_fma_rounds_once(a: float, b: float, c: float) -> None:
    (found,) = evaluate(call(F32, "fma"), (F32, [a]), (F32, [b]), (F32, [c]))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if math.isinf(found):
        assert abs(exact) >= Fraction(2) ** 128 - Fraction(2) ** 103
        return
    with np.errstate(all="ignore"):
        near = [float(np.nextafter(np.float32(found), np.float32(s * np.inf))) for s in (-1, 1)]
    others = [Fraction(value) for value in near if math.isfinite(value)]
    assert all(abs(Fraction(found) - exact) <= abs(other - exact) for other in others)


def test_fma_sees_what_a_rounded_product_loses() -> None:
    for type, bits in ((F32, 13), (F64, 27)):
        a, b = 1 + 2.0**-bits, 1 - 2.0**-bits
        found = evaluate(
            call(type, "fma"),
            (type, [a]), (type, [b]), (type, [-1.0]),
        )  # fmt: skip
        assert found == [-(2.0 ** (-2 * bits))]


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_fma_of_infinities_and_zeros_is_that_of_the_parts(type: Type) -> None:
    rows = [
        (math.inf, 0.0, 1.0), (math.inf, 1.0, -math.inf), (1.0, math.inf, 2.0), (0.0, -1.0, 0.0),
        (0.0, -1.0, -0.0), (2.0, 3.0, -6.0), (6e4, 6e4, math.nan),
    ]  # fmt: skip
    columns = [[row[n] for row in rows] for n in range(3)]
    found = evaluate(call(type, "fma"), *((type, column) for column in columns))
    assert_same(found, computed(multiply_add, type, *columns))


def test_fma_past_the_largest_number_is_infinite() -> None:
    large, other = [1e200, -1e200], [1e200, 1e200]
    found = evaluate(call(F64, "fma"), (F64, large), (F64, other), (F64, [1.0, 1.0]))
    assert found == [math.inf, -math.inf]
