"""Gradient checkpointing: what is kept, what is computed again, and how often."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, raw, run, shown, without_collector

from firebrick import Device, Gradients, Tensor
from firebrick.decorators.autodiff import AutodiffTensor, autodiff_of
from firebrick.dispatch import backend_for
from firebrick.errors import AutodiffError, CheckpointingMismatchError
from firebrick.extension import (
    Autodiff,
    Backend,
    Backward,
    BalancedCheckpointing,
    Checkpointer,
    FloatTensor,
    Grads,
    IntTensor,
    NdArray,
    Need,
    NoCheckpointing,
    NoDefault,
    NodeId,
    Ops,
    OpSet,
    P,
    Saved,
    Tracked,
    backend_extension,
    dispatch,
    gradient,
)

Array = np.ndarray[Any, np.dtype[Any]]
RECOMPUTED_CHAIN = 5_000

calls: list[str] = []
made: list[weakref.ref[Any]] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    calls.clear()
    made.clear()


@pytest.fixture(scope="module")
def plain() -> Device:
    return Device.ndarray().autodiff()


@pytest.fixture(scope="module")
def balanced() -> Device:
    return Device.ndarray().autodiff(checkpointing=BalancedCheckpointing)


def noted(name: str, out: Array) -> Array:
    calls.append(name)
    made.append(weakref.ref(out))
    return out


@backend_extension(NdArray, Autodiff)
class Counted(OpSet[P]):
    def cheap(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def costly(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def ranked(self, x: FloatTensor[P], *, shift: int = 1) -> tuple[FloatTensor[P], IntTensor[P]]:
        raise NoDefault


class NdArrayCounted(Counted[Array], on=NdArray):
    def cheap(self, x: Array) -> Array:
        return noted("cheap", np.sin(x))

    def costly(self, x: Array) -> Array:
        return noted("costly", np.exp(x))

    def ranked(self, x: Array, *, shift: int = 2) -> tuple[Array, Array]:
        order = np.roll(np.argsort(x), shift)
        return noted("ranked", x[order]), order


class AutodiffCounted(Counted[AutodiffTensor], on=Autodiff):
    @gradient(save=("x",), cost="memory")
    def cheap(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        return {"x": b.float_mul(grad, b.float_cos(saved.x))}

    @gradient(save=("out",), cost="compute")
    def costly(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_mul(grad, saved.out)}

    @gradient(save=("out.1",), cost="memory")
    def ranked(self, saved: Saved, grad: P, need: Need) -> Grads:
        b = self.inner.backend
        spec = saved.spec("x")
        zeros = b.float_zeros(spec.shape, b.device_of(grad), spec.dtype)
        return {"x": b.float_select_add(zeros, 0, saved["out.1"], grad)}


counted = dispatch(Counted)


def program(x: Tensor) -> Tensor:
    """cheap(cheap(x)) used by two costly calls."""
    inner = run(counted.cheap, run(counted.cheap, x))
    return run(counted.costly, inner) * run(counted.costly, inner * 2.0)


def test_both_strategies_give_the_same_gradients(plain: Device, balanced: Device) -> None:
    found: list[Any] = []
    for device in (plain, balanced):
        x = leaf([0.3, -1.2], device)
        found.append(x.grad(program(x).backward()).tolist())
    assert found[0] == found[1]


def test_cheap_values_are_kept_without_checkpointing(plain: Device) -> None:
    y = program(leaf([0.3], plain))
    calls.clear()
    y.backward()
    assert calls == []


def test_cheap_values_are_not_kept_when_checkpointing(balanced: Device) -> None:
    with without_collector():
        y = program(leaf([0.3], balanced))
        kept = [name for name, ref in zip(calls, made, strict=True) if ref() is not None]
        assert kept == ["costly", "costly"]
        del y


def test_each_value_is_computed_again_once(balanced: Device) -> None:
    y = program(leaf([0.3], balanced))
    calls.clear()
    y.backward()
    assert calls == ["cheap"]  # the outer one is read by nobody


def test_recomputed_values_go_while_the_pass_runs(balanced: Device) -> None:
    alive: list[int] = []

    class Last(Backward[None]):
        def backward(
            self, backend: Backend[Any], ops: Ops[None], grads: Gradients, checkpointer: Any
        ) -> None:
            alive.append(sum(ref() is not None for ref in made))
            (parent,) = ops.parents
            assert parent is not None
            grads.register(parent, grads.consume(ops.node))

    with without_collector():
        x = raw(leaf([0.3], balanced))
        first = Last.prepare(NoCheckpointing, x.node).compute_bound().stateless(x.primitive + 0.0)
        y = shown(first)
        for _ in range(50):
            y = run(counted.cheap, y)
        made.clear()
        y.backward()
    assert alive == [0]


def test_an_int_output_is_computed_again(balanced: Device) -> None:
    x = leaf([3.0, 1.0, 2.0], balanced)
    values, _ = run(counted.ranked, x, shift=0)
    weights = Tensor(np.array([1.0, 10.0, 100.0]), balanced)
    calls.clear()
    assert x.grad((values * weights).backward()).tolist() == [100.0, 1.0, 10.0]
    assert calls == ["ranked"]


def test_keyword_arguments_are_given_again(balanced: Device) -> None:
    x = leaf([3.0, 1.0, 2.0], balanced)
    values, _ = run(counted.ranked, x, shift=1)
    assert values.tolist() == [3.0, 1.0, 2.0]
    weights = Tensor(np.array([1.0, 10.0, 100.0]), balanced)
    out = (values.sin() * weights).backward()
    np.testing.assert_allclose(
        x.grad(out).numpy(), [np.cos(3.0), 10.0 * np.cos(1.0), 100.0 * np.cos(2.0)], rtol=1e-15
    )


def test_a_value_from_an_output_of_several_is_computed_again(balanced: Device) -> None:
    x = leaf([3.0, 1.0, 2.0], balanced)
    out = run(counted.costly, run(counted.cheap, run(counted.ranked, x)[0]))
    expected = np.exp(np.sin([3.0, 1.0, 2.0])) * np.cos([3.0, 1.0, 2.0])
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), expected, rtol=1e-15)


def test_a_long_chain_is_computed_again_without_recursion(balanced: Device) -> None:
    x = leaf([0.5], balanced)
    y = x
    for _ in range(RECOMPUTED_CHAIN):
        y = y.sin()
    value, slope = 0.5, 1.0
    for _ in range(RECOMPUTED_CHAIN):
        slope *= math.cos(value)
        value = math.sin(value)
    np.testing.assert_allclose(x.grad(y.backward()).numpy(), [slope], rtol=1e-10)


def test_a_ladder_of_diamonds_is_computed_again_in_linear_time(balanced: Device) -> None:
    x = leaf([0.1], balanced)
    y = x
    for _ in range(100):
        y = (y * y + y) * 0.5
    value, slope = 0.1, 1.0
    for _ in range(100):
        slope *= value + 0.5
        value = (value * value + value) * 0.5
    np.testing.assert_allclose(x.grad(y.backward()).numpy(), [slope], rtol=1e-12)


def test_gradients_of_a_checkpointed_pass_are_differentiated(balanced: Device) -> None:
    # d2/dx2 exp(sin x) = exp(sin x) (cos^2 x - sin x)
    x = leaf([0.7], balanced)
    first = x.grad(run(counted.costly, run(counted.cheap, x)).backward(create_graph=True))
    second = x.grad(first.backward(create_graph=True))
    s, c = np.sin(0.7), np.cos(0.7)
    np.testing.assert_allclose(second.numpy(), [np.exp(s) * (c * c - s)], rtol=1e-14)
    third = x.grad(second.backward())
    np.testing.assert_allclose(third.numpy(), [np.exp(s) * c * (c * c - 3 * s - 1)], rtol=1e-13)


def test_a_failed_pass_is_recomputed_afresh(balanced: Device, monkeypatch: Any) -> None:
    x = leaf([0.3], balanced)
    y = run(counted.costly, run(counted.cheap, run(counted.cheap, x)))

    def fail(values: Array) -> Array:
        raise MemoryError("while recomputing")

    with monkeypatch.context() as patch:
        patch.setattr(np, "sin", fail)
        with pytest.raises(MemoryError, match="while recomputing"):
            y.backward()
    s = np.sin(0.3)
    expected = np.exp(np.sin(s)) * np.cos(s) * np.cos(0.3)
    np.testing.assert_allclose(x.grad(y.backward()).numpy(), [expected], rtol=1e-15)


# ---- the long form ---------------------------------------------------------------------------


class Sine(Backward[NodeId]):
    """The sine, from the checkpointed operand."""

    def backward(
        self, backend: Backend[Any], ops: Ops[NodeId], grads: Gradients, checkpointer: Checkpointer
    ) -> None:
        (parent, *_) = ops.parents
        value = checkpointer.retrieve_node_output(ops.state)
        if parent is not None:
            slope = backend.float_mul(grads.consume(ops.node), backend.float_cos(value))
            grads.register(parent, slope)


def sine(x: AutodiffTensor, recompute: Any = None, *others: AutodiffTensor) -> AutodiffTensor:
    """Memory bound; recomputed with `recompute(backend, x, *others)`."""

    def again(backend: Backend[Any], value: Any, *rest: Any) -> Any:
        calls.append("again")
        return backend.float_sin(value)

    tensors = (x, *others)
    builder = Sine.prepare(x.owner.checkpointing, *(tensor.node for tensor in tensors))
    prepared = builder.memory_bound().retro_forward(recompute or again).parents(*tensors)
    match prepared.stateful():
        case Tracked(prep):
            return prep.finish(prep.checkpoint(x), np.sin(x.primitive))
        case untracked:
            return untracked.prep.finish(np.sin(x.primitive))


def sines(x: AutodiffTensor, count: int) -> AutodiffTensor:
    for _ in range(count):
        x = sine(x)
    return x


@pytest.mark.parametrize(("count", "again"), [(1, 0), (2, 1), (5, 4)])
def test_the_long_form_computes_its_parents_again(balanced: Device, count: int, again: int) -> None:
    x = leaf([0.5], balanced)
    out = shown(sines(raw(x), count))
    value, slope = 0.5, 1.0
    for _ in range(count):
        slope *= math.cos(value)
        value = math.sin(value)
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), [slope], rtol=1e-15)
    assert calls == ["again"] * again


def test_the_long_form_keeps_values_without_checkpointing(plain: Device) -> None:
    x = leaf([0.5], plain)
    shown(sines(raw(x), 5)).backward()
    assert calls == []


def test_an_untracked_parent_of_a_memory_bound_call_is_kept(balanced: Device) -> None:
    x, c = leaf([0.5], balanced), Tensor(np.array([2.0]), balanced)

    def again(backend: Backend[Any], value: Any, constant: Any) -> Any:
        calls.append(f"with {constant.tolist()}")
        return backend.float_sin(value)

    inner = sine(raw(x), again, raw(c))
    out = shown(sine(inner))
    expected = math.cos(math.sin(0.5)) * math.cos(0.5)
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), [expected], rtol=1e-15)
    assert calls == ["with [2.0]"]


def test_memory_bound_children_of_untracked_calls_keep_their_values(balanced: Device) -> None:
    inner = sines(raw(Tensor(np.array([0.5]), balanced)), 3)
    assert not inner.is_tracked
    x = leaf([2.0], balanced)
    out = shown(inner) * x
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), inner.primitive, rtol=0)


def test_a_checkpoint_of_a_tensor_beside_the_inputs_keeps_its_value(balanced: Device) -> None:
    # its part of the graph may be consumed before this pass asks for the value
    x, other = leaf([0.5], balanced), leaf([0.25], balanced)
    beside = sine(raw(other))
    source = raw(x)
    prepared = Sine.prepare(BalancedCheckpointing, source.node).compute_bound().stateful()
    assert isinstance(prepared, Tracked)
    out = prepared.prep.finish(prepared.prep.checkpoint(beside), source.primitive * 1.0)
    shown(beside).backward()
    np.testing.assert_allclose(
        x.grad(shown(out).backward()).numpy(), [math.cos(math.sin(0.25))], rtol=1e-15
    )


OTHERS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda b, x: "x", r"returned a str; it returns the output again, a float tensor of `nda"),
    (lambda b, x: np.arange(1), r"returned a ndarray of dtype int64; it returns the output"),
    (lambda b, x: np.ones(3), r"returned shape \[3\] and dtype float64, where .*shape \[1\]"),
    (
        lambda b, x: np.ones(1, np.float32),
        r".* dtype float32, where the call had .* and float64",
    ),
]


@pytest.mark.parametrize(("value", "message"), OTHERS)
def test_recomputing_something_else_is_refused(balanced: Device, value: Any, message: str) -> None:
    out = shown(sine(sine(raw(leaf([0.5], balanced)), value)))
    with pytest.raises(AutodiffError, match=r"`Sine`: `retro_forward` " + message):
        out.backward()


def test_a_recompute_function_cannot_write_what_is_kept(balanced: Device) -> None:
    def writes(backend: Backend[Any], value: Any) -> Any:
        value[0] = 9.0
        return value

    out = shown(sine(sine(raw(leaf([0.5], balanced)), writes)))
    with pytest.raises(ValueError, match="read-only"):
        out.backward()


def test_second_derivatives_pass_through_the_long_form(balanced: Device) -> None:
    x = leaf([0.5], balanced)
    first = x.grad(shown(sines(raw(x), 2)).backward(create_graph=True))
    s, c = math.sin(0.5), math.cos(0.5)
    expected = -math.sin(s) * c * c - math.cos(s) * s
    np.testing.assert_allclose(x.grad(first.backward()).numpy(), [expected], rtol=1e-14)


# ---- strategies ------------------------------------------------------------------------------


class Own(BalancedCheckpointing):
    """A strategy of somebody's own."""


def test_a_strategy_of_ones_own_behaves_like_its_base() -> None:
    device = Device.ndarray().autodiff(checkpointing=Own)
    x = leaf([0.5], device)
    out = shown(sines(raw(x), 2))
    assert out.checkpointing is Own
    out.backward()
    assert calls == ["again"]
    assert autodiff_of(backend_for(Device.ndarray()), Own).recomputes


def test_strategies_of_one_backend_do_not_mix(plain: Device, balanced: Device) -> None:
    with pytest.raises(CheckpointingMismatchError, match=r"NoCheckpointing.*BalancedCheckpointing"):
        _ = leaf([1.0], plain) * leaf([1.0], balanced)


def test_devices_of_several_strategies_work_side_by_side(plain: Device, balanced: Device) -> None:
    for device in (plain, balanced, Device.flex().autodiff(), plain.inner().autodiff()):
        x = leaf([2.0], device)
        assert x.grad((x * x).backward()).tolist() == [4.0]
