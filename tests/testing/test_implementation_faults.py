"""Faults of implementations, each planted once and found under its kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.testing.planted import (
    ARRAYS,
    FLEX,
    TORCH,
    Array,
    OnArray,
    OnTensor,
    doubling,
    implement,
    kinds,
    message,
    method,
    on_torch,
    without_default,
)

from firebrick import Tensor
from firebrick.extension import (
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    IntTensor,
    NdArray,
    NoDefault,
    OpSet,
    P,
    TensorSpec,
    backend_extension,
    fusion,
    views,
)
from firebrick.testing import check


def test_a_right_implementation_has_no_findings() -> None:
    report = check(doubling(lambda x: x * 2), devices=ARRAYS)
    assert report.findings == []
    assert report.exercised == [("double", "flex"), ("double", "ndarray")]


# ---- values ----------------------------------------------------------------------------------


def test_a_wrong_value_is_told_with_shape_difference_and_place() -> None:
    def wrong(x: Array) -> Array:
        out = np.asarray(x + x)
        if out.size:
            out.flat[-1] += 0.5
        return out

    report = check(doubling(wrong), devices=ARRAYS)
    assert kinds(report) == {"forward"}
    text = message(report, "forward")
    assert text.startswith("with x float [2, 3]: `out` differs by 0.5 at [1, 2]: ")
    assert text.endswith("against the default body")


def test_a_wrong_dtype_is_found_without_a_form() -> None:
    report = check(doubling(lambda x: (x + x).astype(np.float64)), devices=FLEX)
    assert message(report, "forward") == (
        "with x float [2, 3]: `out` has dtype float64, but float32 in the default body"
    )


def test_a_result_kept_by_shape_is_found() -> None:
    kept: dict[tuple[int, ...], Array] = {}
    report = check(doubling(lambda x: kept.setdefault(x.shape, x + x).copy()), devices=FLEX)
    assert "forward" in kinds(report)


def test_another_result_at_the_second_call_is_found() -> None:
    calls: list[None] = []

    def drifting(x: Array) -> Array:
        calls.append(None)
        return x + x + np.float32(1e-7 * len(calls))  # within the tolerance of parity

    report = check(doubling(drifting), devices=FLEX)
    assert "called again" in message(report, "forward")


def test_values_are_wrong_for_one_branch_only() -> None:
    report = check(doubling(lambda x: np.where(x > 0, x + x, x)), devices=FLEX)
    assert "forward" in kinds(report)


# ---- raising ---------------------------------------------------------------------------------


def raising(x: Any) -> Any:
    raise RuntimeError("no memory\nfor that")


def test_an_implementation_that_raises_is_one_error() -> None:
    report = check(doubling(raising), devices=ARRAYS)
    assert kinds(report) == {"error"}
    assert message(report, "error") == "with x float [2, 3]: RuntimeError: no memory"
    assert report.exercised == [("double", "flex"), ("double", "ndarray")]


# ---- metadata --------------------------------------------------------------------------------


def test_another_kind_than_declared_is_metadata() -> None:
    report = check(doubling(lambda x: (x + x).astype(np.int32)), devices=FLEX)
    assert kinds(report) == {"metadata"}
    assert "of kind int" in message(report, "metadata")


def test_dimensions_that_the_output_does_not_have_are_metadata() -> None:
    @backend_extension(Flex)
    class Sums(OpSet[P]):
        def rows(self, x: Float[P, "m n"]) -> Float[P, "m"]:
            raise NoDefault

    def columns(x: Array) -> Array:
        return x.sum(axis=0)

    implement(Sums, Flex, rows=method(columns))

    # Its own result is the oracle: where the declaration refuses it, there is no case.
    report = check(Sums, devices=FLEX)
    assert kinds(report) == {"error"}
    assert "declares `out` with shape [2]" in message(report, "error")


class One(ExtensionType[P]):
    value: FloatTensor[P]
    count: int


class Other(ExtensionType[P]):
    value: FloatTensor[P]


Either = One[P] | Other[P]


def wrong_field(x: TensorSpec) -> Any:
    return One(x, 2)


def wrong_variant(x: TensorSpec) -> Any:
    return Other(x)


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        (wrong_field, "`out.count` is declared as 2 but is 3"),
        (wrong_variant, "`out` is declared as `Other` but is `One`"),
    ],
)
def test_a_field_or_variant_that_was_not_declared_is_metadata(
    meta: Callable[[TensorSpec], Any], expected: str
) -> None:
    @backend_extension(Flex, NdArray)
    class Counts(OpSet[P]):
        @fusion(meta=meta)
        def counted(self, x: FloatTensor[P]) -> Either[P]:
            return One(self.backend.float_neg(x), 3)

    Counts.default_on(Flex, NdArray)
    report = check(Counts, devices=FLEX)
    assert message(report, "metadata") == f"with x float [2, 3]: {expected}"


def missing_member(x: Any) -> Any:
    return x.missing


def test_a_form_that_raises_is_metadata() -> None:
    @backend_extension(Flex)
    class Negates(OpSet[P]):
        @fusion(dtype="x", shape=missing_member)
        def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_neg(x)

    Negates.default_on(Flex)
    report = check(Negates, devices=FLEX)
    assert "the form AttributeError" in message(report, "metadata")


# ---- inputs ----------------------------------------------------------------------------------


def overwriting(x: Array) -> Array:
    out = x + x
    if x.flags.writeable:
        x.fill(0)
    return out


def adding_in_place(x: Array) -> Array:
    x += 0
    return x + x


def test_an_input_that_is_written_is_mutation() -> None:
    report = check(doubling(overwriting), devices=FLEX)
    assert kinds(report) == {"mutation"}
    assert message(report, "mutation").startswith(
        "with contiguous x float [2, 3]: after the call `x` differs by "
    )


def test_an_implementation_that_needs_to_write_an_input_is_mutation() -> None:
    report = check(doubling(adding_in_place), devices=FLEX)
    assert "mutation" in kinds(report)
    assert "cannot be written" in message(report, "mutation")


def test_writing_only_what_is_not_contiguous_is_mutation() -> None:
    def picky(x: Array) -> Array:
        return x + x if x.flags.c_contiguous else overwriting(x)

    assert "with transposed x" in message(check(doubling(picky), devices=FLEX), "mutation")


# ---- outputs ---------------------------------------------------------------------------------


def test_two_outputs_on_one_buffer_are_aliasing() -> None:
    def pair(x: Array) -> tuple[Array, Array]:
        both = np.stack([x, x])
        return both[0], both[:1].reshape(x.shape)

    report = check(without_default(pair), devices=FLEX)
    assert kinds(report) == {"aliasing"}
    assert "`out.0` shares memory with `out.1`" in message(report, "aliasing")


def test_returning_an_input_itself_is_right() -> None:
    assert check(without_default(lambda x: (x, x)), devices=FLEX).findings == []


def test_an_output_that_the_next_call_overwrites_is_aliasing() -> None:
    buffers: dict[tuple[int, ...], Array] = {}

    def reusing(x: Array) -> Array:
        out = buffers.setdefault((*x.shape, x.itemsize), np.empty_like(x, order="C"))
        np.add(x, x, out=out)
        return out

    report = check(doubling(reusing), devices=FLEX)
    assert "another call changes the output" in message(report, "aliasing")


@pytest.mark.parametrize("is_declared", [False, True])
def test_a_view_of_an_input_is_aliasing_unless_it_is_declared(*, is_declared: bool) -> None:
    @backend_extension(Flex)
    class Halves(OpSet[P]):
        def first(self, x: Float[P, "n m"]) -> tuple[FloatTensor[P], FloatTensor[P]]:
            raise NoDefault

    @backend_extension(Flex)
    class DeclaredHalves(OpSet[P]):
        @views("x")
        def first(self, x: Float[P, "n m"]) -> tuple[FloatTensor[P], FloatTensor[P]]:
            raise NoDefault

    def overlapping(x: Array) -> tuple[Array, Array]:
        return x[:1], x[:2]

    implement(Halves, Flex, first=method(overlapping))
    implement(DeclaredHalves, Flex, first=method(overlapping))
    report = check(DeclaredHalves if is_declared else Halves, devices=FLEX)
    assert kinds(report) == (set() if is_declared else {"aliasing"})
    if not is_declared:
        assert '`@views("x")`' in message(report, "aliasing")


# ---- layouts and sizes -----------------------------------------------------------------------


def memory_order(x: Array) -> Array:
    flat = np.frombuffer(x.tobytes("A"), x.dtype) if x.size else x
    return (flat + flat).reshape(x.shape)


def neighbors(x: Array) -> Array:
    """Reads the buffer behind the array as if it were packed."""
    base = x if x.base is None else x.base
    flat = np.frombuffer(np.ascontiguousarray(base), x.dtype)[: x.size] if x.size else x.ravel()
    return (flat + flat).reshape(x.shape)


LAYOUT_FAULTS: dict[str, tuple[OnArray, str]] = {
    "transposed": (memory_order, "with transposed x float [2, 3]"),
    "broadcast": (
        lambda x: x + x if 0 not in x.strides else x + x + 1,
        "with broadcast x float [2, 3]",
    ),
    "raises": (
        lambda x: x + x if x.flags.contiguous else raising(x),
        "with transposed x float [2, 3]",
    ),
    "empty": (lambda x: x + x if x.size else x.sum(axis=5), "with x float [0]"),
    "0-d": (lambda x: x + x if x.ndim else raising(x), "with x float []"),
    "size 1": (lambda x: x + x if 1 not in x.shape else x, "with x float [1]"),
}


@pytest.mark.parametrize(("function", "where"), LAYOUT_FAULTS.values(), ids=LAYOUT_FAULTS)
def test_a_layout_or_size_that_was_forgotten_is_found(function: OnArray, where: str) -> None:
    report = check(doubling(function), devices=FLEX)
    assert kinds(report) == {"layout"}
    assert message(report, "layout").startswith(where)


def test_reading_a_strided_input_as_if_it_were_packed_is_layout() -> None:
    assert "layout" in kinds(check(doubling(neighbors), devices=FLEX))


def test_a_given_case_is_run_in_other_layouts_but_not_in_other_sizes() -> None:
    seen: list[tuple[tuple[int, ...], bool]] = []

    def recording(x: Array) -> Array:
        seen.append((x.shape, bool(x.flags.c_contiguous)))
        return x + x

    cases = {"double": [(Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),)]}
    assert check(doubling(recording), devices=FLEX, cases=cases).ok
    assert {shape for shape, _ in seen} == {(3, 2)}
    assert {contiguous for _, contiguous in seen} == {True, False}


# ---- threads ---------------------------------------------------------------------------------


def test_a_buffer_that_threads_share_is_found() -> None:
    buffers: dict[Any, Array] = {}

    def sharing(x: Array) -> Array:
        out = buffers.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
        np.add(x, x, out=out)
        time.sleep(1e-4)
        return out.copy()

    assert kinds(check(doubling(sharing), devices=FLEX)) == {"threads"}


# ---- structs ---------------------------------------------------------------------------------


class Forgetful(ExtensionType[P]):
    """A struct whose copies lose a field."""

    value: FloatTensor[P]
    count: int

    def __reduce__(self) -> tuple[Any, ...]:
        return Forgetful, (self.value, 0)


def test_a_struct_that_loses_a_field_when_it_is_copied_is_serialization() -> None:
    @backend_extension(Flex)
    class Takes(OpSet[P]):
        def take(self, item: Forgetful[P]) -> FloatTensor[P]:
            return self.backend.float_neg(item.value)

    Takes.default_on(Flex)
    report = check(Takes, devices=FLEX)
    assert kinds(report) == {"serialization"}
    assert "`item.count` differs by 1: 0 instead of 1" in message(report, "serialization")


# ---- PyTorch ---------------------------------------------------------------------------------


TORCH_FAULTS: dict[str, tuple[OnTensor, str]] = {
    "value": (lambda x: x + x + 0.01, "forward"),
    "dtype": (lambda x: (x + x).double(), "forward"),
    "in place": (lambda x: x.mul_(2), "mutation"),
    "in place, same values": (lambda x: x.add_(0).add(x), "layout"),  # raises if expanded
    "view": (lambda x: x[...].view(x.shape), "forward"),
    "shape": (lambda x: (x + x).flatten(), "forward"),
    "strides": (lambda x: x.view(-1).add(x.view(-1)).view(x.shape), "layout"),
    "empty": (lambda x: x + x if x.numel() else x[0], "layout"),
}


@pytest.mark.parametrize(("function", "kind"), TORCH_FAULTS.values(), ids=TORCH_FAULTS)
def test_faults_on_pytorch_are_found(function: OnTensor, kind: str) -> None:
    pytest.importorskip("torch")
    report = check(on_torch(function), devices=TORCH)
    assert kind in kinds(report)
    assert all(finding.device == "libtorch:cpu" for finding in report.findings)


def test_an_index_operation_is_checked_with_valid_indices() -> None:
    @backend_extension(Flex, NdArray)
    class Picks(OpSet[P]):
        def pick(self, x: FloatTensor[P], ids: IntTensor[P]) -> FloatTensor[P]:
            return self.backend.float_select(x, 0, ids)

    def pick(self: Any, x: Array, ids: Array) -> Array:
        return x[ids]

    implement(Picks, Flex, pick=pick)
    Picks.default_on(NdArray)
    assert check(Picks, devices=ARRAYS).findings == []
