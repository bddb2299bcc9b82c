"""Faults of gradients, and of everything that only happens when operations are differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.testing.planted import ARRAYS, FLEX, doubling, kinds, message

from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    BalancedCheckpointing,
    Flex,
    FloatTensor,
    Grads,
    IntTensor,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    gradient,
)
from firebrick.testing import check

Rule = Callable[[Any, Saved, Any, Need], Any]


def rule(value: Rule, *, save: tuple[str, ...] = ()) -> Any:
    """A rule of `x + x` that returns what `value` makes of the inner backend."""

    @gradient(save=save)
    def double(self: OpSet[AutodiffTensor], saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": value(self.inner.backend, saved, grad, need)}

    return double


def right(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
    return b.float_mul_scalar(grad, 2.0)


def raising(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
    raise RuntimeError("not now")


def test_a_right_rule_has_no_findings() -> None:
    assert check(doubling(lambda x: x + x, rule(right)), devices=ARRAYS).findings == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda b, saved, grad, need: grad, "by central differences"),
        (lambda b, saved, grad, need: b.float_mul_scalar(grad, 2.0001), "by central differences"),
        (lambda b, saved, grad, need: None, "is 0, but"),
        (raising, "RuntimeError: not now"),
        (lambda b, saved, grad, need: b.float_sum(grad), "GradientError"),
    ],
    ids=["factor", "small", "none", "raises", "shape"],
)
def test_a_wrong_rule_is_a_gradient_finding_on_every_device(value: Rule, expected: str) -> None:
    report = check(doubling(lambda x: x + x, rule(value)), devices=ARRAYS)
    assert kinds(report) == {"gradient"}
    assert {finding.device for finding in report.findings} == {"flex", "ndarray"}
    assert all(expected in finding.message for finding in report.findings)
    assert all("with x float [2, 3]" in finding.message for finding in report.findings)


def test_a_wrong_forward_does_not_make_a_right_rule_wrong() -> None:
    report = check(doubling(lambda x: x * 3, rule(right)), devices=FLEX)
    assert kinds(report) == {"forward"}


def test_a_rule_that_needs_a_packed_gradient_is_found() -> None:
    def packed(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        array = getattr(grad, "primitive", grad)
        if array.ndim and not array.flags.c_contiguous:
            raise ValueError("strides")
        return b.float_mul_scalar(grad, 2.0)

    report = check(doubling(lambda x: x + x, rule(packed)), devices=FLEX)
    assert "gradient" in kinds(report)
    assert "transposed" in message(report, "gradient")


def multiplying(lhs_rule: Rule) -> type[OpSet[Any]]:
    @backend_extension(Flex, Autodiff)
    class Products(OpSet[P]):
        def product(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_mul(lhs, rhs)

    class AutodiffProducts(Products[AutodiffTensor], on=Autodiff):
        @gradient(save=("lhs", "rhs"))
        def product(self, saved: Saved, grad: P, need: Need) -> Grads:
            b = self.inner.backend
            return {
                "lhs": lhs_rule(b, saved, grad, need),
                "rhs": b.float_mul(grad, saved.lhs) if need.rhs else None,
            }

    Products.default_on(Flex)
    return Products


def test_a_rule_that_is_wrong_when_one_input_is_tracked_is_found() -> None:
    def careless(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        return b.float_mul(grad, saved.rhs) if need.rhs else grad

    assert check(multiplying(lambda b, s, g, n: b.float_mul(g, s.rhs)), devices=FLEX).ok
    report = check(multiplying(careless), devices=FLEX)
    assert "when nothing else is tracked" in message(report, "gradient")


def test_a_rule_that_forgets_repeated_indices_is_found() -> None:
    @backend_extension(Flex, Autodiff)
    class Picks(OpSet[P]):
        def pick(self, x: FloatTensor[P], ids: IntTensor[P]) -> FloatTensor[P]:
            return self.backend.float_select(x, 0, ids)

    class AutodiffPicks(Picks[AutodiffTensor], on=Autodiff):
        @gradient(save=("ids",))
        def pick(self, saved: Saved, grad: P, need: Need) -> Grads:
            b = self.inner.backend
            spec = saved.spec("x")
            zeros = b.float_zeros(spec.shape, b.device_of(grad), spec.dtype)
            return {"x": b.float_select_assign(zeros, 0, saved.ids, grad, "assign")}

    Picks.default_on(Flex)
    assert "gradient" in kinds(check(Picks, devices=FLEX))


def test_a_rule_that_cuts_the_recorded_graph_is_a_second_gradient_finding() -> None:
    def cut(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        return b.float_mul(grad, b.float_detach(saved.rhs))

    report = check(multiplying(cut), devices=FLEX)
    assert kinds(report) == {"second gradient"}
    assert "along a random direction the gradient for `" in message(report, "second gradient")


def test_gradients_that_depend_on_checkpointing_are_found() -> None:
    @backend_extension(Flex, Autodiff)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class AutodiffDoubles(Doubles[AutodiffTensor], on=Autodiff):
        def double(self, x: AutodiffTensor) -> AutodiffTensor:
            factor = 3.0 if self.checkpointing is BalancedCheckpointing else 2.0
            return self.backend.float_mul_scalar(x, factor)

    Doubles.default_on(Flex)
    report = check(Doubles, devices=FLEX)
    assert kinds(report) == {"checkpointing"}
    assert "recomputed when checkpointing" in message(report, "checkpointing")


def test_a_tracked_result_that_differs_from_the_untracked_one_is_forward() -> None:
    @backend_extension(Flex, Autodiff)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class AutodiffDoubles(Doubles[AutodiffTensor], on=Autodiff):
        def double(self, x: AutodiffTensor) -> AutodiffTensor:
            return self.backend.float_mul_scalar(x, 3.0)

    Doubles.default_on(Flex)
    assert "tracked, " in message(check(Doubles, devices=FLEX), "forward")


def test_an_operation_that_raises_only_when_tracked_is_an_error() -> None:
    @backend_extension(Flex, Autodiff)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class AutodiffDoubles(Doubles[AutodiffTensor], on=Autodiff):
        def double(self, x: AutodiffTensor) -> AutodiffTensor:
            raise RuntimeError("not differentiable")

    Doubles.default_on(Flex)
    assert "tracked: RuntimeError" in message(check(Doubles, devices=FLEX), "error")


def test_an_operation_declared_without_a_gradient_is_right() -> None:
    report = check(doubling(lambda x: x + x, gradient(None)), devices=ARRAYS)
    assert report.findings == []


def test_kinks_are_no_faults() -> None:
    @backend_extension(Flex, NdArray, Autodiff)
    class Kinks(OpSet[P]):
        def clip(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_clamp(x, 0.0, 1.0)

        def size(self, x: FloatTensor[P], y: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_abs(self.backend.float_sub(x, y))

    Kinks.default_on(Flex, NdArray, Autodiff)
    assert check(Kinks, devices=ARRAYS).findings == []


def test_an_operation_that_computes_in_float32_has_no_wrong_gradient() -> None:
    @backend_extension(Flex, Autodiff)
    class Products(OpSet[P]):
        def square(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_mul(x, x)

    class FlexProducts(Products[np.ndarray], on=Flex):
        def square(self, x: np.ndarray) -> np.ndarray:
            return np.square(x.astype(np.float32)).astype(x.dtype)

    class AutodiffProducts(Products[AutodiffTensor], on=Autodiff):
        @gradient(save=("x",))
        def square(self, saved: Saved, grad: P, need: Need) -> Grads:
            b = self.inner.backend
            return {"x": b.float_mul_scalar(b.float_mul(grad, saved.x), 2.0)}

    assert "gradient" not in kinds(check(Products, devices=FLEX))


@pytest.mark.parametrize("name", ["float_log", "float_sqrt", "float_recip"])
def test_functions_that_are_defined_for_some_numbers_only_have_gradients_there(name: str) -> None:
    @backend_extension(Flex, NdArray, Autodiff)
    class Partial(OpSet[P]):
        def partial(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return getattr(self.backend, name)(x)

    class Wrong(Partial[AutodiffTensor], on=Autodiff):
        @gradient()
        def partial(self, saved: Saved, grad: P, need: Need) -> Grads:
            return {"x": grad}

    Partial.default_on(Flex, NdArray)
    assert "gradient" in kinds(check(Partial, devices=FLEX))


def test_an_operation_without_floats_is_not_differentiated() -> None:
    @backend_extension(Flex, NdArray, Autodiff)
    class Counts(OpSet[P]):
        def negate(self, x: IntTensor[P]) -> IntTensor[P]:
            return self.backend.int_neg(x)

        def make(self, x: IntTensor[P]) -> IntTensor[P]:
            raise NoDefault

    class ArrayCounts(Counts[np.ndarray], on=Flex):
        def make(self, x: np.ndarray) -> np.ndarray:
            return x + x

    Counts.default_on(NdArray, Autodiff)
    report = check(Counts, devices=FLEX)
    assert kinds(report) == {"missing"}  # `make` on autodiff
