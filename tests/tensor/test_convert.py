"""Changing dtype and kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from firebrick import Device, Tensor, bfloat16, bool_, float32, float64, int8, int32, int64
from firebrick.core import DType
from firebrick.errors import DTypeError

DTYPES = [float32, float64, int8, int64, bool_]


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
def test_every_dtype_becomes_every_other(source: DType, target: DType, device: Device) -> None:
    values = np.array([-1.75, 0.0, 1.5]).astype(str(source))
    x = Tensor.from_numpy(values, device).cast(target)
    assert (x.dtype, x.tolist()) == (target, values.astype(str(target)).tolist())


def test_a_cast_to_the_same_dtype_is_the_tensor_itself(device: Device) -> None:
    x = Tensor([1.0], device)
    assert x.cast(float32) is x
    assert x.float() is x


def test_the_named_casts_go_to_the_default_dtypes(device: Device) -> None:
    x = Tensor([1.9, -1.9, 0.0], device, dtype=float64)
    assert (x.int().dtype, x.int().tolist()) == (device.int_dtype, [1, -1, 0])
    assert (x.float().dtype, x.bool().tolist()) == (device.float_dtype, [True, True, False])
    assert Tensor([3], device, dtype=int8).int().dtype == device.int_dtype


def test_a_dtype_that_the_device_lacks_is_refused(flex: Device) -> None:
    with pytest.raises(DTypeError, match="flex has no bfloat16 tensors"):
        Tensor([1.0], flex).cast(bfloat16)


def test_casts_on_an_autodiff_device_stay_there(tracked: Device) -> None:
    x = Tensor([1], tracked, dtype=int32)
    for y in (x.float(), x.bool(), x.float().int(), x.bool().float()):
        assert y.device.is_autodiff
        assert not y.is_tracked
