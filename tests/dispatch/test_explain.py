"""`explain`: what a call would run and why not the others, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.opset.calling import Array, floats, ints, ones

from firebrick import Device, Tensor
from firebrick.backend import FloatOps
from firebrick.errors import DispatchError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Cube,
    Flex,
    Float,
    FloatTensor,
    Fusion,
    Grads,
    IntTensor,
    LibTorch,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    explain,
    fusion,
    gradient,
    op,
    when,
)

calls: list[str] = []
HERE = Path(__file__).name


def broken() -> bool:
    raise OSError("no driver")


@backend_extension(
    Flex, NdArray, Autodiff, when(Cube, False), when(LibTorch, broken), when(Fusion, True)
)
class Ops(OpSet[P]):
    @fusion(dtype="x", shape="x")
    def double(self, x: FloatTensor[P], by: float = 2.0) -> FloatTensor[P]:
        calls.append("double")
        return self.backend.float_mul_scalar(x, by)

    @fusion(dtype="x", shape="x")
    def ruled(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    @fusion(dtype="x", shape="x")
    def unruled(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    @fusion(dtype="ids", shape="ids")
    def ids(self, ids: IntTensor[P]) -> IntTensor[P]:
        return ids

    def sized(self, x: Float[P, "n"], y: Float[P, "n"]) -> Float[P, "n"]:
        return x


class FlexOps(Ops[Array], on=Flex):
    def ruled(self, x: Array) -> Array:
        return x

    def unruled(self, x: Array) -> Array:
        return x


class AutodiffOps(Ops[AutodiffTensor], on=Autodiff):
    @gradient()
    def ruled(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}


ops = dispatch(Ops)


def test_nothing_is_executed(flex: Device) -> None:
    assert explain(ops.double, floats([1.0], flex), by=3.0).chosen == "Flex"
    assert calls == []


def test_user_tensors_and_dispatched_ones_are_taken(flex: Device) -> None:
    x = floats([1.0], flex)
    assert explain(ops.double, x) == explain(ops.double, x.into_dispatch())


def test_every_other_selector_has_a_reason(flex: Device) -> None:
    told = explain(ops.double, floats([1.0], flex))
    assert dict(told.rejected) == {
        "NdArray": "`Ops.double` lists `NdArray`, but nobody implemented `Ops` for it; add `class "
        "NdArrayOps(Ops[ndarray], on=NdArray): ...` or `Ops.default_on(NdArray)`.",
        "Autodiff": "the call has no float on an autodiff device, or nothing to differentiate",
        "Cube": "its condition is false",
        "LibTorch": "the condition of `LibTorch` raised OSError (no driver); a condition answers "
        "with a bool.",
        "Fusion": "backend `flex` is not fused",
    }


def test_a_call_on_an_autodiff_device_reaches_the_autodiff_class(tracked: Device) -> None:
    told = explain(ops.ruled, floats([1.0], tracked))
    assert told.chosen == "Autodiff"
    assert HERE in told.where
    assert told.rejected["Flex"] == "the tensors are on backend `flex`"


def test_a_call_without_a_float_reaches_the_concrete_class(tracked: Device) -> None:
    assert explain(ops.ids, ints([1], tracked)).chosen == "Flex"


def test_an_untracked_call_without_a_rule_reaches_the_concrete_class(tracked: Device) -> None:
    assert explain(ops.unruled, floats([1.0], tracked)).chosen == "Flex"


def test_a_tracked_call_without_a_rule_would_fail(tracked: Device) -> None:
    told = explain(ops.unruled, floats([1.0], tracked).require_grad())
    assert told.chosen is None
    assert told.rejected["Autodiff"].startswith(
        "the call is tracked, and nothing differentiates `Ops.unruled`"
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            (ints([1], Device.flex()),),
            "`x` is declared a tensor of kind float; got a tensor of kind i",
        ),
        ((None,), "`x` is declared a tensor of kind float; got None"),
    ],
)
def test_a_call_that_cannot_be_routed_says_why(arguments: Any, reason: str) -> None:
    told = explain(ops.double, *arguments)
    assert told.chosen is None
    assert reason in told.rejected["call"]


def test_dimensions_that_do_not_fit_are_told(flex: Device) -> None:
    told = explain(ops.sized, ones((2,), flex), ones((3,), flex))
    assert told.chosen is None
    assert "`n` is 2 in `x` but 3 here" in told.rejected["call"]


@pytest.mark.parametrize(
    ("device", "selector", "reason"),
    [
        (Device.ndarray(), "NdArray", "nobody implemented `Ops` for it"),
        (Device.libtorch(), "LibTorch", "the condition of `LibTorch` raised OSError"),
    ],
)
def test_a_selector_that_would_fail_has_the_error_as_its_reason(
    device: Device, selector: str, reason: str
) -> None:
    if selector == "LibTorch":
        pytest.importorskip("torch")
    told = explain(ops.double, floats([1.0], device))
    assert told.chosen is None
    assert reason in told.rejected[selector]


def test_a_backend_that_is_not_listed_is_named(flex: Device) -> None:
    @backend_extension(NdArray)
    class Only(OpSet[P]):
        def same(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return x

    told = explain(dispatch(Only).same, floats([1.0], flex))
    assert (told.chosen, list(told.rejected)) == (None, ["NdArray", "Flex"])
    assert "`Only.same` does not support backend `flex`" in told.rejected["Flex"]


def test_the_short_form_is_explained(flex: Device) -> None:
    @op(Flex, NdArray)
    def same(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x

    told = explain(same, floats([1.0], flex))
    assert (told.operation, told.chosen) == ("Same.same", "Flex")
    assert HERE in told.where


def test_built_in_operations_are_explained(flex: Device, tracked: Device) -> None:
    x = floats([1.0], flex)
    told = explain(dispatch(FloatOps).float_add, x, x)
    assert told.chosen == "Flex"
    assert told.where
    y = floats([1.0], tracked)
    assert explain(dispatch(FloatOps).float_add, y, y).chosen == "Autodiff"


def test_the_text_is_a_table_with_the_choice_first(flex: Device) -> None:
    lines = str(explain(ops.double, floats([1.0], flex))).splitlines()
    assert lines[0] == "`Ops.double`"
    assert lines[1].split()[:2] == ["Flex", "runs"]
    assert HERE in lines[1]
    assert "  Cube       not: its condition is false" in lines


def test_wrong_arguments_are_those_of_the_call(flex: Device) -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        explain(ops.double)


@pytest.mark.parametrize("value", [len, 3, Ops.double], ids=["builtin", "number", "method"])
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(
        DispatchError, match=r"`explain` takes an `@op` function or `dispatch\(Ops\)"
    ):
        explain(value)
