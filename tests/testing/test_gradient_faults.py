"""Faults of gradients, and of everything that only happens when operations are differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.testing.planted import ARRAYS, FLEX, Array, doubling, implement, kinds, message, method

from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Backend,
    Backward,
    BalancedCheckpointing,
    Checkpointer,
    Flex,
    FloatTensor,
    Gradients,
    Grads,
    IntTensor,
    NdArray,
    Need,
    NoDefault,
    Ops,
    OpSet,
    P,
    Saved,
    Tracked,
    Untracked,
    backend_extension,
    gradient,
)
from firebrick.testing import check

Rule = Callable[[Any, Saved, Any, Need], Any]


def rule(value: Rule) -> Any:
    """A rule of `x + x` that returns what `value` makes of the inner backend."""

    @gradient()
    def double(self: OpSet[Any], saved: Saved, grad: Any, need: Need) -> Grads:
        return {"x": value(self.inner.backend, saved, grad, need)}

    return double


def right(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
    return b.float_mul_scalar(grad, 2.0)


def raising(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
    raise RuntimeError("not now")


def test_a_right_rule_has_no_findings() -> None:
    assert check(doubling(lambda x: x + x, rule(right)), devices=ARRAYS).findings == []


WRONG_RULES: dict[str, tuple[Rule, str]] = {
    "factor": (lambda b, saved, grad, need: grad, "by central differences"),
    "small": (
        lambda b, saved, grad, need: b.float_mul_scalar(grad, 2.0001),
        "by central differences",
    ),
    "none": (lambda b, saved, grad, need: None, "is 0, but"),
    "raises": (raising, "RuntimeError: not now"),
    "shape": (lambda b, saved, grad, need: b.float_sum(grad), "GradientError"),
}


@pytest.mark.parametrize(("value", "expected"), WRONG_RULES.values(), ids=WRONG_RULES)
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

    @gradient(save=("lhs", "rhs"))
    def product(self: OpSet[Any], saved: Saved, grad: Any, need: Need) -> Grads:
        b = self.inner.backend
        return {
            "lhs": lhs_rule(b, saved, grad, need),
            "rhs": b.float_mul(grad, saved.lhs) if need.rhs else None,
        }

    implement(Products, Autodiff, product=product)
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

    @gradient(save=("ids",))
    def pick(self: OpSet[Any], saved: Saved, grad: Any, need: Need) -> Grads:
        b = self.inner.backend
        spec = saved.spec("x")
        zeros = b.float_zeros(spec.shape, b.device_of(grad), spec.dtype)
        return {"x": b.float_select_assign(zeros, 0, saved.ids, grad, "assign")}

    implement(Picks, Autodiff, pick=pick)
    Picks.default_on(Flex)
    assert "gradient" in kinds(check(Picks, devices=FLEX))


def test_a_rule_that_cuts_the_recorded_graph_is_a_second_gradient_finding() -> None:
    def cut(b: Any, saved: Saved, grad: Any, need: Need) -> Any:
        return b.float_mul(grad, b.float_detach(saved.rhs))

    report = check(multiplying(cut), devices=FLEX)
    assert kinds(report) == {"second gradient"}
    assert "along a random direction the gradient for `" in message(report, "second gradient")


def by_checkpointing(self: OpSet[Any], x: AutodiffTensor) -> Any:
    factor = 3.0 if self.checkpointing is BalancedCheckpointing else 2.0
    return self.backend.float_mul_scalar(x, factor)


def tripled(self: OpSet[Any], x: AutodiffTensor) -> Any:
    return self.backend.float_mul_scalar(x, 3.0)


def refusing(self: OpSet[Any], x: AutodiffTensor) -> Any:
    raise RuntimeError("not differentiable")


class Masked(Backward[Any]):
    """The backward pass of `x + x` with a factor in its state, which cannot be recorded."""

    def backward(
        self, backend: Backend[Any], ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer
    ) -> None:
        grad = backend.float_mul(grads.consume(ops.node), ops.state)
        (parent,) = ops.parents
        if parent is not None:
            grads.register(parent, grad)


def long_form(self: OpSet[Any], x: AutodiffTensor) -> Any:
    b = self.inner.backend
    out = b.float_add(x.primitive, x.primitive)
    twos = b.float_full(x.shape, 2.0, x.device, x.dtype)
    match Masked.prepare(self.checkpointing, x.node).compute_bound().stateful():
        case Tracked(prep):
            return prep.finish(twos, out)
        case Untracked(prep):
            return prep.finish(out)


def test_a_second_derivative_that_the_engine_refuses_is_noted() -> None:
    report = check(doubling(lambda x: x + x, long_form), devices=FLEX)
    assert report.findings == []
    (note,) = report.notes
    assert note.startswith("double on flex: second derivatives are refused: AutodiffError: ")


def test_gradients_that_depend_on_checkpointing_are_found() -> None:
    report = check(doubling(lambda x: x + x, by_checkpointing), devices=FLEX)
    assert kinds(report) == {"checkpointing"}
    assert "recomputed when checkpointing" in message(report, "checkpointing")


def test_a_tracked_result_that_differs_from_the_untracked_one_is_forward() -> None:
    report = check(doubling(lambda x: x + x, tripled), devices=FLEX)
    assert "tracked, " in message(report, "forward")


def test_an_operation_that_raises_only_when_tracked_is_an_error() -> None:
    report = check(doubling(lambda x: x + x, refusing), devices=FLEX)
    assert "tracked: RuntimeError" in message(report, "error")


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

    def coarse(x: Array) -> Array:
        return np.square(x.astype(np.float32)).astype(x.dtype)

    @gradient(save=("x",))
    def square(self: OpSet[Any], saved: Saved, grad: Any, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_mul_scalar(b.float_mul(grad, saved.x), 2.0)}

    implement(Products, Flex, square=method(coarse))
    implement(Products, Autodiff, square=square)
    assert "gradient" not in kinds(check(Products, devices=FLEX))


@pytest.mark.parametrize("name", ["float_log", "float_sqrt", "float_recip"])
def test_functions_that_are_defined_for_some_numbers_only_have_gradients_there(name: str) -> None:
    @backend_extension(Flex, NdArray, Autodiff)
    class Partial(OpSet[P]):
        def partial(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return getattr(self.backend, name)(x)

    @gradient()
    def partial(self: OpSet[Any], saved: Saved, grad: Any, need: Need) -> Grads:
        return {"x": grad}

    implement(Partial, Autodiff, partial=partial)
    Partial.default_on(Flex, NdArray)
    assert "gradient" in kinds(check(Partial, devices=FLEX))


def test_an_operation_without_floats_is_not_differentiated() -> None:
    @backend_extension(Flex, NdArray, Autodiff)
    class Counts(OpSet[P]):
        def negate(self, x: IntTensor[P]) -> IntTensor[P]:
            return self.backend.int_neg(x)

        def make(self, x: IntTensor[P]) -> IntTensor[P]:
            raise NoDefault

    def make(x: Array) -> Array:
        return x + x

    implement(Counts, Flex, make=method(make))
    Counts.default_on(NdArray, Autodiff)
    report = check(Counts, devices=FLEX)
    assert kinds(report) == {"missing"}  # `make` on autodiff
