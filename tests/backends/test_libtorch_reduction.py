"""Reductions, running values and order on the PyTorch backend, against NumPy in float64."""

from __future__ import annotations

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
from firebrick.core import Device
from firebrick.errors import DTypeError, ShapeError

Function = Callable[..., Any]


@pytest.fixture(params=DEVICES, ids=str, scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return request.param


# ---- reductions --------------------------------------------------------------------------------


def max_abs(x: Array, **options: Any) -> Any:
    return np.max(np.abs(x), **options)


REDUCTIONS: dict[str, Function] = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "max_abs": max_abs,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_floats_reduce_as_in_numpy(device: Device, name: str, dtype: str) -> None:
    x = sample((2, 3, 4), dtype)
    wide = x.astype(np.float64)
    out = getattr(BACKEND, f"float_{name}")(put(x, device))
    assert_near(out, REDUCTIONS[name](wide), dtype, atol=9 * RTOL[dtype])
    for dim in (0, 1, -1):
        out = getattr(BACKEND, f"float_{name}_dim")(put(x, device), dim)
        expected = REDUCTIONS[name](wide, axis=dim, keepdims=True)
        assert_near(out, expected, dtype, atol=9 * RTOL[dtype])


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_ints_reduce_in_their_dtype(device: Device, name: str, dtype: str) -> None:
    x = sample((3, 4), dtype, 0, 99)
    options: dict[str, Any] = {"dtype": dtype} if name in ("sum", "prod") else {}
    expected = np.trunc(REDUCTIONS[name](x, **options)).astype(dtype)
    assert_same(getattr(BACKEND, f"int_{name}")(put(x, device)), expected, dtype)
    for dim in (0, -1):
        reduced = REDUCTIONS[name](x, axis=dim, keepdims=True, **options)
        out = getattr(BACKEND, f"int_{name}_dim")(put(x, device), dim)
        assert_same(out, np.trunc(reduced).astype(dtype), dtype)


@pytest.mark.parametrize("name", ["max", "min", "max_abs", "sum", "prod", "mean"])
def test_reductions_of_nan_are_nan(device: Device, name: str) -> None:
    x = put([[1.0, NAN, 3.0], [1.0, 2.0, 3.0]], device)
    assert_same(getattr(BACKEND, f"float_{name}")(x), NAN)
    found = values(getattr(BACKEND, f"float_{name}_dim")(x, 1))
    assert np.isnan(found).tolist() == [[True], [False]]


@pytest.mark.parametrize(("name", "neutral"), [("sum", 0), ("prod", 1)])
def test_nothing_reduces_to_the_neutral_element(device: Device, name: str, neutral: int) -> None:
    for kind in ("float", "int"):
        x = put(np.ones((0, 3), kind), device)
        assert_same(getattr(BACKEND, f"{kind}_{name}")(x), neutral)
        assert_same(getattr(BACKEND, f"{kind}_{name}_dim")(x, 0), [[neutral] * 3])
        assert tuple(getattr(BACKEND, f"{kind}_{name}_dim")(x, 1).shape) == (0, 1)


def test_the_mean_of_no_floats_is_nan(device: Device) -> None:
    assert_same(BACKEND.float_mean(put(np.ones((0, 3)), device)), NAN)
    assert_same(BACKEND.float_mean_dim(put(np.ones((0, 3)), device), 0), [[NAN] * 3])


def test_the_mean_of_no_ints_is_0(device: Device) -> None:
    none = put(np.ones((0, 3), np.int64), device)
    assert_same(BACKEND.int_mean(none), 0, "int64")
    assert_same(BACKEND.int_mean_dim(none, 0), [[0] * 3], "int64")


ALONG: dict[str, tuple[Any, ...]] = {
    **{f"float_{name}_dim": (0,) for name in REDUCTIONS},
    "float_any_dim": (0, core.bool_),
    "float_all_dim": (0, core.bool_),
    "float_cumsum": (0,),
    "float_cumprod": (-1,),
    "float_cummax": (0,),
    "float_cummin": (0,),
    "float_argmax": (0, core.int64),
    "float_argmin": (-1, core.int64),
    "float_max_dim_with_indices": (0, core.int64),
    "float_sort": (0, False),
    "float_argsort": (0, True, core.int64),
    "float_topk": (0, 1),
    "softmax": (0,),
    "softmin": (0,),
    "log_softmax": (-1,),
    "float_swap_dims": (0, 0),
    "float_flip": ((0,),),
    "float_repeat_dim": (0, 2),
    "float_unfold": (0, 1, 1),
}


@pytest.mark.parametrize("name", ALONG)
def test_a_0_d_tensor_has_no_dimension(device: Device, name: str) -> None:
    with pytest.raises(ShapeError, match="the tensor is 0-d"):
        getattr(BACKEND, name)(put(1.0, device), *ALONG[name])


def test_scalars_reduce_to_themselves(device: Device) -> None:
    for name in REDUCTIONS:
        assert_same(getattr(BACKEND, f"float_{name}")(put(3.0, device)), 3.0)


def test_means_of_narrow_dtypes_do_not_overflow(device: Device) -> None:
    assert_same(BACKEND.float_mean(put(np.full(5000, 30.0), device, "float16")), 30.0, "float16")
    assert_same(BACKEND.int_mean(put([100, 100, 101], device, "int8")), 100, "int8")


def test_means_of_ints_truncate(device: Device) -> None:
    assert_same(BACKEND.int_mean(put([-3, -4], device)), -3, "int64")
    assert_same(BACKEND.int_mean_dim(put([[3, 4], [-3, -4]], device), 1), [[3], [-3]], "int64")


@pytest.mark.parametrize("name", ["sum", "cumsum"])
def test_many_float16_are_summed_in_float32(device: Device, name: str) -> None:
    x = put(np.ones(5000), device, "float16")
    arguments = (0,) if name == "cumsum" else ()
    found = values(getattr(BACKEND, f"float_{name}")(x, *arguments))
    assert found.ravel()[-1] == 5000


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_many_float16_are_multiplied_in_float32(device: Device, name: str) -> None:
    x = np.full(100, 1.01, np.float16)
    arguments = (0,) if name == "cumprod" else ()
    found = values(getattr(BACKEND, f"float_{name}")(put(x, device), *arguments))
    np.testing.assert_allclose(found.ravel()[-1], np.prod(x.astype(np.float64)), rtol=1e-3)


SCANS: dict[str, Function] = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize("name", SCANS)
def test_running_values_are_numpys(device: Device, name: str, dtype: str) -> None:
    x = sample((2, 3, 4), dtype, 0, 5)
    for dim in (0, 1, -1):
        out = getattr(BACKEND, f"{kind_name(dtype)}_{name}")(put(x, device), dim)
        expected = SCANS[name](x.astype(np.float64), axis=dim)
        if kind_name(dtype) == "float":
            assert_near(out, expected, dtype)
        else:
            assert_same(out, expected.astype(np.int64).astype(dtype), dtype)


@pytest.mark.parametrize("name", SCANS)
def test_running_values_are_nan_from_the_first_nan_on(device: Device, name: str) -> None:
    found = values(getattr(BACKEND, f"float_{name}")(put([1.0, NAN, 3.0, 0.5], device), 0))
    assert np.isnan(found).tolist() == [False, True, True, True]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS, "bool"])
@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_of_many_is_numpys(device: Device, name: str, dtype: str) -> None:
    kind, oracle = kind_name(dtype), getattr(np, name)
    out_dtype = () if kind == "bool" else (core.bool_,)
    for array in (np.eye(3), np.ones((2, 3)), np.zeros((2, 3)), np.ones((0, 3))):
        x = array.astype(dtype)
        out = getattr(BACKEND, f"{kind}_{name}")(put(x, device), *out_dtype)
        assert_same(out, oracle(x), "bool")
        out = getattr(BACKEND, f"{kind}_{name}_dim")(put(x, device), 0, *out_dtype)
        assert_same(out, oracle(x, axis=0, keepdims=True), "bool")


def test_nan_counts_as_true(device: Device) -> None:
    x = put([NAN, 0.0], device)
    assert_same(BACKEND.float_any(x, core.bool_), True)
    assert_same(BACKEND.float_all(x, core.bool_), False)


# ---- order -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize("name", ["max", "min"])
def test_positions_of_extremes_are_the_first(device: Device, name: str, dtype: str) -> None:
    x = sample((4, 50), dtype, 0, 3).round()
    kind, wanted = kind_name(dtype), dtype if kind_name(dtype) == "int" else "int32"
    given = () if kind == "int" else (core.int32,)
    positions = getattr(np, f"arg{name}")(x, axis=1, keepdims=True)
    out = getattr(BACKEND, f"{kind}_arg{name}")(put(x, device), 1, *given)
    assert_same(out, positions, wanted)
    pair = getattr(BACKEND, f"{kind}_{name}_dim_with_indices")(put(x, device), -1, *given)
    assert_same(pair[0], getattr(np, name)(x, axis=1, keepdims=True), dtype)
    assert_same(pair[1], positions, wanted)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("size", [5, 100_000])
def test_the_first_nan_is_the_extreme(device: Device, name: str, size: int) -> None:
    x = np.arange(float(size))
    x[[2, 3]] = NAN
    out = getattr(BACKEND, f"float_arg{name}")(put(x, device), 0, core.int64)
    assert_same(out, [2], "int64")
    pair = getattr(BACKEND, f"float_{name}_dim_with_indices")(put(x, device), 0, core.int64)
    assert_same(pair[0], [NAN])
    assert_same(pair[1], [2])


def test_positions_that_the_dtype_does_not_hold_are_refused(device: Device) -> None:
    x, n = put(np.ones(200), device), put(np.ones(200), device, "int8")
    for name in ("float_argmax", "float_argmin"):
        with pytest.raises(DTypeError, match="int8 ends at 127"):
            getattr(BACKEND, name)(x, 0, core.int8)
    cases: dict[str, tuple[Any, ...]] = {
        "int_argmax": (),
        "int_min_dim_with_indices": (),
        "int_argsort": (False,),
        "int_topk_with_indices": (3,),
    }
    for name, arguments in cases.items():
        with pytest.raises(DTypeError, match="int8 ends at 127"):
            getattr(BACKEND, name)(n, 0, *arguments)


def stable_order(row: Array, descending: bool) -> list[int]:
    """Positions in order: NaN last, equal elements as they come."""
    return sorted(
        range(len(row)),
        key=lambda i: (bool(np.isnan(row[i])), -float(row[i]) if descending else float(row[i])),
    )


def with_ties(dtype: str) -> Array:
    """Rows with equal elements, the ends of an int dtype, and NaN among floats."""
    x = sample((3, 40), dtype, 0, 4).round()
    if kind_name(dtype) == "float":
        x[0, [3, 30]] = NAN
        x[1, [5, 6, 7]] = [INF, -INF, -0.0]
    else:
        x[0, :2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return x


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, -1])
def test_sorting_is_stable_with_nan_last(
    device: Device, dtype: str, descending: bool, dim: int
) -> None:
    x = with_ties(dtype)
    x = x.T if dim == 0 else x
    rows = np.moveaxis(x, dim, -1)
    order = np.array([stable_order(row, descending) for row in rows])
    order = np.moveaxis(order, -1, dim)
    expected = np.take_along_axis(x, order, dim)
    kind = kind_name(dtype)
    given, wanted = ((), dtype) if kind == "int" else ((core.int32,), "int32")
    assert_same(getattr(BACKEND, f"{kind}_sort")(put(x, device), dim, descending), expected, dtype)
    out = getattr(BACKEND, f"{kind}_argsort")(put(x, device), dim, descending, *given)
    assert_same(out, order, wanted)
    pair = getattr(BACKEND, f"{kind}_sort_with_indices")(put(x, device), dim, descending, *given)
    assert_same(pair[0], expected, dtype)
    assert_same(pair[1], order, wanted)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTS])
@pytest.mark.parametrize("k", [0, 1, 7, 40])
def test_the_top_k_begin_the_descending_order(device: Device, dtype: str, k: int) -> None:
    x = with_ties(dtype)
    order = np.array([stable_order(row, descending=True)[:k] for row in x], np.int64)
    expected = np.take_along_axis(x, order, 1)
    kind = kind_name(dtype)
    given, wanted = ((), dtype) if kind == "int" else ((core.int32,), "int32")
    assert_same(getattr(BACKEND, f"{kind}_topk")(put(x, device), 1, k), expected, dtype)
    out = getattr(BACKEND, f"{kind}_argtopk")(put(x, device), -1, k, *given)
    assert_same(out, order, wanted)
    pair = getattr(BACKEND, f"{kind}_topk_with_indices")(put(x, device), 1, k, *given)
    assert_same(pair[0], expected, dtype)
    assert_same(pair[1], order, wanted)


def test_nothing_is_sorted_to_nothing(device: Device) -> None:
    x = put(np.ones((0, 3)), device)
    for dim in (0, 1):
        assert tuple(BACKEND.float_sort(x, dim, True).shape) == (0, 3)
