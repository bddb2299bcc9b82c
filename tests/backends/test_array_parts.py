"""Layouts, slices, masks and indices on the array backends, and the shapes they refuse."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.backends.array_backends import BACKENDS, HERE, Array, assert_values
from tests.backends.operation_cases import floats

from firebrick.backend import BUILTIN_OP_SETS, ConvOptions, UnfoldOptions
from firebrick.core import TensorSpec, float32, float64, int64
from firebrick.errors import DTypeError, ShapeError
from firebrick.opset import output_specs

OPERATIONS = {n: op for ops in BUILTIN_OP_SETS for n, op in ops.__operations__.items()}
BOUND = st.none() | st.integers(-7, 7)


@pytest.fixture(params=BACKENDS, ids=str, scope="module")
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def spec(*shape: int, dtype: Any = float32) -> TensorSpec:
    return TensorSpec(shape, dtype)


@given(start=BOUND, stop=BOUND, step=BOUND.filter(lambda s: s != 0))
def test_a_slice_is_pythons(start: int | None, stop: int | None, step: int | None) -> None:
    part = slice(start, stop, step)
    x = np.arange(10.0).reshape(5, 2)
    for backend in BACKENDS:
        assert_values(backend.float_slice(x, [part]), x[part])
        value = -np.ones_like(x[part])
        expected = x.copy()
        expected[part] = value
        assert_values(backend.float_slice_assign(x, [part], value), expected)


@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 2), (7, 1), (2, 5), (8, 1)])
def test_windows_are_torchs_and_none_where_they_do_not_fit(
    backend: Any, size: int, step: int
) -> None:
    x = floats(2, 7, 3)
    found = backend.float_unfold(x, 1, size, step)
    if size > 7:
        assert found.shape == (2, 0, 3, size)
        return
    torch = pytest.importorskip("torch")
    assert_values(found, torch.tensor(x).unfold(1, size, step).numpy())


def test_repetition_is_tile(backend: Any) -> None:
    x = floats(2, 3)
    assert_values(backend.float_repeat_dim(x, 1, 3), np.tile(x, (1, 3)))
    assert_values(backend.float_repeat_dim(x, -2, 2), np.tile(x, (2, 1)))


def test_indices_of_every_integer_dtype_do(backend: Any) -> None:
    x = floats(3, 4)
    for dtype in ("int8", "uint8", "int32", "uint64", "int64"):
        rows = np.array([2, 0], dtype)
        assert_values(backend.float_select(x, 0, rows), x[[2, 0]])
        places = np.array([[1], [0], [3]], dtype)
        assert_values(
            backend.float_gather(1, x, places), np.take_along_axis(x, places.astype(int), 1)
        )


def test_a_gather_may_have_fewer_indices_than_elements(backend: Any) -> None:
    x = floats(3, 4)
    places = np.array([[3, 0], [1, 1]])
    assert_values(backend.float_gather(1, x, places), [[x[0, 3], x[0, 0]], [x[1, 1], x[1, 1]]])


@pytest.mark.parametrize(("wrong", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_indices_out_of_range_are_refused(backend: Any, wrong: int, size: int) -> None:
    x, rows, value = np.zeros((size, 2)), np.array([wrong]), np.zeros((1, 2))
    message = f"index {wrong} is out of range"
    with pytest.raises(ShapeError, match=message):
        backend.float_select(x, 0, rows)
    with pytest.raises(ShapeError, match=message):
        backend.float_select_add(x, 0, rows, value)
    with pytest.raises(ShapeError, match=message):
        backend.float_gather(0, x, rows[:, None])
    with pytest.raises(ShapeError, match=message):
        backend.float_scatter_add(0, x, rows[:, None], value[:, :1])


def scattered(x: Array, places: Array, value: Array, function: Any) -> Array:
    """The definition: one update per index, along dimension 1."""
    out = x.copy()
    for (row, column), place in np.ndenumerate(places):
        out[row, place] = function(out[row, place], value[row, column])
    return out


@pytest.mark.parametrize(
    ("update", "function"),
    [("add", operator.add), ("mul", operator.mul), ("min", min), ("max", max)],
)
def test_updates_meet_repeated_indices_every_time(backend: Any, update: str, function: Any) -> None:
    x, value = floats(2, 3), floats(2, 4)
    places = np.array([[1, 1, 1, 0], [2, 0, 2, 2]])
    expected = scattered(x, places, value, function)
    np.testing.assert_allclose(backend.float_scatter(1, x, places, value, update), expected)
    rows = np.array([1, 1, 0, 1])
    transposed = scattered(x, np.tile(rows, (2, 1)), value, function)
    np.testing.assert_allclose(backend.float_select_assign(x, 1, rows, value, update), transposed)


def test_assignment_replaces(backend: Any) -> None:
    x = np.zeros((2, 3), int)
    found = backend.int_scatter(1, x, np.array([[2], [0]]), np.array([[7], [8]]), "assign")
    assert_values(found, [[0, 0, 7], [8, 0, 0]])
    rows = backend.int_select_assign(x, 0, np.array([1]), np.array([[4, 5, 6]]), "assign")
    assert_values(rows, [[0, 0, 0], [4, 5, 6]])


def test_half_precision_updates_are_accumulated_in_float32(backend: Any) -> None:
    x, value = np.zeros(1, "float16"), np.ones(4096, "float16")
    found = backend.float_select_add(x, 0, np.zeros(4096, int), value)
    assert_values(found, [4096], "float16")


def test_truth_values_are_or_ed(backend: Any) -> None:
    x = np.array([True, False, False])
    found = backend.bool_select_or(x, 0, np.array([1, 1, 0]), np.array([True, False, False]))
    assert_values(found, [True, True, False], "bool")


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_masks_fill_in_what_is_not_finite(backend: Any, value: float) -> None:
    x, mask = np.zeros(2, "float32"), np.array([True, False])
    assert_values(backend.float_mask_fill(x, mask, value), [value, 0], "float32")


def test_masked_elements_come_in_order(backend: Any) -> None:
    x, mask = floats(2, 3), np.array([[True, False, True], [False, False, True]])
    assert_values(backend.float_mask_select(x, mask), x[mask])
    assert_values(backend.float_mask_select(x, np.zeros(3, bool)), np.zeros(0))
    with pytest.raises(ValueError, match="broadcast"):
        backend.float_mask_select(x, np.zeros((3, 1), bool))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("float_add", {"lhs": spec(2), "rhs": spec(3)}, r"shapes \[2\] and \[3\] do not broadcast"),
    ("float_matmul", {"lhs": spec(2), "rhs": spec(2, 2)}, "at least 2 dimensions"),
    ("float_matmul", {"lhs": spec(2, 3), "rhs": spec(2, 3)}, "got 3 and 2 in shapes"),
    ("float_cross", {"lhs": spec(2), "rhs": spec(2), "dim": 0}, "size 3 along dimension 0"),
    ("float_zeros", {"shape": (2, -1), "dtype": float32}, r"sizes are not negative; got \[2, -1\]"),
    ("float_reshape", {"tensor": spec(6), "shape": (4, 2)}, r"has 6 elements, .* in \[4, 2\]"),
    ("float_reshape", {"tensor": spec(6), "shape": (-1, -1)}, "has 6 elements"),
    ("float_reshape", {"tensor": spec(0), "shape": (-1, 0)}, "has 0 elements"),
    ("float_expand", {"tensor": spec(2, 3), "shape": (3,)}, "does not expand"),
    ("float_expand", {"tensor": spec(2), "shape": (3,)}, "sizes must be equal or 1"),
    ("float_transpose", {"tensor": spec(2)}, "at least 2 dimensions are needed"),
    ("float_permute", {"tensor": spec(2, 3), "axes": (0, 0)}, "names each of the 2 dimensions"),
    ("float_flip", {"tensor": spec(2, 3), "axes": (0, -2)}, "names no dimension twice"),
    ("float_swap_dims", {"tensor": spec(2, 3), "dim1": 0, "dim2": 2}, "dimension 2 does not exist"),
    ("float_repeat_dim", {"tensor": spec(2), "dim": 0, "times": -1}, "`times` is not negative"),
    ("float_cat", {"tensors": [], "dim": 0}, "at least one tensor is needed"),
    ("float_cat", {"tensors": [spec(2, 3), spec(2, 4)], "dim": 0}, "sizes are equal except along"),
    ("float_unfold", {"tensor": spec(4), "dim": 0, "size": 0, "step": 1}, "are at least 1"),
    ("float_slice", {"tensor": spec(4), "slices": [slice(0), slice(0)]}, "2 slices were given"),
    ("float_slice", {"tensor": spec(4), "slices": [slice(0, 4, 0)]}, "step of a slice is not 0"),
    (
        "float_slice_assign",
        {"tensor": spec(4), "slices": [slice(0, 2)], "value": spec(1)},
        r"pick a block of shape \[2\] from \[4\]",
    ),
    (
        "float_gather",
        {"dim": 0, "tensor": spec(2, 3), "indices": spec(1, 4, dtype=int64)},
        "no larger sizes",
    ),
    (
        "float_scatter_add",
        {"dim": 0, "tensor": spec(2), "indices": spec(2, dtype=int64), "value": spec(1)},
        "one value per index",
    ),
    ("float_select", {"tensor": spec(2), "dim": 0, "indices": spec(2, 2, dtype=int64)}, "1 dim"),
    (
        "float_select_add",
        {"tensor": spec(2, 3), "dim": 0, "indices": spec(1, dtype=int64), "value": spec(3)},
        r"rows of shape \[1, 3\]",
    ),
    ("int_arange_step", {"range": range(3), "step": 0, "dtype": int64}, "`step` is at least 1"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), REFUSED)
def test_shapes_that_do_not_fit_are_refused(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ShapeError, match=message):
        output_specs(OPERATIONS[name], arguments)


def test_dtypes_are_not_mixed() -> None:
    mixed = {"lhs": spec(2), "rhs": spec(2, dtype=float64)}
    with pytest.raises(DTypeError, match="one dtype; got float32 and float64: cast one of them"):
        output_specs(OPERATIONS["float_add"], mixed)
    with pytest.raises(DTypeError, match="got float32 and float64"):
        output_specs(OPERATIONS["float_cat"], {"tensors": list(mixed.values()), "dim": 0})


def test_values_of_another_shape_are_not_broadcast_into_a_block(backend: Any) -> None:
    with pytest.raises(ShapeError, match=r"so the value has that shape; got \[1\]"):
        backend.float_slice_assign(np.zeros(4), [slice(0, 2)], np.ones(1))
    with pytest.raises(ShapeError, match="one value per index"):
        backend.float_scatter_add(0, np.zeros(4), np.zeros(2, int), np.ones(1))


def test_arguments_of_the_device_are_not_looked_at(backend: Any) -> None:
    x = floats(2)
    assert backend.float_to_device(x, HERE) is x
    assert backend.float_detach(x) is x


def test_options_refuse_a_zero_stride_or_dilation() -> None:
    with pytest.raises(ShapeError, match=r"`stride` .* at least 1; got \(0, 1\)"):
        ConvOptions((0, 1), (0, 0), (1, 1))
    with pytest.raises(ShapeError, match="`dilation`"):
        UnfoldOptions((1, 1), (0, 0), (1, 0))
