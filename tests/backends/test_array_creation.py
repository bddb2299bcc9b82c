"""Making, reading and converting arrays, random ones included; what the backends say of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.backends.array_backends import (
    BACKENDS,
    FLOATS,
    HERE,
    INF,
    INTS,
    NAN,
    Array,
    assert_values,
)

from firebrick.backends.flex import Flex
from firebrick.backends.ndarray import NdArray
from firebrick.core import (
    Device,
    Distribution,
    DType,
    bfloat16,
    bool_,
    dtype,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
    uint64,
)
from firebrick.errors import DTypeError, KindError


@pytest.fixture(params=BACKENDS, ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_data_that_can_be_written_is_copied(backend: Any) -> None:
    data = np.ones(3, "float32")
    tensor = backend.float_from_data(data, HERE)
    data[0] = 5
    assert_values(tensor, [1, 1, 1], "float32")


def test_data_that_cannot_be_written_is_shared(backend: Any) -> None:
    data = np.ones(3)
    data.flags.writeable = False
    assert np.shares_memory(backend.float_from_data(data, HERE), data)


def test_values_on_the_host_cannot_be_written(backend: Any) -> None:
    tensor = np.ones(3)
    values = backend.float_into_data(tensor)
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 2
    assert tensor.flags.writeable


def test_data_of_another_byte_order_is_converted(backend: Any) -> None:
    data = np.arange(3, dtype=">i4")
    assert_values(backend.int_from_data(data, HERE), [0, 1, 2], "int32")
    assert backend.int_from_data(data, HERE).dtype.isnative


def test_data_of_another_kind_is_refused(backend: Any) -> None:
    with pytest.raises(KindError, match="the data is of kind float; got an array of int64"):
        backend.float_from_data(np.arange(3), HERE)
    with pytest.raises(DTypeError, match="'complex128' has no counterpart"):
        backend.float_from_data(np.zeros(1, complex), HERE)


@pytest.mark.parametrize("value", [INF, -INF, NAN, 1e300])
def test_a_constant_may_be_anything_but_finite(backend: Any, value: float) -> None:
    with np.errstate(over="ignore"):
        expected = np.full((2,), value, "float32")
    assert_values(backend.float_full((2,), value, HERE, float32), expected, "float32")


def test_a_constant_that_the_dtype_does_not_hold_is_refused(backend: Any) -> None:
    with pytest.raises(DTypeError, match="uint8, which holds whole numbers from 0 to 255; got 256"):
        backend.int_full((2,), 256, HERE, uint8)
    with pytest.raises(DTypeError, match=r"got 0\.5"):
        backend.int_full((2,), 0.5, HERE, int32)


def test_a_dtype_of_another_kind_is_refused(backend: Any) -> None:
    with pytest.raises(KindError, match="the requested dtype is of kind float; got int32"):
        backend.float_zeros((2,), HERE, int32)
    with pytest.raises(KindError, match="of kind int; got float32"):
        backend.int_cast(np.arange(2), float32)


def test_bfloat16_is_not_supported(backend: Any) -> None:
    assert not backend.supports_dtype(HERE, bfloat16)
    assert all(backend.supports_dtype(HERE, dtype(name)) for name in [*FLOATS, *INTS, "bool"])
    with pytest.raises(DTypeError, match="NumPy has no bfloat16"):
        backend.float_zeros((2,), HERE, bfloat16)
    with pytest.raises(DTypeError, match="NumPy has no bfloat16"):
        backend.float_cast(np.zeros(2, "float32"), bfloat16)


def test_floats_become_integers_towards_zero(backend: Any) -> None:
    x = np.array([-1.9, -0.5, 0.5, 1.9])
    assert_values(backend.float_into_int(x, int32), [-1, 0, 0, 1], "int32")


def test_integers_wrap_in_a_narrower_dtype(backend: Any) -> None:
    assert_values(backend.int_cast(np.array([300, -1]), uint8), [44, 255], "uint8")


def test_a_cast_to_the_same_dtype_is_the_tensor(backend: Any) -> None:
    x = np.zeros(2)
    assert backend.float_cast(x, float64) is x


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        (range(5), int32),
        (range(7, -3, -2), int8),
        (range(0), int64),
        (range(2**64 - 2, 2**64), uint64),
        (range(-(2**63), 2**63, 2**62), int64),
    ],
)
def test_a_range_is_exact(backend: Any, numbers: range, wanted: DType) -> None:
    assert_values(backend.int_arange(numbers, HERE, wanted), list(numbers), wanted.name)
    assert_values(backend.int_arange_step(numbers, 2, HERE, wanted), list(numbers[::2]))


def test_a_range_that_the_dtype_does_not_hold_is_refused(backend: Any) -> None:
    with pytest.raises(DTypeError, match="int8, which holds whole numbers from -128 to 127"):
        backend.int_arange(range(200), HERE, int8)


@pytest.mark.parametrize("wanted", [dtype(name) for name in FLOATS], ids=str)
def test_uniform_floats_stay_below_the_end(backend: Any, wanted: DType) -> None:
    backend.seed(HERE, 1)
    for distribution, low, high in (
        (Distribution.default(), 0.0, 1.0),
        (Distribution.uniform(-1.0, 2.0), -1.0, 2.0),
        (Distribution.uniform(1.0, 1.001), 1.0, 1.001),
    ):
        x = backend.float_random((50_000,), distribution, HERE, wanted)
        assert x.dtype == np.dtype(wanted.name)
        assert np.asarray(low, x.dtype) <= x.min()
        assert x.max() < max(np.asarray(high, x.dtype), np.nextafter(x.min(), x.dtype.type(9)))


def test_random_floats_have_the_moments_of_their_distribution(backend: Any) -> None:
    backend.seed(HERE, 2)
    count = 200_000
    normal = backend.float_random((count,), Distribution.normal(3.0, 2.0), HERE, float64)
    assert abs(normal.mean() - 3.0) < 5 * 2.0 / np.sqrt(count)
    assert abs(normal.std() - 2.0) < 0.05
    coins = backend.float_random((count,), Distribution.bernoulli(0.25), HERE, float32)
    assert_values(np.unique(coins), [0.0, 1.0])
    assert abs(coins.mean(dtype=np.float64) - 0.25) < 0.01


def test_random_integers_reach_both_ends(backend: Any) -> None:
    backend.seed(HERE, 3)
    x = backend.int_random((20_000,), Distribution.default(), HERE, int32)
    assert (x.min(), x.max(), x.dtype) == (0, 255, np.dtype("int32"))
    narrow = backend.int_random((20_000,), Distribution.default(), HERE, int8)
    assert (narrow.min(), narrow.max()) == (0, 127)
    dice = backend.int_random((1000,), Distribution.uniform(1, 7), HERE, uint8)
    assert set(dice) == {1, 2, 3, 4, 5, 6}
    with pytest.raises(DTypeError, match=r"no whole number to draw of dtype int32 from 0\.2 up"):
        backend.int_random((2,), Distribution.uniform(0.2, 0.8), HERE, int32)


def test_normal_integers_stay_in_the_dtype(backend: Any) -> None:
    for wanted in (int8, int64, uint64):
        x = backend.int_random((100,), Distribution.normal(0.0, 1e30), HERE, wanted)
        assert x.dtype == np.dtype(wanted.name)
        assert np.unique(np.sign(x.astype(float))).size == 2


@pytest.mark.parametrize("seed", [0, 7, -1, 2**70])
def test_one_seed_gives_the_same_numbers_on_both_backends(seed: int) -> None:
    drawn: list[Array] = []
    for backend in (NdArray(), Flex(), NdArray()):
        backend.seed(HERE, seed)
        drawn.append(backend.float_random((4,), Distribution.default(), HERE, float32))
    assert_values(drawn[1], drawn[0])
    assert_values(drawn[2], drawn[0])


def test_without_a_seed_numbers_differ() -> None:
    one, other = (
        NdArray().float_random((4,), Distribution.default(), HERE, float64) for _ in range(2)
    )
    assert not np.array_equal(one, other)


def test_a_backend_knows_its_tensors(backend: Any) -> None:
    x = np.zeros((2, 3), "uint8")
    assert backend.kind_of(x) == "int"
    assert backend.dtype_of(x) is uint8
    assert backend.device_of(x) == Device.of(backend.name)
    assert backend.devices() == [Device.of(backend.name)]
    with pytest.raises(KindError, match="of kinds float, int and bool; got ndarray of dtype >f4"):
        backend.kind_of(x.astype(">f4"))


def test_scalars_of_numpy_are_adopted(backend: Any) -> None:
    assert_values(backend.adopt(np.float32(2.5)), np.array(2.5), "float32")
    assert backend.adopt("text") == "text"


def test_default_dtypes_differ_in_their_integers() -> None:
    assert NdArray().default_dtypes(HERE) == {"float": float32, "int": int64, "bool": bool_}
    assert Flex().default_dtypes(HERE) == {"float": float32, "int": int32, "bool": bool_}


def test_shared_memory_is_found(backend: Any) -> None:
    x = np.zeros((4, 4))
    assert backend.shares_memory(x, x.T)
    assert not backend.shares_memory(x[::2], x[1::2])


def test_a_subclass_of_a_backend_has_a_device_of_its_own() -> None:
    class Mine(Flex):
        name = "mine"

    assert Mine().device_of(np.zeros(1)) == Device.of("mine")
    assert str(Mine()) == "mine"


def test_dtypes_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(float32)) is float32
