"""Layouts, slices, masks and indices on the PyTorch backend, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.backends.libtorch_values import (
    BACKEND,
    DEVICES,
    INF,
    NAN,
    RTOL,
    Array,
    assert_same,
    kind_name,
    put,
    sample,
    values,
)

from firebrick import core
from firebrick.core import Device
from firebrick.errors import DTypeError, ShapeError


@pytest.fixture(params=DEVICES, ids=str, scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return request.param


# ---- layout ----------------------------------------------------------------------------------

LAYOUT: dict[str, tuple[tuple[Any, ...], Callable[[Array], Array]]] = {
    "reshape": (((4, 6),), lambda x: x.reshape(4, 6)),
    "transpose": ((), lambda x: np.swapaxes(x, -1, -2)),
    "swap_dims": ((0, -1), lambda x: np.swapaxes(x, 0, -1)),
    "permute": (((2, 0, 1),), lambda x: np.transpose(x, (2, 0, 1))),
    "flip": (((0, -1),), lambda x: np.flip(x, (0, -1))),
    "expand": (((5, 2, 3, 4),), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    "repeat_dim": ((1, 2), lambda x: np.tile(x, (1, 2, 1))),
    "unfold": ((-1, 2, 2), lambda x: np.stack([x[..., 0:2], x[..., 2:4]], -2)),
}


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("name", LAYOUT)
def test_layouts_are_numpys(device: Device, kind: str, name: str) -> None:
    x = sample((2, 3, 4), kind, -9, 9)
    arguments, expected = LAYOUT[name]
    out = getattr(BACKEND, f"{kind}_{name}")(put(x, device), *arguments)
    assert_same(out, expected(x), x.dtype.name)


def test_layouts_of_views_are_numpys(device: Device) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    turned = BACKEND.float_permute(put(x, device), (2, 0, 1))
    assert_same(BACKEND.float_reshape(turned, (8, 3)), x.transpose(2, 0, 1).reshape(8, 3))
    assert_same(BACKEND.float_add(turned, turned), 2 * x.transpose(2, 0, 1))


def test_windows_larger_than_the_dimension_are_none(device: Device) -> None:
    for dim in (0, -2):
        out = BACKEND.float_unfold(put(np.ones((3, 2)), device), dim, 5, 1)
        assert tuple(out.shape) == (0, 2, 5)


def test_zero_sized_layouts_work(device: Device) -> None:
    x = put(np.ones((0, 3)), device)
    assert tuple(BACKEND.float_transpose(x).shape) == (3, 0)
    assert tuple(BACKEND.float_flip(x, (0,)).shape) == (0, 3)
    assert tuple(BACKEND.float_repeat_dim(x, 1, 0).shape) == (0, 0)
    assert_same(BACKEND.float_cat([x, put(np.ones((1, 3)), device)], 0), np.ones((1, 3)))


def test_shapes_that_torch_would_take_are_refused(device: Device) -> None:
    x = put(np.ones((2, 3)), device)
    with pytest.raises(ShapeError, match="sizes are equal except along dimension 0"):
        BACKEND.float_cat([x, put(np.ones(0), device)], 0)
    with pytest.raises(ShapeError, match="not negative"):
        BACKEND.float_expand(x, (-1, 3))
    with pytest.raises(ShapeError, match="at least 1"):
        BACKEND.float_unfold(x, 0, 0, 1)
    with pytest.raises(ShapeError, match="the value has that shape"):
        BACKEND.float_slice_assign(x, [slice(0, 1)], put([7.0], device))
    with pytest.raises(ShapeError, match="one value per index"):
        BACKEND.float_scatter(0, x, put([[0, 0, 0]], device), x, "add")
    with pytest.raises(ShapeError, match="1 dimension"):
        BACKEND.float_select(x, 0, put(0, device))
    with pytest.raises(RuntimeError, match="expand"):
        BACKEND.float_mask_select(put(1.0, device), put([True, False], device))


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
def test_tensors_join_along_any_dimension(device: Device, kind: str) -> None:
    x, y = sample((2, 3), kind), sample((2, 1), kind)
    out = getattr(BACKEND, f"{kind}_cat")([put(x, device), put(y, device)], -1)
    assert_same(out, np.concatenate([x, y], 1), x.dtype.name)


# ---- slices and masks ------------------------------------------------------------------------

SLICES: list[list[slice]] = [
    [],
    [slice(1, None)],
    [slice(None, None, -1)],
    [slice(None), slice(3, 0, -2)],
    [slice(-3, None), slice(None, None, 3), slice(None, None, -3)],
    [slice(0, 0), slice(0, 3, -1)],
    [slice(10, 20), slice(10, None, -1)],
]


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("slices", SLICES)
def test_slices_are_numpys(device: Device, kind: str, slices: list[slice]) -> None:
    x = sample((4, 5, 6), kind)
    out = getattr(BACKEND, f"{kind}_slice")(put(x, device), slices)
    assert_same(out, x[tuple(slices)], x.dtype.name)


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("slices", SLICES)
def test_writing_a_block_is_numpys_and_leaves_the_input(
    device: Device, kind: str, slices: list[slice]
) -> None:
    x = sample((4, 5, 6), kind)
    expected = x.copy()
    block = sample(x[tuple(slices)].shape, kind, 3.0, 9.0)
    expected[tuple(slices)] = block
    source = put(x, device)
    out = getattr(BACKEND, f"{kind}_slice_assign")(source, slices, put(block, device))
    assert_same(out, expected, x.dtype.name)
    assert_same(source, x)


def test_writing_into_an_expanded_view_changes_one_element(device: Device) -> None:
    rows = BACKEND.float_expand(put([1.0, 2.0], device), (3, 2))
    out = BACKEND.float_slice_assign(rows, [slice(0, 1)], put([[9.0, 9.0]], device))
    assert_same(out, [[9, 9], [1, 2], [1, 2]])


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
def test_masks_choose_and_fill(device: Device, kind: str) -> None:
    x, y = sample((2, 3), kind, -9, 9), sample((2, 1), kind, -9, 9)
    mask = np.array([True, False, True])
    chosen = getattr(BACKEND, f"{kind}_mask_where")(*(put(a, device) for a in (x, mask, y)))
    assert_same(chosen, np.where(mask, y, x), x.dtype.name)
    filled = getattr(BACKEND, f"{kind}_mask_fill")(put(x, device), put(mask, device), 1)
    assert_same(filled, np.where(mask, x.dtype.type(1), x), x.dtype.name)


def test_a_mask_larger_than_the_tensor_expands_it(device: Device) -> None:
    mask = put([[True], [False]], device)
    assert_same(BACKEND.float_mask_fill(put([1.0, 2.0], device), mask, 0.0), [[0, 0], [1, 2]])


def test_filling_float16_beyond_its_range_gives_infinity(device: Device) -> None:
    x, mask = put([1.0, 2.0], device, "float16"), put([True, False], device)
    assert_same(BACKEND.float_mask_fill(x, mask, -1e9), [-INF, 2.0], "float16")


def test_filling_an_int_with_a_fraction_is_refused(device: Device) -> None:
    with pytest.raises(DTypeError, match=r"got 1\.5"):
        BACKEND.int_mask_fill(put([1], device), put([True], device), 1.5)


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
def test_masks_pick_a_row_of_values(device: Device, kind: str) -> None:
    x = sample((3, 4), kind)
    for mask in (sample((3, 4), "bool"), x > 0, np.zeros((3, 4), bool)):
        out = getattr(BACKEND, f"{kind}_mask_select")(put(x, device), put(mask, device))
        assert_same(out, x[mask], x.dtype.name)


@pytest.mark.parametrize("mask", [[[True, False], [True, True]], [False, False], True, False])
def test_coordinates_of_true_elements_are_numpys(device: Device, mask: Any) -> None:
    out = BACKEND.bool_argwhere(put(mask, device), core.int32)
    assert_same(out, np.argwhere(mask), "int32")


# ---- indices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize("index_dtype", ["int64", "int32", "uint8"])
def test_picking_by_indices_is_numpys(device: Device, kind: str, index_dtype: str) -> None:
    x = sample((3, 4), kind, -9, 9)
    where = np.array([[2, 0, 0, 1], [0, 2, 1, 1]], index_dtype)
    out = getattr(BACKEND, f"{kind}_gather")(0, put(x, device), put(where, device))
    assert_same(out, np.take_along_axis(x, where.astype(np.int64), 0), x.dtype.name)
    rows = np.array([3, 0, 3], index_dtype)
    out = getattr(BACKEND, f"{kind}_select")(put(x, device), -1, put(rows, device))
    assert_same(out, x[:, rows], x.dtype.name)


def test_shorter_indices_pick_the_beginning_of_other_dimensions(device: Device) -> None:
    x = np.arange(12.0).reshape(3, 4)
    out = BACKEND.float_gather(0, put(x, device), put([[2, 1]], device))
    assert_same(out, [[8.0, 5.0]])


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "assign": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "min": lambda old, new: np.minimum(old, new),
    "max": lambda old, new: np.maximum(old, new),
}
TARGETS: list[list[int]] = [[0, 2, 0, 0], [1, 1, 1, 2]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("update", COMBINE)
@pytest.mark.parametrize("width", [3, 5])
def test_scattering_updates_in_order(device: Device, dtype: str, update: str, width: int) -> None:
    x, value = sample((2, width), dtype, 0, 9), sample((2, 4), dtype, 0, 9)
    expected, targets = x.copy(), np.array(TARGETS)
    with np.errstate(over="ignore"):
        for place in np.ndindex(2, 4):
            target = (place[0], int(targets[place]))
            expected[target] = COMBINE[update](expected[target], value[place])
    kind = kind_name(dtype)
    operands = (1, put(x, device), put(TARGETS, device), put(value, device))
    out = getattr(BACKEND, f"{kind}_scatter")(*operands, update)
    np.testing.assert_allclose(values(out), expected, rtol=RTOL.get(dtype, 0))
    assert values(out).dtype == dtype
    assert_same(operands[1], x)
    if update == "add":
        out = getattr(BACKEND, f"{kind}_scatter_add")(*operands)
        np.testing.assert_allclose(values(out), expected, rtol=RTOL.get(dtype, 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("update", COMBINE)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_updates_of_rows_happen_in_order(device: Device, dtype: str, update: str, dim: int) -> None:
    rows = [2, 0, 2, 2]
    x, value = sample((3, 3), dtype, 0, 9), sample((4, 3), dtype, 0, 9)
    expected = x.copy()
    for target, row in zip(rows, value, strict=True):
        expected[target] = COMBINE[update](expected[target], row)
    if dim:
        x, value, expected = x.T, value.T, expected.T
    kind = kind_name(dtype)
    operands = (put(x, device), dim, put(rows, device), put(value, device))
    out = getattr(BACKEND, f"{kind}_select_assign")(*operands, update)
    np.testing.assert_allclose(values(out), expected, rtol=RTOL.get(dtype, 0))
    assert_same(operands[0], x)
    if update == "add":
        out = getattr(BACKEND, f"{kind}_select_add")(*operands)
        np.testing.assert_allclose(values(out), expected, rtol=RTOL.get(dtype, 0))


@pytest.mark.parametrize("name", ["float_scatter", "float_select_assign"])
def test_updates_of_float16_are_rounded_once(device: Device, name: str) -> None:
    x, where = put([2048.0], device, "float16"), put([0, 0, 0, 0], device)
    ones = put([1.0] * 4, device, "float16")
    operands = (0, x, where) if name == "float_scatter" else (x, 0, where)
    assert_same(getattr(BACKEND, name)(*operands, ones, "add"), [2052.0], "float16")


@pytest.mark.parametrize("update", ["min", "max"])
def test_nan_wins_every_scattered_extreme(device: Device, update: str) -> None:
    x, where = put([1.0, NAN], device), put([0, 0, 1], device)
    out = BACKEND.float_scatter(0, x, where, put([NAN, 3.0, 3.0], device), update)
    assert_same(out, [NAN, NAN])


def test_the_last_of_many_assignments_to_one_place_stays(device: Device) -> None:
    where = put(np.zeros(100_000, np.int64), device)
    value = put(np.arange(100_000.0), device)
    assert_same(BACKEND.float_scatter(0, put([0.0], device), where, value, "assign"), [99_999.0])
    out = BACKEND.float_select_assign(put([0.0], device), 0, where, value, "assign")
    assert_same(out, [99_999.0])


def test_shorter_indices_update_the_beginning_of_other_dimensions(device: Device) -> None:
    x, where, value = put(np.zeros((2, 3)), device), put([[1]], device), put([[7.0]], device)
    for update in ("assign", "add", "max"):
        out = BACKEND.float_scatter(0, x, where, value, update)
        assert_same(out, [[0, 0, 0], [7, 0, 0]])


@pytest.mark.parametrize("update", COMBINE)
def test_updates_by_no_index_change_nothing(device: Device, update: str) -> None:
    x, none = put([[1.0, 2.0]], device), np.zeros((0, 2))
    where = put(none.astype(np.int64), device)
    assert_same(BACKEND.float_scatter(0, x, where, put(none, device), update), [[1, 2]])
    rows = put(np.zeros(0, np.int64), device)
    assert_same(BACKEND.float_select_assign(x, 0, rows, put(none, device), update), [[1, 2]])


def test_bools_are_combined_by_or(device: Device) -> None:
    x, where = put([False, True, False], device), put([0, 0, 1, 2], device)
    value = put([False, True, False, False], device)
    assert_same(BACKEND.bool_scatter_or(0, x, where, value), [True, True, False], "bool")
    assert_same(BACKEND.bool_select_or(x, 0, where, value), [True, True, False], "bool")


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_out_of_range_is_refused_and_later_work_is_not(device: Device, index: int) -> None:
    x, where = put(np.arange(3.0), device), put([0, index], device)
    value = put([1.0, 1.0], device)
    calls: list[Callable[[], Any]] = [
        lambda: BACKEND.float_gather(0, x, where),
        lambda: BACKEND.float_select(x, 0, where),
        lambda: BACKEND.float_scatter_add(0, x, where, value),
        lambda: BACKEND.float_select_add(x, 0, where, value),
        lambda: BACKEND.float_scatter(0, x, where, value, "assign"),
        lambda: BACKEND.float_select_assign(x, 0, where, value, "max"),
    ]
    for call in calls:
        with pytest.raises(ShapeError, match=f"lie below 3.*got {index}"):
            call()
    assert_same(BACKEND.float_add(x, x), [0.0, 2.0, 4.0])
