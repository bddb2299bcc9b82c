"""Making tensors from host values and from rules: dtypes, copies, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firebrick import (
    Device,
    Distribution,
    Tensor,
    bfloat16,
    bool_,
    float16,
    float64,
    int8,
    int64,
    uint8,
)
from firebrick.errors import DTypeError, KindError, ShapeError


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (1.5, "float"),
        (3, "int"),
        (True, "bool"),
        ([], "float"),
        ([[1, 2], [3, 4]], "int"),
        ([1, 2.5], "float"),
        ([True, False], "bool"),
        ((1, [2][0]), "int"),
    ],
)
def test_python_numbers_take_the_default_dtype_of_their_kind(
    data: Any, kind: str, device: Device
) -> None:
    x = Tensor(data, device)
    defaults = {"float": device.float_dtype, "int": device.int_dtype, "bool": bool_}
    assert (x.kind, x.dtype) == (kind, defaults[kind])
    assert x.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize("name", ["float64", "float16", "int64", "int8", "uint8", "bool"])
def test_an_array_keeps_its_dtype(name: str, device: Device) -> None:
    array = np.array([0, 1, 1]).astype(name)
    assert Tensor(array, device).dtype.name == name
    assert Tensor.from_numpy(array, device).dtype.name == name


def test_a_numpy_scalar_keeps_its_dtype(device: Device) -> None:
    x = Tensor(np.float64(2.5), device)
    assert (x.dtype, x.shape, x.item()) == (float64, (), 2.5)


def test_an_explicit_dtype_is_used(device: Device) -> None:
    assert Tensor([1.7, -1.7], device, dtype=int64).tolist() == [1, -1]
    assert Tensor([1, 0], device, dtype=bool_).tolist() == [True, False]
    assert Tensor([1.0], device, dtype=float16).dtype == float16


def test_a_tensor_can_be_made_of_a_tensor(device: Device) -> None:
    x = Tensor([[1.0, 2.0]], device)
    y = Tensor(x, device)
    assert (y.dtype, y.tolist()) == (x.dtype, [[1.0, 2.0]])


def test_the_named_constructors_use_the_default_dtype_whatever_comes(device: Device) -> None:
    assert Tensor.from_floats(np.arange(3), device).dtype == device.float_dtype
    assert Tensor.from_floats(np.zeros(2, np.float64), device).dtype == device.float_dtype
    assert Tensor.from_ints(np.zeros(2, np.int8), device).dtype == device.int_dtype
    assert Tensor.from_bools([0, 2, -1], device).tolist() == [False, True, True]


def test_the_device_is_the_default_one_unless_given() -> None:
    assert Tensor([1.0]).device == Device.default()
    assert Tensor.zeros((2,)).device == Device.default()


def test_ragged_sequences_are_refused(device: Device) -> None:
    with pytest.raises(ShapeError, match="nested sequences have equal lengths"):
        Tensor([[1.0], [2.0, 3.0]], device)


@pytest.mark.parametrize("data", [["a"], [None], [1j], [2**70]])
def test_values_without_a_dtype_are_refused(data: Any, device: Device) -> None:
    with pytest.raises(DTypeError, match="has no counterpart"):
        Tensor(data, device)
    for make in (Tensor.from_floats, Tensor.from_ints):
        with pytest.raises(DTypeError, match="has no counterpart"):
            make(data, device)


def test_ints_that_the_dtype_cannot_hold_are_refused(device: Device) -> None:
    with pytest.raises(DTypeError, match=r"300 is out of the range of uint8, which is 0 to 255"):
        Tensor([1, 300], device, dtype=uint8)
    with pytest.raises(DTypeError, match=r"-129.* is out of the range of int8"):
        Tensor([-129.0], device, dtype=int8)
    with pytest.raises(DTypeError, match="nan is out of the range"):
        Tensor.from_ints([float("nan")], device)


def test_a_dtype_that_the_device_lacks_is_refused_naming_both(flex: Device) -> None:
    with pytest.raises(DTypeError, match="flex has no bfloat16"):
        Tensor([1.0], flex, dtype=bfloat16)
    with pytest.raises(DTypeError, match="flex has no bfloat16"):
        Tensor.zeros((2,), flex, dtype=bfloat16)


@pytest.mark.parametrize("wrong", ["float32", np.float32, float])
def test_a_dtype_of_another_library_is_refused(wrong: Any, flex: Device) -> None:
    with pytest.raises(DTypeError, match=r"one of firebrick's, such as `firebrick\.float32`"):
        Tensor([1.0], flex, dtype=wrong)
    with pytest.raises(DTypeError, match="one of firebrick's"):
        Tensor([1.0], flex).cast(wrong)


def test_from_numpy_takes_what_numpy_takes(flex: Device) -> None:
    values: Any = [1.0, 2.0]
    assert Tensor.from_numpy(values, flex).dtype == float64


def test_bfloat16_values_are_rounded_where_the_device_has_them() -> None:
    pytest.importorskip("torch")
    x = Tensor([1.0, 1.0 + 2.0**-9], Device.libtorch(), dtype=bfloat16)
    assert (x.dtype, x.tolist()) == (bfloat16, [1.0, 1.0])


@pytest.mark.parametrize("make", [Tensor, Tensor.from_numpy, Tensor.from_floats])
def test_later_writes_to_the_source_do_not_show(
    make: Callable[[Any, Device], Tensor], device: Device
) -> None:
    source = np.array([1.0, 2.0], np.float32)
    x = make(source, device)
    source[0] = 9.0
    assert x.tolist() == [1.0, 2.0]


def test_a_read_only_array_is_shared(flex: Device) -> None:
    source = np.arange(3.0)
    source.flags.writeable = False
    assert np.shares_memory(Tensor.from_numpy(source, flex).numpy(), source)


VIEWS: list[Callable[[Any], Any]] = [lambda a: a[::-1], lambda a: a.T, lambda a: a[:, ::2]]


@pytest.mark.parametrize("change", VIEWS)
def test_arrays_of_any_strides_are_read(change: Callable[[Any], Any], device: Device) -> None:
    array = change(np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(Tensor.from_numpy(array, device).numpy(), array)


def test_arrays_of_the_other_byte_order_are_read(device: Device) -> None:
    array = np.array([1.0, 2.5]).astype(">f8")
    x = Tensor.from_numpy(array, device)
    assert (x.dtype, x.tolist()) == (float64, [1.0, 2.5])


def test_constants(device: Device) -> None:
    assert Tensor.zeros((2, 0), device).shape == (2, 0)
    assert Tensor.zeros((2,), device).dtype == device.float_dtype
    assert Tensor.ones((2,), device, dtype=int64).tolist() == [1, 1]
    assert Tensor.ones((2,), device, dtype=bool_).tolist() == [True, True]
    assert Tensor.zeros((1,), device, dtype=bool_).tolist() == [False]


@pytest.mark.parametrize(("value", "kind"), [(2.0, "float"), (2, "int"), (True, "bool")])
def test_full_has_the_kind_of_its_value(value: Any, kind: str, device: Device) -> None:
    x = Tensor.full((2, 1), value, device)
    assert (x.kind, x.tolist()) == (kind, [[value], [value]])


def test_full_takes_another_dtype(device: Device) -> None:
    assert Tensor.full((1,), 2, device, dtype=float64).tolist() == [2.0]
    assert Tensor.full((1,), np.float64(0.5), device).tolist() == [0.5]
    with pytest.raises(KindError, match=r"`full`: an int tensor goes with ints; got 0.5"):
        Tensor.full((1,), 0.5, device, dtype=int64)
    with pytest.raises(DTypeError, match="`full`: 256 is out of the range of uint8"):
        Tensor.full((1,), 256, device, dtype=uint8)


def test_negative_sizes_are_refused(device: Device) -> None:
    with pytest.raises(ShapeError, match=r"`zeros` takes sizes of 0 and more; got \[2, -1\]"):
        Tensor.zeros((2, -1), device)


@pytest.mark.parametrize("numbers", [(0, 5), (2, 9, 3), (5, 0, -2), (3, 3), (0, -3)])
def test_arange_is_pythons_range(numbers: tuple[int, ...], device: Device) -> None:
    x = Tensor.arange(*numbers, device=device)
    assert (x.dtype, x.tolist()) == (device.int_dtype, list(range(*numbers)))


def test_arange_refuses_a_step_of_zero(device: Device) -> None:
    with pytest.raises(ShapeError, match="a step that is not 0"):
        Tensor.arange(0, 3, 0, device)


def test_eye_is_the_identity(device: Device) -> None:
    x = Tensor.eye(3, device)
    assert (x.dtype, x.tolist()) == (device.float_dtype, np.eye(3).tolist())


def test_random_numbers_of_every_kind(device: Device) -> None:
    device.seed(1)
    ints = Tensor.random((100,), Distribution.default(), device, dtype=int64)
    coins = Tensor.random((100,), Distribution.bernoulli(0.5), device, dtype=bool_)
    normal = Tensor.random((100, 2), Distribution.normal(5.0, 0.1), device, dtype=float64)
    assert (ints.dtype, coins.kind, normal.dtype) == (int64, "bool", float64)
    assert int(ints.min()) >= 0
    assert int(ints.max()) <= 255
    assert coins.any()
    assert not coins.all()
    assert 4.9 < float(normal.mean()) < 5.1


def test_tensors_made_on_an_autodiff_device_live_there(tracked: Device) -> None:
    made = [
        Tensor([1.0], tracked),
        Tensor.ones((2,), tracked, dtype=int64),
        Tensor.arange(0, 3, device=tracked),
        Tensor.eye(2, tracked),
        Tensor.random((2,), Distribution.default(), tracked),
    ]
    assert [x.device.is_autodiff for x in made] == [True] * 5
