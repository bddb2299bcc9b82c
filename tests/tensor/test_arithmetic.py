"""Operators between tensors and with scalars, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from tests.tensor.oracle import Array, assert_matches, floats, tensor

from firebrick import Device, Tensor, float16, float32, int8, uint8
from firebrick.errors import BackendMismatchError, DTypeError, KindError, ShapeError

Binary = Callable[[Any, Any], Any]
SIGNS: dict[str, Binary] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "@": lambda a, b: a @ b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}
ARITHMETIC = ["+", "-", "*"]
DIVISION = ["/", "//", "%"]
BITS = ["&", "|", "^"]
SMALL_INTS = np.array([[-7, 7, 0], [6, -6, 1]], np.int32)
DIVISORS = np.array([3, -3, 2], np.int32)


@given(data=st.data())
@pytest.mark.parametrize("sign", [*ARITHMETIC, "/"])
def test_operands_broadcast_as_in_numpy(sign: str, device: Device, data: Any) -> None:
    shapes: Any = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0))
    numbers: Any = np.random.default_rng(0)
    lhs, rhs = (numbers.uniform(0.5, 2.0, shape) for shape in shapes.input_shapes)
    assert_matches(SIGNS[sign](tensor(lhs, device), tensor(rhs, device)), SIGNS[sign](lhs, rhs))


@given(values=floats())
@pytest.mark.parametrize("sign", ARITHMETIC)
def test_a_scalar_stands_on_either_side(sign: str, device: Device, values: Array) -> None:
    x = tensor(values, device)
    assert_matches(SIGNS[sign](x, 2.5), SIGNS[sign](values, 2.5))
    assert_matches(SIGNS[sign](2.5, x), SIGNS[sign](2.5, values))
    assert_matches(SIGNS[sign](x, 3), SIGNS[sign](values, 3))
    assert_matches(SIGNS[sign](x, np.float32(0.5)), SIGNS[sign](values, 0.5))
    assert_matches(SIGNS[sign](x, True), SIGNS[sign](values, 1))


@pytest.mark.parametrize("sign", DIVISION)
def test_division_by_and_of_a_scalar(sign: str, device: Device) -> None:
    values = np.array([-7.5, -1.0, 0.25, 49.0])
    x = tensor(values, device)
    assert_matches(SIGNS[sign](x, 2.5), SIGNS[sign](values, 2.5))
    assert_matches(SIGNS[sign](x, -3), SIGNS[sign](values, -3))
    assert_matches(SIGNS[sign](49.0, x), SIGNS[sign](49.0, values))


@given(
    lhs=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8),
    rhs=st.floats(0.0625, 1e3, width=32) | st.floats(-1e3, -0.0625, width=32),
)
def test_floor_division_of_floats_is_numpys(lhs: list[float], rhs: float, device: Device) -> None:
    values = np.array(lhs)
    divisor = np.full_like(values, rhs)
    quotient = tensor(values, device) // tensor(divisor, device)
    np.testing.assert_array_equal(quotient.numpy(), values // divisor)


def test_floor_division_of_floats_agrees_with_the_remainder(device: Device) -> None:
    # 1 is a little less than ten times the float next to 0.1
    x = tensor([1.0], device)
    assert ((x // 0.1).tolist(), round((x % 0.1).item(), 6)) == ([9.0], 0.1)


def test_floor_division_of_floats_by_zero_is_infinite_or_nan(device: Device) -> None:
    quotient = tensor([1.0, -1.0, 0.0], device) // 0.0
    assert quotient.tolist()[:2] == [float("inf"), float("-inf")]
    assert np.isnan(quotient.tolist()[2])


@pytest.mark.parametrize("sign", ["//", "%"])
def test_int_division_floors(sign: str, device: Device) -> None:
    assert_matches(
        SIGNS[sign](tensor(SMALL_INTS, device), tensor(DIVISORS, device)),
        SIGNS[sign](SMALL_INTS, DIVISORS),
    )
    assert_matches(SIGNS[sign](tensor(SMALL_INTS, device), -4), SIGNS[sign](SMALL_INTS, -4))
    assert_matches(SIGNS[sign](-13, tensor(DIVISORS, device)), SIGNS[sign](-13, DIVISORS))


@given(lhs=st.integers(-128, 127), rhs=st.integers(-128, 127).filter(lambda n: n not in (0, -1)))
def test_int_division_is_right_up_to_the_limits_of_the_dtype(
    lhs: int, rhs: int, device: Device
) -> None:
    x, y = Tensor([lhs], device, dtype=int8), Tensor([rhs], device, dtype=int8)
    assert ((x // y).tolist(), (x % y).tolist()) == ([lhs // rhs], [lhs % rhs])


def test_unsigned_division(device: Device) -> None:
    x = Tensor([250, 7], device, dtype=uint8)
    assert ((x // 100).tolist(), (x % 100).tolist()) == ([2, 0], [50, 7])


@pytest.mark.parametrize("sign", [*ARITHMETIC, *BITS])
def test_int_operators(sign: str, device: Device) -> None:
    x = tensor(SMALL_INTS, device)
    assert_matches(SIGNS[sign](x, tensor(DIVISORS, device)), SIGNS[sign](SMALL_INTS, DIVISORS))
    assert_matches(SIGNS[sign](x, 5), SIGNS[sign](SMALL_INTS, 5))
    assert_matches(SIGNS[sign](5, x), SIGNS[sign](5, SMALL_INTS))


@pytest.mark.parametrize("sign", ["<<", ">>"])
def test_shifts(sign: str, device: Device) -> None:
    values, counts = np.array([1, 5, -8], np.int32), np.array([0, 2, 1], np.int32)
    assert_matches(
        SIGNS[sign](tensor(values, device), tensor(counts, device)), SIGNS[sign](values, counts)
    )
    assert_matches(SIGNS[sign](tensor(values, device), 2), SIGNS[sign](values, 2))
    assert_matches(SIGNS[sign](64, tensor(counts, device)), SIGNS[sign](64, counts))


@pytest.mark.parametrize("sign", BITS)
def test_logic_of_bools(sign: str, device: Device) -> None:
    lhs, rhs = np.array([True, True, False, False]), np.array([True, False, True, False])
    x = tensor(lhs, device)
    assert_matches(SIGNS[sign](x, tensor(rhs, device)), SIGNS[sign](lhs, rhs))
    assert_matches(SIGNS[sign](x, True), SIGNS[sign](lhs, True))
    assert_matches(SIGNS[sign](False, x), SIGNS[sign](False, lhs))


def test_signs_and_inverses(device: Device) -> None:
    x, n = tensor([-1.5, 2.0], device), tensor(SMALL_INTS, device)
    assert_matches(-x, [1.5, -2.0])
    assert_matches(abs(x), [1.5, 2.0])
    assert (+x).tolist() == [-1.5, 2.0]
    assert_matches(-n, -SMALL_INTS)
    assert_matches(~n, ~SMALL_INTS)
    assert_matches(~tensor([True, False], device), [False, True])


def test_powers(device: Device) -> None:
    values = np.array([0.5, 2.0, 3.0])
    x = tensor(values, device)
    assert_matches(x**2, values**2)
    assert_matches(x**-1, values**-1)
    assert_matches(x**0.5, values**0.5)
    assert_matches(2.0**x, 2.0**values)
    assert_matches(x**x, values**values)
    assert_matches(tensor(SMALL_INTS, device) ** 3, SMALL_INTS**3)
    assert_matches(tensor([2, 3], device) ** tensor([3, 0], device), [8, 1])


def test_a_negative_power_of_ints_is_refused(device: Device) -> None:
    with pytest.raises(KindError, match=r"takes powers of 0 and more; got -1: call `\.float\(\)`"):
        _ = tensor([2], device) ** -1


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 2)),
        ((2, 0), (0, 3)),
    ],
)
def test_matrix_products_are_numpys(
    lhs: tuple[int, ...], rhs: tuple[int, ...], device: Device
) -> None:
    numbers = np.random.default_rng(0)
    a, b = numbers.normal(size=lhs), numbers.normal(size=rhs)
    assert_matches(tensor(a, device) @ tensor(b, device), a @ b)
    assert_matches(tensor(a, device).matmul(tensor(b, device)), a @ b)


def test_matrix_products_of_ints(device: Device) -> None:
    assert_matches(
        tensor(SMALL_INTS, device) @ tensor(SMALL_INTS.T.copy(), device), SMALL_INTS @ SMALL_INTS.T
    )


def test_matrix_products_that_do_not_fit_are_refused(device: Device) -> None:
    with pytest.raises(ShapeError, match="got 3 and 2"):
        _ = Tensor.ones((2, 3), device) @ Tensor.ones((2, 3), device)
    with pytest.raises(ShapeError, match="at least one dimension"):
        _ = Tensor.ones((), device) @ Tensor.ones((2, 3), device)


def test_shapes_that_do_not_broadcast_are_named(device: Device) -> None:
    with pytest.raises(ShapeError, match=r"`float_add`: shapes \[2\] and \[3\]"):
        _ = Tensor.ones((2,), device) + Tensor.ones((3,), device)


def test_two_backends_do_not_meet(flex: Device) -> None:
    with pytest.raises(BackendMismatchError, match=r"(?s)flex.*ndarray"):
        _ = Tensor([1.0], flex) + Tensor([1.0], Device.ndarray())


# ---- dtypes and kinds ------------------------------------------------------------------------


def test_a_scalar_adopts_the_dtype_of_the_tensor(device: Device) -> None:
    assert (Tensor([1.0], device, dtype=float16) * 2.5).dtype == float16
    assert (2 - Tensor([1.0], device, dtype=float16)).dtype == float16
    assert (Tensor([1], device, dtype=uint8) + 1).dtype == uint8
    assert (Tensor([1.0], device) + np.float64(1.0)).dtype == float32


@pytest.mark.parametrize("sign", ["+", "/", "**", "//"])
def test_an_int_and_a_float_tensor_are_refused(sign: str, device: Device) -> None:
    x, n = Tensor([1.0], device), Tensor([1], device)
    for lhs, rhs in ((x, n), (n, x)):
        with pytest.raises(KindError, match=r"call `\.float\(\)` on the int tensor"):
            SIGNS[sign](lhs, rhs)


@pytest.mark.parametrize("sign", ["+", "*", "%", "//"])
def test_a_float_beside_an_int_tensor_is_refused(sign: str, device: Device) -> None:
    n = Tensor([1], device)
    for lhs, rhs in ((n, 1.5), (1.5, n)):
        with pytest.raises(KindError, match=r"got 1.5: call `\.float\(\)` first"):
            SIGNS[sign](lhs, rhs)


def test_true_division_of_ints_names_both_remedies(device: Device) -> None:
    n = Tensor([1], device)
    for quotient in (lambda: n / n, lambda: n / 2, lambda: 2 / n):
        with pytest.raises(KindError, match=r"`//` divides ints, and `\.float\(\)`"):
            quotient()


def test_an_int_that_the_dtype_cannot_hold_is_refused(device: Device) -> None:
    x = Tensor([1], device, dtype=uint8)
    with pytest.raises(DTypeError, match=r"`\+`: 256 is out of the range of uint8"):
        _ = x + 256
    with pytest.raises(DTypeError, match=r"`\*`: -1 is out of the range of uint8"):
        _ = x * -1
    with pytest.raises(DTypeError, match="an int of many digits is out of the range of float32"):
        _ = Tensor([1.0], device) + 10**400


def test_arithmetic_of_bools_is_refused(device: Device) -> None:
    mask = Tensor([True], device)
    for wrong in (lambda: mask + mask, lambda: mask * 2, lambda: -mask, lambda: mask // mask):
        with pytest.raises(KindError, match="takes float and int tensors"):
            wrong()


def test_logic_with_a_number_is_refused(device: Device) -> None:
    with pytest.raises(KindError, match="a bool tensor goes with True and False; got 2"):
        _ = Tensor([True], device) & 2


def test_logic_of_floats_is_refused(device: Device) -> None:
    with pytest.raises(KindError, match="`&` takes int and bool tensors"):
        _ = Tensor([1.0], device) & Tensor([1.0], device)


@pytest.mark.parametrize("sign", ["+", "@", "-", "**", "//", "/"])
def test_strangers_are_a_type_error(sign: str, device: Device) -> None:
    for stranger in (1j, None, object()):
        with pytest.raises(TypeError, match="unsupported operand"):
            SIGNS[sign](Tensor([1.0], device), stranger)
        with pytest.raises(TypeError, match="unsupported operand"):
            SIGNS[sign](stranger, Tensor([1.0], device))


def test_a_numpy_array_is_refused_on_either_side(device: Device) -> None:
    x, array = Tensor([1.0], device), np.ones(1, np.float32)
    for wrong in (lambda: x + array, lambda: array + x, lambda: array - x, lambda: x // array):
        with pytest.raises(KindError, match=r"got a NumPy array: `Tensor\.from_numpy"):
            wrong()


def test_a_tensor_learns_operators_from_another_class(device: Device) -> None:
    class Meter:
        def __radd__(self, other: object) -> str:
            return "meters"

    assert Tensor([1.0], device) + Meter() == "meters"


def test_an_int_divided_by_zero_gives_zero(device: Device) -> None:
    x, zeros = Tensor([1, 0, -3], device), Tensor([0, 0, 0], device)
    assert (x // 0).tolist() == (x // zeros).tolist() == [0, 0, 0]
