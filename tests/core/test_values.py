"""Dtypes, specs, distributions and dispatched tensors as values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import floats

from firebrick import Device, bfloat16, bool_, float32, int32, int64, uint8
from firebrick.core import (
    Distribution,
    DType,
    Shape,
    TensorSpec,
    dtype,
    from_numpy_dtype,
    to_numpy_dtype,
)
from firebrick.errors import DTypeError

# ---- dtypes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", DType.by_name.values(), ids=str)
def test_a_dtype_is_one_object(known: DType) -> None:
    assert dtype(known.name) is known
    assert pickle.loads(pickle.dumps(known)) is known
    assert copy.deepcopy(known) is known
    assert str(known) == known.name


def test_dtypes_know_kind_and_size() -> None:
    assert [(d.kind, d.itemsize) for d in (float32, uint8, int64, bool_, bfloat16)] == [
        ("float", 4), ("int", 1), ("int", 8), ("bool", 1), ("float", 2),
    ]  # fmt: skip


def test_an_unknown_dtype_is_refused_with_all_names() -> None:
    with pytest.raises(DTypeError, match="there is no dtype 'float31'; known are float64, float32"):
        dtype("float31")


@pytest.mark.parametrize("known", [d for d in DType.by_name.values() if d is not bfloat16], ids=str)
def test_numpy_dtypes_are_translated_both_ways(known: DType) -> None:
    assert from_numpy_dtype(to_numpy_dtype(known)) is known
    assert to_numpy_dtype(known) == np.dtype(known.name)


def test_byte_order_does_not_matter() -> None:
    assert from_numpy_dtype(np.dtype(">i4")) is int32


def test_what_numpy_or_we_lack_is_refused() -> None:
    with pytest.raises(DTypeError, match="NumPy's dtype 'complex64' has no counterpart; convert t"):
        from_numpy_dtype(np.dtype(np.complex64))
    with pytest.raises(DTypeError, match="NumPy has no bfloat16; cast to float32 before reading"):
        to_numpy_dtype(bfloat16)


# ---- specs -------------------------------------------------------------------------------------


def test_specs_are_equal_by_value() -> None:
    spec = TensorSpec([2, 3], float32)
    assert spec == TensorSpec((2, 3), float32)
    assert len({spec, TensorSpec((2, 3), float32), TensorSpec((2,), float32)}) == 2
    assert (spec == ((2, 3), float32)) is False
    assert isinstance(spec.shape, Shape)


def test_a_spec_cannot_be_changed() -> None:
    spec: Any = TensorSpec((2,), float32)
    with pytest.raises(AttributeError, match="a TensorSpec is immutable; `shape` cannot be set"):
        spec.shape = (3,)
    with pytest.raises(AttributeError, match="a TensorSpec is immutable; `dtype` cannot be delete"):
        del spec.dtype


def test_a_spec_is_taken_apart_and_copied() -> None:
    spec = TensorSpec((2,), float32)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert repr(spec) == "TensorSpec([2], float32)"
    match spec:
        case TensorSpec(shape, kind):
            assert (shape, kind) == ((2,), float32)


# ---- distributions -----------------------------------------------------------------------------


def test_distributions_are_values() -> None:
    assert Distribution.uniform(0.0, 1.0) == Distribution("uniform", 0.0, 1.0)
    assert Distribution.normal() == Distribution("normal", 0.0, 1.0)
    assert Distribution.bernoulli(0.5) == Distribution("bernoulli", 0.5)
    assert Distribution.default() == Distribution("default")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Distribution.uniform(1.0, 1.0), r"needs low < high; got 1\.0 and 1\.0\."),
        (lambda: Distribution.uniform(float("nan"), 1.0), "needs low < high; got nan"),
        (lambda: Distribution.normal(0.0, -1.0), r"a standard deviation is not negative; got -1\."),
        (lambda: Distribution.normal(0.0, float("nan")), "is not negative; got nan"),
        (lambda: Distribution.bernoulli(1.5), r"a probability lies in \[0, 1\]; got 1\.5\."),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# ---- dispatched tensors ------------------------------------------------------------------------


def test_a_dispatched_tensor_shows_what_its_backend_knows() -> None:
    tensor = floats([[1.0, 2.0]], Device.flex().autodiff()).into_dispatch()
    assert (tensor.shape, tensor.dtype, tensor.kind) == ((1, 2), float32, "float")
    assert (tensor.device, tensor.is_autodiff) == (Device.flex(), True)
    assert repr(tensor) == "DispatchTensor(float, [1, 2], float32, flex+autodiff)"
