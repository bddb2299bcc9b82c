"""Backward passes in the long form: what the builder takes, what a pass may ask and register."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, raw, shown, without_collector

from firebrick import Device, Gradients, Tensor, float32
from firebrick.decorators.autodiff import AutodiffTensor, autodiff_of
from firebrick.dispatch import backend_for
from firebrick.errors import AutodiffError, GradientError, KindError
from firebrick.extension import (
    Backend,
    Backward,
    BalancedCheckpointing,
    Checkpointer,
    NoCheckpointing,
    NodeId,
    Ops,
    Tracked,
    Untracked,
    broadcast_shape,
)

Body = Callable[[Any, Ops[Any], Gradients, Checkpointer], None]


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray().autodiff()


bodies: list[Body] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    bodies.clear()


class Scripted(Backward[Any]):
    """What the test at hand wants."""

    def backward(
        self, backend: Backend[Any], ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer
    ) -> None:
        bodies[0](backend, ops, grads, checkpointer)


def multiplied(
    x: AutodiffTensor, y: AutodiffTensor, state: Callable[[Any], Any] = lambda prep: None
) -> AutodiffTensor:
    """`x * y`, recorded with a backward pass of the test."""
    output = x.primitive * y.primitive
    prepared = Scripted.prepare(x.owner.checkpointing, x.node, y.node).compute_bound()
    match prepared.stateful():
        case Tracked(prep):
            return prep.finish(state(prep), output)
        case Untracked(prep):
            return prep.finish(output)


def by_ids(
    backend: Any, ops: Ops[tuple[NodeId, NodeId]], grads: Gradients, checkpointer: Checkpointer
) -> None:
    """The product rule, with checkpointed operands."""
    grad = grads.consume(ops.node)
    for parent, other in zip(ops.parents, reversed(ops.state), strict=True):
        if parent is not None:
            value = checkpointer.retrieve_node_output(other)
            product = backend.float_mul(grad, value)
            grads.register(parent, broadcast_shape(backend, product, parent.shape))


def checkpointed(x: AutodiffTensor, y: AutodiffTensor) -> AutodiffTensor:
    return multiplied(x, y, lambda prep: (prep.checkpoint(x), prep.checkpoint(y)))


# ---- a right pass ----------------------------------------------------------------------------


def test_registered_gradients_reach_the_leaves(ndarray: Device) -> None:
    bodies.append(by_ids)
    x, y = leaf([2.0, 3.0], ndarray), leaf([5.0], ndarray)
    gradients = shown(checkpointed(raw(x), raw(y))).backward()
    assert x.grad(gradients).tolist() == [5.0, 5.0]
    assert y.grad(gradients).tolist() == [5.0]


def test_a_node_that_is_given_twice_gets_both_gradients(ndarray: Device) -> None:
    bodies.append(by_ids)
    x = leaf([2.0, 3.0], ndarray)
    gradients = shown(checkpointed(raw(x), raw(x))).backward()
    assert x.grad(gradients).tolist() == [4.0, 6.0]


def test_an_untracked_parent_is_none(ndarray: Device) -> None:
    seen: list[Any] = []

    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        seen.append([parent is None for parent in ops.parents])
        by_ids(b, ops, grads, checkpointer)

    bodies.append(body)
    x, c = leaf([2.0], ndarray), Tensor(np.array([7.0]), ndarray)
    assert x.grad(shown(checkpointed(raw(c), raw(x))).backward()).tolist() == [7.0]
    assert seen == [[True, False]]


def test_the_node_of_an_untracked_tensor_may_be_registered_for(ndarray: Device) -> None:
    x, c = leaf([2.0], ndarray), Tensor(np.array([7.0]), ndarray)

    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grads.register(ops.state, b.float_mul_scalar(grads.consume(ops.node), 3.0))

    bodies.append(body)
    operand = raw(c)
    node = operand.node
    prepared = Scripted.prepare(NoCheckpointing, raw(x).node, node).compute_bound().stateful()
    assert isinstance(prepared, Tracked)
    out = prepared.prep.finish(node.id, operand.primitive * 1.0)
    assert x.grad(shown(out).backward()) is None


def test_gradients_may_be_registered_by_id(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grad = grads.consume(ops.node)
        for parent in ops.parents:
            if parent is not None:
                grads.register(parent.id, grad)

    bodies.append(body)
    x, y = leaf([2.0], ndarray), leaf([3.0], ndarray)
    gradients = shown(multiplied(raw(x), raw(y))).backward()
    assert (x.grad(gradients).tolist(), y.grad(gradients).tolist()) == ([1.0], [1.0])


def test_gradients_registered_several_times_add_up(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        (parent, _), grad = ops.parents, grads.consume(ops.node)
        for _ in range(3):
            grads.register(parent or ops.node, grad)

    bodies.append(body)
    x = leaf([2.0], ndarray)
    assert x.grad(shown(multiplied(raw(x), raw(x))).backward()).tolist() == [3.0]


def test_an_input_may_get_no_gradient(ndarray: Device) -> None:
    bodies.append(lambda b, ops, grads, checkpointer: None)
    x, y = leaf([2.0], ndarray), leaf([3.0], ndarray)
    gradients = shown(multiplied(raw(x), raw(y))).backward()
    assert x.grad(gradients) is None
    assert len(gradients) == 0


def test_without_a_tracked_input_nothing_is_recorded(ndarray: Device) -> None:
    c = raw(Tensor(np.array([7.0]), ndarray))
    out = multiplied(c, c)
    assert not out.is_tracked
    assert out.primitive.tolist() == [49.0]
    stateless = Scripted.prepare(NoCheckpointing, c.node).compute_bound().stateless(c.primitive)
    assert not stateless.is_tracked


def test_the_id_of_a_checkpoint_is_that_of_its_node(ndarray: Device) -> None:
    x, y = raw(leaf([2.0], ndarray)), raw(leaf([3.0], ndarray))
    seen: list[Any] = []

    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        parent = ops.parents[0]
        assert parent is not None
        seen.append(checkpointer.retrieve_node_output(parent.id).tolist())

    bodies.append(body)
    shown(multiplied(x, y, lambda prep: prep.checkpoint(x))).backward()
    assert seen == [[2.0]]
    assert x.node.id == x.node.id
    assert len({x.node.id, y.node.id}) == 2
    assert repr(x.node.id) == f"NodeId({x.node.id.serial})"


def test_checkpointed_ints_come_back(ndarray: Device) -> None:
    x, ids = raw(leaf([2.0], ndarray)), raw(Tensor(np.array([4]), ndarray))
    seen: list[Any] = []

    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        seen.append(checkpointer.retrieve_node_output(ops.state))

    bodies.append(body)
    shown(multiplied(x, x, lambda prep: prep.checkpoint(ids))).backward()
    assert seen[0].tolist() == [4]
    with pytest.raises(ValueError, match="read-only"):
        seen[0][0] = 5


def test_a_consumed_gradient_cannot_be_written(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        with pytest.raises(ValueError, match="read-only"):
            grads.consume(ops.node)[0] = 5.0

    bodies.append(body)
    x = raw(leaf([2.0], ndarray))
    shown(multiplied(x, x)).backward()


def test_a_state_with_the_output_makes_no_cycle(ndarray: Device) -> None:
    bodies.append(lambda b, ops, grads, checkpointer: None)
    x = raw(leaf([2.0], ndarray))
    with without_collector():
        prepared = Scripted.prepare(NoCheckpointing, x.node).compute_bound().stateful()
        assert isinstance(prepared, Tracked)
        output = x.primitive * 2.0
        ref = weakref.ref(output)
        out = prepared.prep.finish({"out": output}, output)
        del output, out, prepared
        assert ref() is None


# ---- what a pass gets wrong ------------------------------------------------------------------


def failing(body: Body, device: Device, error: type[Exception], message: str) -> None:
    """Runs a pass with this body, which fails, and then one that does not."""
    bodies[:] = [body]
    x, y = leaf([[1.0, 2.0]], device), leaf([3.0, 4.0], device)
    out = shown(checkpointed(raw(x), raw(y)))
    with pytest.raises(error, match=message):
        out.backward()
    bodies[:] = [by_ids]
    assert x.grad(out.backward()).tolist() == [[3.0, 4.0]]


MISFITS: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda b, g: b.float_sum(g), r"shape \[\] .*the input has \[1, 2\]"),
    (lambda b, g: b.float_reshape(g, (2,)), r"shape \[2\] .*`broadcast_shape`"),
    (lambda b, g: b.float_expand(g, (4, 2)), r"shape \[4, 2\] "),
    (lambda b, g: b.float_cast(g, float32), r"dtype float32, and the input has .*float64"),
    (lambda b, g: np.arange(2).reshape(1, 2), r"a ndarray of dtype int64; gradients are floa"),
    (lambda b, g: "g", r" a str; gradients are float tensors"),
    (lambda b, g: None, r"a NoneType; gradients"),
    (lambda b, g: AutodiffTensor(g, None, "float", None), r"a AutodiffTensor"),
]


@pytest.mark.parametrize(("value", "message"), MISFITS)
def test_a_gradient_that_does_not_fit_is_refused(
    ndarray: Device, value: Callable[[Any, Any], Any], message: str
) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        (parent, _) = ops.parents
        assert parent is not None
        grads.register(parent, value(b, grads.consume(ops.node)))

    failing(body, ndarray, GradientError, r"(?s)`Scripted` registered for input 0.*" + message)


OTHERS: list[tuple[Callable[[Ops[Any]], Any], str]] = [
    (lambda ops: None, r"None, which is no input.*has None where an input is not tracked"),
    (lambda ops: ops.node, r"<.*, which is no input of the call\. Register"),
    (lambda ops: NodeId(0), r"NodeId\(0\), which is no input"),
    (lambda ops: "x", r"'x', which is no input"),
]


@pytest.mark.parametrize(("node", "message"), OTHERS)
def test_only_inputs_are_registered_for(
    ndarray: Device, node: Callable[[Ops[Any]], Any], message: str
) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grads.register(node(ops), grads.consume(ops.node))

    failing(body, ndarray, AutodiffError, r"`Scripted` registered a gradient for " + message)


def test_a_gradient_is_consumed_once(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grads.consume(ops.node)
        grads.consume(ops.node)

    failing(body, ndarray, AutodiffError, r"`Scripted` consumes the gradient of `ops\.node` twice")


def test_only_the_gradient_of_the_output_is_consumed(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        parent = ops.parents[0]
        assert parent is not None
        grads.consume(parent)

    failing(body, ndarray, AutodiffError, r"<LeafNode \d+, shape \[1, 2\]>, which is not `ops.no")


def test_what_is_no_node_has_no_gradient_to_consume(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grads.consume(None)  # pyright: ignore[reportArgumentType] # an untracked parent

    failing(body, ndarray, AutodiffError, r"the gradient of None, which is not `ops\.node`")


def test_the_gradient_of_an_untracked_node_is_not_consumed(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        grads.consume(raw(Tensor(np.array([7.0]), ndarray)).node)

    failing(body, ndarray, AutodiffError, r"<UntrackedNode \d+, .*which is not tracked")


@pytest.mark.parametrize("asked", [NodeId(0), None, "x"])
def test_what_was_not_checkpointed_cannot_be_retrieved(ndarray: Device, asked: Any) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        checkpointer.retrieve_node_output(asked)

    failing(body, ndarray, AutodiffError, r"`Scripted` asks for .*never checkpointed; use the id")


def test_an_error_in_a_pass_is_passed_on(ndarray: Device) -> None:
    def body(b: Any, ops: Ops[Any], grads: Gradients, checkpointer: Checkpointer) -> None:
        raise LookupError("of its own")

    failing(body, ndarray, LookupError, "of its own")


def test_a_class_without_a_backward_says_so(ndarray: Device) -> None:
    class Bare(Backward[None]):
        pass

    x = raw(leaf([1.0], ndarray))
    out = Bare.prepare(NoCheckpointing, x.node).compute_bound().stateless(x.primitive * 1.0)
    with pytest.raises(NotImplementedError, match="`Bare` defines no `backward`"):
        shown(out).backward()


@pytest.mark.parametrize("ask", ["consume", "register"])
def test_gradients_are_filled_only_while_a_pass_runs(ndarray: Device, ask: str) -> None:
    bodies.append(by_ids)
    x = leaf([1.0], ndarray)
    node = raw(x).node
    gradients = shown(checkpointed(raw(x), raw(x))).backward()
    arguments = (node,) if ask == "consume" else (node, np.ones(1))
    with pytest.raises(AutodiffError, match=rf"`{ask}` is for the `backward` of a `Backward`"):
        getattr(gradients, ask)(*arguments)


# ---- what the builder refuses ----------------------------------------------------------------


def test_nodes_are_required(ndarray: Device) -> None:
    with pytest.raises(AutodiffError, match=r"`Scripted\.prepare` takes the nodes.*got none"):
        Scripted.prepare(NoCheckpointing)


@pytest.mark.parametrize("strategy", [None, "balanced", int, NoCheckpointing()])
def test_a_strategy_is_required(ndarray: Device, strategy: Any) -> None:
    with pytest.raises(AutodiffError, match=r"takes the strategy first, `self\.checkpointing`"):
        Scripted.prepare(strategy, raw(leaf([1.0], ndarray)).node)


def test_tensors_are_not_taken_for_nodes(ndarray: Device) -> None:
    x: Any = raw(leaf([1.0], ndarray))
    with pytest.raises(AutodiffError, match=r"such as `x\.node`; got a AutodiffTensor"):
        Scripted.prepare(NoCheckpointing, x)


def test_nodes_of_two_backends_are_refused(ndarray: Device) -> None:
    x, y = raw(leaf([1.0], ndarray)), raw(leaf([1.0], Device.flex()))
    with pytest.raises(AutodiffError, match=r"one backend; got some of `autodiff<ndarray>` .*flex"):
        Scripted.prepare(NoCheckpointing, x.node, y.node)


def test_nodes_of_two_strategies_are_refused(ndarray: Device) -> None:
    x, y = raw(leaf([1.0], ndarray)), raw(leaf([1.0], ndarray.gradient_checkpointing()))
    with pytest.raises(AutodiffError, match=r"\(NoCheckpointing\) and .*\(BalancedCheckpointing\)"):
        Scripted.prepare(NoCheckpointing, x.node, y.node)


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("what", ["tensor", "ints", "none", "number"])
def test_only_a_float_primitive_finishes_a_call(ndarray: Device, what: str, tracked: bool) -> None:
    x = raw(leaf([1.0], ndarray) if tracked else Tensor(np.array([1.0]), ndarray))
    output: Any = {"tensor": x, "ints": np.arange(1), "none": None, "number": 1.0}[what]
    prepared = Scripted.prepare(NoCheckpointing, x.node).compute_bound()
    message = r"`Scripted` finished with a .*takes a float tensor of `ndarray`.*`x\.primitive`"
    with pytest.raises(KindError, match=message):
        prepared.stateless(output)


def test_a_scalar_of_the_library_finishes_a_call(ndarray: Device) -> None:
    x = raw(leaf([1.0, 2.0], ndarray))
    out = Scripted.prepare(NoCheckpointing, x.node).compute_bound().stateless(x.primitive.sum())
    assert type(out.primitive) is np.ndarray


@pytest.mark.parametrize("what", ["primitive", "other"])
def test_only_tensors_of_the_call_are_checkpointed(ndarray: Device, what: str) -> None:
    x = raw(leaf([1.0], ndarray))
    asked: Any = x.primitive if what == "primitive" else raw(leaf([1.0], Device.flex()))
    prepared = Scripted.prepare(NoCheckpointing, x.node).compute_bound().stateful()
    assert isinstance(prepared, Tracked)
    with pytest.raises(
        AutodiffError, match=r"`checkpoint` takes `AutodiffTensor`s of `autodiff<nd"
    ):
        prepared.prep.checkpoint(asked)


def test_a_memory_bound_call_says_how_to_recompute(ndarray: Device) -> None:
    x = raw(leaf([1.0], ndarray))
    with pytest.raises(AutodiffError, match=r"memory bound without `retro_forward`"):
        Scripted.prepare(BalancedCheckpointing, x.node).memory_bound().parents(x)


def test_parents_are_tensors_of_the_call(ndarray: Device) -> None:
    x = raw(leaf([1.0], ndarray))
    bound = Scripted.prepare(BalancedCheckpointing, x.node).memory_bound()
    builder: Any = bound.retro_forward(bodies.append)
    with pytest.raises(AutodiffError, match=r"`parents` takes `AutodiffTensor`s"):
        builder.parents(x.primitive)


def test_one_backend_and_strategy_share_one_decorator() -> None:
    inner = backend_for(Device.ndarray())
    assert autodiff_of(inner, NoCheckpointing) is autodiff_of(inner, NoCheckpointing)
    assert autodiff_of(inner, NoCheckpointing) is not autodiff_of(inner, BalancedCheckpointing)
