"""The capture device describes and records operations; the oracle of shapes is NumPy."""

from __future__ import annotations

import contextvars
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any

import numpy as np
import pytest

from firebrick.backend import BUILTIN_OP_SETS, FloatOps
from firebrick.core import (
    Device,
    DispatchTensor,
    Distribution,
    DType,
    NoCheckpointing,
    bool_,
    float32,
    float64,
    int32,
    int64,
)
from firebrick.decorators.autodiff import autodiff_of, lift, mark_leaf, run_backward
from firebrick.decorators.capture import Capture, CaptureTensor, capture_scope
from firebrick.errors import DispatchError, ShapeError
from firebrick.opset import dispatch

DEVICE = Device.capture()


@pytest.fixture
def capture() -> Capture:
    return Capture()


def ones(*shape: int, dtype: DType = float32) -> CaptureTensor:
    return CaptureTensor(shape, dtype)


# ---- description -----------------------------------------------------------------------------


def test_every_built_in_operation_is_derived(capture: Capture) -> None:
    for op_set in BUILTIN_OP_SETS:
        for name in op_set.__operations__:
            assert callable(getattr(capture, name))


def test_outputs_have_the_shape_and_dtype_of_the_operation(capture: Capture) -> None:
    a, b = np.ones((2, 1, 3), np.float32), np.ones((4, 3), np.float32)
    x = capture.float_from_data(a, DEVICE)
    y = capture.float_from_data(b, DEVICE)
    assert capture.float_add(x, y).shape == (a + b).shape
    assert capture.float_matmul(x, capture.float_transpose(y)).shape == (a @ b.T).shape
    assert capture.float_cast(x, float64).dtype is float64
    assert capture.float_sum_dim(x, 2).shape == a.sum(2, keepdims=True).shape
    assert capture.float_cat([y, y], 0).shape == np.concatenate([b, b]).shape
    equal = capture.float_equal(x, y, bool_)
    assert (equal.shape, equal.dtype) == ((a == b).shape, bool_)


def test_several_outputs_are_described_one_by_one(capture: Capture) -> None:
    values, indices = capture.float_sort_with_indices(ones(2, 5), 1, False, int64)
    assert (values.shape, values.dtype) == ((2, 5), float32)
    assert (indices.shape, indices.dtype) == ((2, 5), int64)
    assert values != indices


def test_arguments_may_be_given_by_name(capture: Capture) -> None:
    out = capture.float_permute(tensor=ones(2, 3), axes=(1, 0))
    assert out.shape == (3, 2)


def test_shapes_that_do_not_fit_are_refused_with_the_operation(capture: Capture) -> None:
    with pytest.raises(ShapeError, match=r"`float_add`: shapes \[2\] and \[3\] do not broadcast"):
        capture.float_add(ones(2), ones(3))


@pytest.mark.parametrize("name", ["float_into_data", "int_into_data", "bool_into_data"])
def test_values_cannot_be_read(capture: Capture, name: str) -> None:
    with pytest.raises(
        DispatchError,
        match=rf"a capture device records operations and executes none, so `{name}` has no val",
    ):
        getattr(capture, name)(ones(2))


def test_an_operation_whose_shape_depends_on_values_is_refused(capture: Capture) -> None:
    with pytest.raises(DispatchError, match="a capture device records operations"):
        capture.float_mask_select(ones(2), ones(2, dtype=bool_))


def test_a_tensor_knows_its_place(capture: Capture) -> None:
    x = ones(2, dtype=int32)
    assert capture.device_of(x) == DEVICE
    assert capture.dtype_of(x) is int32
    assert capture.kind_of(x) == "int"
    assert capture.devices() == [DEVICE]
    assert capture.supports_dtype(DEVICE, float64)
    assert capture.shares_memory(x, x)
    assert not capture.shares_memory(x, ones(2, dtype=int32))


def test_seeding_and_waiting_are_allowed(capture: Capture) -> None:
    capture.seed(DEVICE, 1)
    capture.sync(DEVICE)
    out = capture.float_random((3,), Distribution.default(), DEVICE, float32)
    assert out.shape == (3,)


def test_a_copy_of_a_tensor_stands_for_the_same_values() -> None:
    x = ones(2, 3)
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (twin, twin.shape, twin.dtype) == (x, (2, 3), float32)
    assert ones(2, 3) != x


def test_a_dispatched_call_is_described_like_any_other(capture: Capture) -> None:
    x = DispatchTensor(ones(2, 3), "float", capture)
    y = DispatchTensor(ones(3), "float", capture)
    out = dispatch(FloatOps).float_add(x, y)
    assert (out.kind, out.shape, out.dtype, out.device) == ("float", (2, 3), float32, DEVICE)


def test_a_backward_pass_can_be_recorded(capture: Capture) -> None:
    tracked = autodiff_of(capture, NoCheckpointing)
    x = mark_leaf(lift(DispatchTensor(ones(2), "float", capture)))
    out = DispatchTensor(tracked.float_exp(x.primitive), "float", tracked)
    with capture_scope() as graph:
        gradient = run_backward(out).get(x)
    assert gradient is not None
    assert gradient.shape == (2,)
    assert gradient.primitive in graph.records[-1].outputs


# ---- recording -------------------------------------------------------------------------------


def test_a_scope_records_operations_in_order(capture: Capture) -> None:
    with capture_scope() as graph:
        x = capture.float_from_data(np.array([1.0, 2.0], np.float32), DEVICE)
        y = capture.float_add_scalar(x, 1.0)
        z = capture.float_cat([x, y], 0)
    assert [record.operation for record in graph.records] == [
        "FloatOps.float_add_scalar",
        "FloatOps.float_cat",
    ]
    assert [record.outputs for record in graph.records] == [(y,), (z,)]
    assert [record.inputs for record in graph.records] == [(x,), (x, y)]
    assert graph.records[0].arguments == {"lhs": x, "rhs": 1.0}
    assert graph.records[1].arguments == {"tensors": (x, y), "dim": 0}
    assert graph.inputs == ()


def test_data_from_the_host_is_kept_as_it_was(capture: Capture) -> None:
    data = np.array([1.0, 2.0], np.float32)
    with capture_scope() as graph:
        x = capture.float_from_data(data, DEVICE)
    data[0] = 9.0
    kept = graph.initial_values[x]
    assert kept.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 3.0


def test_a_list_that_changes_later_does_not_change_the_record(capture: Capture) -> None:
    shape = [2, 3]
    with capture_scope() as graph:
        capture.float_reshape(ones(6), shape)
    shape[0] = 7
    assert graph.records[0].arguments["shape"] == (2, 3)


def test_tensors_from_outside_are_inputs_of_the_graph(capture: Capture) -> None:
    x, y = ones(2), ones(2)
    with capture_scope() as graph:
        capture.float_mul(capture.float_add(x, y), y)
    assert graph.inputs == (x, y)


def test_nothing_is_kept_outside_of_a_scope(capture: Capture) -> None:
    with capture_scope() as graph:
        capture.float_neg(ones(2))
    capture.float_neg(ones(2))
    assert len(graph.records) == 1


def test_scopes_can_follow_each_other(capture: Capture) -> None:
    with capture_scope() as empty:
        pass
    with capture_scope() as graph:
        capture.float_exp(ones(2))
    assert empty.records == ()
    assert len(graph.records) == 1


def test_the_innermost_scope_records(capture: Capture) -> None:
    with capture_scope() as outer:
        capture.float_exp(ones(2))
        with capture_scope() as inner:
            capture.float_log(ones(2))
        capture.float_neg(ones(2))
    assert [r.operation for r in inner.records] == ["FloatOps.float_log"]
    assert [r.operation for r in outer.records] == ["FloatOps.float_exp", "FloatOps.float_neg"]


def test_a_scope_that_fails_keeps_what_it_recorded_and_ends(capture: Capture) -> None:
    def fail() -> Any:
        with capture_scope() as graph:
            graphs.append(graph)
            capture.float_exp(ones(2))
            capture.float_add(ones(2), ones(3))

    graphs: list[Any] = []
    with pytest.raises(ShapeError, match="do not broadcast"):
        fail()
    capture.float_neg(ones(2))
    assert [r.operation for r in graphs[0].records] == ["FloatOps.float_exp"]


def test_clear_forgets_and_goes_on(capture: Capture) -> None:
    with capture_scope() as graph:
        capture.float_from_data(np.ones(2, np.float32), DEVICE)
        capture.float_exp(ones(2))
        graph.clear()
        capture.float_log(ones(2))
    assert [r.operation for r in graph.records] == ["FloatOps.float_log"]
    assert graph.initial_values == {}


def test_another_thread_has_no_part_in_a_scope(capture: Capture) -> None:
    with capture_scope() as graph:
        thread = Thread(target=lambda: capture.float_exp(ones(2)))
        thread.start()
        thread.join()
    assert graph.records == ()


def test_threads_in_copies_of_the_context_record_into_one_graph(capture: Capture) -> None:
    def work() -> None:
        for _ in range(50):
            capture.float_exp(ones(2))

    with capture_scope() as graph:
        contexts = [contextvars.copy_context() for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(context.run, work) for context in contexts]:
                done.result()
    outputs = {output for record in graph.records for output in record.outputs}
    assert len(graph.records) == len(outputs) == 200
    contexts[0].run(work)
    assert len(graph.records) == 200


def test_a_graph_prints_one_line_for_each_value(capture: Capture) -> None:
    with capture_scope() as graph:
        x = capture.float_from_data(np.ones((2, 3), np.float32), DEVICE)
        y = capture.float_cat([x, x], 0)
    assert str(graph).splitlines() == [
        f"%{x.id}: float32[2, 3] = initial value",
        f"%{y.id}: float32[4, 3] = FloatOps.float_cat(tensors=[%{x.id}, %{x.id}], dim=0)",
    ]
