"""Reductions, running values and order on the array backends: accuracy, NaN, ties, nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tests.backends.array_backends import BACKENDS, INF, NAN, Array, assert_values

from firebrick.backend import FloatOps, IntOps
from firebrick.core import TensorSpec, float32, int32, int64
from firebrick.errors import ShapeError
from firebrick.opset import output_specs


@pytest.fixture(params=BACKENDS, ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def tree_bound(x: Array, dim: int) -> Array:
    """What a pairwise sum of these float32 values is off by at most."""
    unit = np.finfo(np.float32).eps / 2
    scale = np.abs(x.astype(np.float64)).sum(dim, keepdims=True)
    return 2 * (np.log2(x.shape[dim]) + 8) * unit * scale


@pytest.mark.parametrize(("shape", "dim"), [((300_000, 2), 0), ((2, 300_000), 1), ((3, 70_001), 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_sum_is_as_exact_as_a_tree_along_every_axis(
    backend: Any, shape: tuple[int, int], dim: int, order: Any
) -> None:
    x = np.asarray(np.random.default_rng(3).random(shape, np.float32), order=order)
    expected = x.astype(np.float64).sum(dim, keepdims=True)
    for found in (backend.float_sum_dim(x, dim), backend.float_mean_dim(x, dim) * shape[dim]):
        assert found.dtype == np.float32
        assert np.all(np.abs(found - expected) <= tree_bound(x, dim))


def test_half_precision_is_accumulated_in_float32(backend: Any) -> None:
    x = np.full((3000, 2), 10.0, "float16")
    assert_values(backend.float_sum_dim(x, 0), np.full((1, 2), 30_000), "float16")
    assert_values(backend.float_mean(np.full(100_000, 8.0, "float16")), np.array(8.0), "float16")
    steps = np.full(4096, 1.0, "float16")
    assert_values(backend.float_cumsum(steps, 0), np.arange(1.0, 4097).astype("float16"))


def test_a_running_sum_does_not_lose_digits(backend: Any) -> None:
    x = np.random.default_rng(5).random(1_000_000, np.float32)
    exact = np.cumsum(x, dtype=np.float64).astype(np.float32)
    assert_values(backend.float_cumsum(x, 0), exact, "float32")


def test_full_reductions_are_0_d_arrays(backend: Any) -> None:
    x = np.arange(6.0).reshape(2, 3) + 1
    assert_values(backend.float_sum(x), np.array(21.0), "float64")
    assert_values(backend.float_prod(x), np.array(720.0))
    assert_values(backend.float_mean(x), np.array(3.5))
    assert_values(backend.float_max(x), np.array(6.0))
    assert_values(backend.float_max_abs(-x), np.array(6.0))


def test_products_of_negative_factors_and_zeros(backend: Any) -> None:
    assert_values(backend.float_prod(np.array([-2.0, 3.0, -4.0])), np.array(24.0))
    assert_values(backend.float_prod_dim(np.array([[-2.0, 0.0]]), 1), [[0.0]])


def test_reductions_of_nothing(backend: Any) -> None:
    nothing = np.zeros((2, 0))
    assert_values(backend.float_sum(nothing), np.array(0.0))
    assert_values(backend.float_sum_dim(nothing, 1), [[0.0], [0.0]])
    assert_values(backend.float_prod_dim(nothing, 1), [[1.0], [1.0]])
    assert_values(backend.float_mean_dim(nothing, 1), [[NAN], [NAN]])
    assert_values(backend.float_cumsum(nothing, 1), nothing)
    assert_values(backend.float_max_dim(nothing, 0), np.zeros((1, 0)))


@pytest.mark.parametrize("name", ["float_max_dim", "float_argmax", "float_min", "float_argmin"])
def test_the_greatest_of_nothing_is_refused(backend: Any, name: str) -> None:
    rest = {"dim": 1, "out_dtype": int64}
    operation = FloatOps.__operations__[name]
    arguments = {p.name: rest.get(p.name) for p in operation.parameters}
    with pytest.raises(ValueError, match=r"zero-size|empty"):
        getattr(backend, name)(*{**arguments, "tensor": np.zeros((2, 0))}.values())
    with pytest.raises(ShapeError, match="nothing to choose from"):
        output_specs(operation, {**arguments, "tensor": TensorSpec((2, 0), float32)})


@pytest.mark.parametrize("name", ["float_sum_dim", "float_cumsum", "float_prod_dim"])
def test_a_0_d_tensor_has_no_dimension_to_reduce(name: str) -> None:
    with pytest.raises(ShapeError, match="dimension 0 does not exist: the tensor is 0-d"):
        output_specs(FloatOps.__operations__[name], {"tensor": TensorSpec((), float32), "dim": 0})


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 63, 64, 65, 1025])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_nan_anywhere_is_the_extreme_and_the_first_one_its_position(
    backend: Any, length: int, place: str
) -> None:
    x = np.arange(float(length), dtype="float32")
    position = {"first": 0, "middle": length // 2, "last": length - 1}[place]
    x[position] = NAN
    x[-1] = NAN
    for greatest in ("max", "min"):
        assert_values(getattr(backend, f"float_{greatest}")(x), np.array(NAN))
        assert_values(getattr(backend, f"float_arg{greatest}")(x, 0, int32), [position], "int32")
        values, places = getattr(backend, f"float_{greatest}_dim_with_indices")(x, 0, int64)
        assert_values(values, [NAN])
        assert_values(places, [position], "int64")


def test_of_equal_elements_the_first_is_the_extreme(backend: Any) -> None:
    x = np.array([[1.0, 3.0, 3.0], [INF, INF, -INF]])
    assert_values(backend.float_argmax(x, 1, int64), [[1], [0]])
    assert_values(backend.float_argmin(x, -1, int64), [[0], [2]])


@pytest.mark.parametrize("length", [5, 15, 16, 17, 33])
def test_running_extremes_keep_nan(backend: Any, length: int) -> None:
    x = np.tile(np.array([1.0, 3.0, 2.0]), length)[:length]
    x[2] = NAN
    expected = np.array([1.0, 3.0, *[NAN] * (length - 2)])
    assert_values(backend.float_cummax(x, 0), expected)
    assert_values(backend.float_cummin(x, 0), [1.0, 1.0, *[NAN] * (length - 2)])


def test_nan_comes_last_in_both_directions(backend: Any) -> None:
    x = np.array([NAN, 2.0, -INF, NAN, INF, 2.0], "float32")
    assert_values(backend.float_sort(x, 0, False), [-INF, 2, 2, INF, NAN, NAN], "float32")
    assert_values(backend.float_argsort(x, 0, False, int64), [2, 1, 5, 4, 0, 3])
    assert_values(backend.float_sort(x, 0, True), [INF, 2, 2, -INF, NAN, NAN], "float32")
    assert_values(backend.float_argsort(x, 0, True, int64), [4, 1, 5, 2, 0, 3])
    assert_values(backend.float_topk(x, 0, 2), [INF, 2])
    assert_values(backend.float_argtopk(x, 0, 3, int64), [4, 1, 5])


@given(x=arrays(np.float32, array_shapes(max_dims=3), elements=st.sampled_from([-1.0, 0.0, 1.0])))
def test_sorting_is_stable_in_both_directions(x: Array) -> None:
    for backend in BACKENDS:
        for dim in range(x.ndim):
            ascending = np.argsort(x, dim, kind="stable")
            assert_values(backend.float_argsort(x, dim, False, int64), ascending)
            descending = np.argsort(-x, dim, kind="stable")
            values, places = backend.float_sort_with_indices(x, dim, True, int64)
            assert_values(places, descending)
            assert_values(values, np.take_along_axis(x, descending, dim))
            assert_values(backend.int_argsort(x.astype(int), dim, True), descending)


def test_more_elements_than_there_are_cannot_be_the_top(backend: Any) -> None:
    with pytest.raises(ShapeError, match=r"`k` is from 0 to 3, .* got 4"):
        output_specs(
            IntOps.__operations__["int_topk"], {"tensor": TensorSpec((3,), int32), "dim": 0, "k": 4}
        )
    assert_values(backend.int_topk(np.array([3, 1, 2]), 0, 0), np.zeros(0))
