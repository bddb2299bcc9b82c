"""The array API namespace: creation, dtypes, what it says of itself, and what it refuses.

Its functions are compared with NumPy in `test_array_functions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.tensor.oracle import assert_matches, tensor

from firebrick import (
    Device,
    Tensor,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
    uint64,
)
from firebrick.errors import DeviceError, DTypeError, KindError, ShapeError
from firebrick.tensor import array_namespace as xp

Call = Callable[[Any], Any]

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.5]])


def test_sorting_descends(device: Device) -> None:
    x = tensor(X, device)
    assert_matches(xp.sort(x, descending=True), -np.sort(-X))
    assert_matches(xp.argsort(x, axis=0, descending=True), np.argsort(-X, axis=0))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_finds_places(side: Any, device: Device) -> None:
    ordered = np.array([-1.0, 0.25, 0.25, 0.5, 3.0])
    places = xp.searchsorted(tensor(ordered, device), tensor(X, device), side=side)
    assert_matches(places, np.searchsorted(ordered, X, side=side))
    shuffled = tensor(ordered[::-1].copy(), device)
    again = xp.searchsorted(shuffled, tensor(X, device), side=side, sorter=xp.argsort(shuffled))
    assert again.tolist() == places.tolist()
    assert xp.searchsorted(tensor(ordered[:0], device), tensor(X, device)).sum().item() == 0


def test_creation_takes_device_and_dtype(device: Device) -> None:
    assert xp.arange(3, device=device).tolist() == [0, 1, 2]
    assert xp.arange(1, 2, 0.25, device=device).tolist() == [1.0, 1.25, 1.5, 1.75]
    assert xp.arange(3, dtype=float64, device=device).dtype == float64
    assert xp.linspace(0, 1, 5, device=device).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert xp.linspace(0, 1, 2, endpoint=False, device=device).tolist() == [0.0, 0.5]
    assert xp.eye(2, 3, k=1, device=device).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.zeros(2, device=device).tolist() == [0.0, 0.0]
    assert xp.ones((1, 2), dtype=bool_, device=device).tolist() == [[True, True]]
    assert xp.full(2, 3, device=device).dtype == device.int_dtype
    assert xp.empty((2, 3), dtype=int8, device=device).shape == (2, 3)
    assert xp.empty_like(xp.ones((2,), device=device)).device == device
    assert xp.asarray([1, 2], dtype=float32, device=device).dtype == float32


def test_asarray_keeps_tensors_and_shares_on_request(flex: Device) -> None:
    x = Tensor([1.0], flex)
    assert xp.asarray(x) is x
    assert xp.asarray(x, dtype=float64).dtype == float64
    source = np.zeros(2)
    assert np.shares_memory(xp.asarray(source, device=flex, copy=False).numpy(), source)
    assert not np.shares_memory(xp.asarray(source, device=flex).numpy(), source)
    assert np.shares_memory(xp.from_dlpack(source, device=flex).numpy(), source)
    assert not np.shares_memory(xp.from_dlpack(source, device=flex, copy=True).numpy(), source)
    with pytest.raises(DeviceError, match="`asarray` cannot share the memory of list"):
        xp.asarray([1.0], copy=False)


def test_functions_are_differentiable(tracked: Device) -> None:
    x = Tensor([0.5, 2.0], tracked).require_grad()
    gradients = xp.sum(xp.maximum(x, 1.0) * xp.expm1(xp.clip(x, 0.0, 1.0))).backward()
    # below 1: exp(x); above: expm1(1)
    np.testing.assert_allclose(x.grad(gradients).numpy(), [np.exp(0.5), np.expm1(1.0)], rtol=1e-6)


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12"])
def test_every_known_version_gives_the_namespace(version: str | None, flex: Device) -> None:
    found = Tensor([1.0], flex).__array_namespace__(api_version=version)
    assert found is xp
    assert found.__array_api_version__ == "2024.12"


def test_an_unknown_version_is_refused(flex: Device) -> None:
    with pytest.raises(ValueError, match=r"knows the versions 2021\.12, .* got '1999\.01'"):
        Tensor([1.0], flex).__array_namespace__(api_version="1999.01")


def test_everything_promised_exists() -> None:
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []
    assert (xp.newaxis, xp.inf) == (None, float("inf"))
    assert abs(xp.pi - np.pi) + abs(xp.e - np.e) == 0
    assert np.isnan(xp.nan)


# ---- dtypes ----------------------------------------------------------------------------------


def test_limits_of_dtypes(flex: Device) -> None:
    for dtype in (float16, float32, float64):
        ours, numpys = xp.finfo(dtype), np.finfo(dtype.name)
        assert (ours.bits, ours.eps, ours.max, ours.smallest_normal) == (
            numpys.bits, numpys.eps, numpys.max, numpys.smallest_normal,
        )  # fmt: skip
    assert (xp.finfo(bfloat16).eps, xp.finfo(bfloat16).min) == (2.0**-7, -xp.finfo(bfloat16).max)
    assert (xp.iinfo(uint8).max, xp.iinfo(int8).min, xp.iinfo(uint64).bits) == (255, -128, 64)
    assert xp.finfo(Tensor([1.0], flex)).dtype == float32
    with pytest.raises(DTypeError, match="`finfo` takes a float dtype; got int8"):
        xp.finfo(int8)
    with pytest.raises(DTypeError, match="`iinfo` takes an int dtype; got float32"):
        xp.iinfo(float32)


def test_kinds_of_dtypes_by_name() -> None:
    assert xp.isdtype(float32, "real floating")
    assert xp.isdtype(uint8, ("bool", "unsigned integer"))
    assert xp.isdtype(int8, int8)
    assert not xp.isdtype(bool_, "numeric")
    assert not xp.isdtype(float64, "complex floating")
    with pytest.raises(DTypeError, match=r"`isdtype` knows the kinds bool, .* got 'floaty'"):
        xp.isdtype(float32, "floaty")


def test_result_types_and_casts(flex: Device) -> None:
    assert xp.result_type(float32, Tensor([1.0], flex, dtype=float64), 1) == float64
    assert xp.result_type(int8, uint8) == xp.int16
    assert xp.can_cast(int8, int32)
    assert not xp.can_cast(int32, int8)
    assert not xp.can_cast(int32, float64)
    assert not xp.can_cast(uint64, int64)
    for wrong in ((int8, float32), (int32, 1.5), (bool_, 1), (1, 2)):
        with pytest.raises(DTypeError, match=r"promote|no common dtype|at least one"):
            xp.result_type(*wrong)


def test_the_namespace_describes_itself(device: Device) -> None:
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_device() == Device.default()
    assert Device.flex() in info.devices()
    assert info.default_dtypes(device=device)["integral"] == device.int_dtype
    assert info.dtypes(device=device, kind="bool") == {"bool": bool_}
    assert set(info.dtypes(device=device, kind="signed integer")) == {
        "int8", "int16", "int32", "int64",
    }  # fmt: skip


# ---- refusals --------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Call, type[Exception], str]] = {
    "two numbers": (lambda x: xp.add(1, 2), KindError, "`add` takes at least one tensor"),
    "logic of numbers": (lambda x: xp.logical_not(x), KindError, "`logical_not` takes bool"),
    "a 0-d nonzero": (lambda x: xp.nonzero(x[0, 0]), ShapeError, "at least one dimension"),
    "take without axis": (lambda x: xp.take(x, x), ShapeError, "`take` needs an `axis`"),
    "no axis": (lambda x: xp.cumulative_sum(x), ShapeError, "`cumulative_sum` needs an `axis`"),
    "tensordot": (lambda x: xp.tensordot(x, x, axes=1), ShapeError, "dimensions of equal sizes"),
    "moveaxis": (lambda x: xp.moveaxis(x, 0, (0, 1)), ShapeError, "as many sources"),
    "roll": (lambda x: xp.roll(x, (1, 2), axis=(0,)), ShapeError, "one shift, or one for each"),
    "triangle": (lambda x: xp.tril(x[0]), ShapeError, "at least 2 dimensions"),
    "sorted": (lambda x: xp.searchsorted(x, x), ShapeError, "`searchsorted` takes a 1-D"),
    "along axis": (
        lambda x: xp.take_along_axis(x, x[0].int()),
        ShapeError,
        "as many dimensions as the tensor",
    ),
    "meshgrid": (
        lambda x: xp.meshgrid(x[0], indexing="yx"),  # pyright: ignore[reportArgumentType] # the point
        ShapeError,
        "'xy' and 'ij'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused(name: str, flex: Device) -> None:
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call(tensor(X, flex))


def test_ints_of_a_namespace_keep_their_dtype(device: Device) -> None:
    n = Tensor([1, 2], device, dtype=int64)
    assert xp.vecdot(n, n).dtype == int64
    assert xp.sum(n, dtype=int8).dtype == int8
