"""What dtypes become together, against the tables of the array API standard."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from firebrick import Device, DType, Tensor, bfloat16, float16, float32, float64, int64, uint64
from firebrick.core import dtype as named
from firebrick.errors import DTypeError, KindError
from firebrick.tensor.promotion import accumulator, promote

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize(("lhs", "rhs"), list(itertools.product(INTS, INTS)))
def test_ints_promote_as_in_numpy_except_into_floats(lhs: str, rhs: str) -> None:
    expected = np.promote_types(lhs, rhs).name
    if expected == "float64":
        with pytest.raises(DTypeError, match=f"no int dtype holds all values of {lhs} and {rhs}"):
            promote(named(lhs), named(rhs))
    else:
        assert promote(named(lhs), named(rhs)) is named(expected)


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        (float16, float32, float32),
        (float64, float32, float64),
        (bfloat16, float16, float32),
        (bfloat16, float32, float32),
        (bfloat16, bfloat16, bfloat16),
        (float16, float64, float64),
    ],
)
def test_floats_promote_to_what_holds_both(lhs: DType, rhs: DType, expected: DType) -> None:
    assert promote(lhs, rhs) is expected
    assert promote(rhs, lhs) is expected


def test_kinds_do_not_promote() -> None:
    with pytest.raises(DTypeError, match="float32 and int64 are of different kinds"):
        promote(float32, int64)


@pytest.mark.parametrize(
    ("of", "default", "expected"),
    [
        ("int8", "int32", "int32"),
        ("int64", "int32", "int64"),
        ("uint8", "int32", "uint32"),
        ("uint8", "int64", "uint64"),
        ("uint64", "int32", "uint64"),
        ("float16", "int32", "float16"),
    ],
)
def test_sums_have_room_and_keep_their_sign(of: str, default: str, expected: str) -> None:
    assert accumulator(named(of), named(default)) is named(expected)


def test_tensors_of_two_dtypes_give_the_promoted_one(device: Device) -> None:
    half, double = Tensor([0.5], device, dtype=float16), Tensor([1.0], device, dtype=float64)
    assert ((half + double).dtype, (half + double).tolist()) == (float64, [1.5])
    assert (half < double).tolist() == [True]
    assert Tensor.cat([half, double]).dtype == float64
    assert Tensor.stack([half, double]).dtype == float64
    assert half.mask_where(Tensor([True], device), double).dtype == float64
    assert (half.reshape(1, 1) @ double.reshape(1, 1)).dtype == float64


def test_unsigned_64_bits_and_signed_ints_are_refused(flex: Device) -> None:
    with pytest.raises(DTypeError, match="no int dtype holds all values of uint64 and int64"):
        _ = Tensor([1], flex, dtype=uint64) + Tensor([1], flex, dtype=int64)


def test_a_bool_and_a_number_tensor_are_refused_with_the_call_to_make(device: Device) -> None:
    mask = Tensor([True], device)
    with pytest.raises(KindError, match=r"call `\.float\(\)` on the bool tensor"):
        _ = mask + Tensor([1.0], device)
    with pytest.raises(KindError, match=r"call `\.int\(\)` on the bool tensor"):
        _ = mask == Tensor([1], device)
