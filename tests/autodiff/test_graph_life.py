"""How long a graph lives, what consumes it, and what errors leave behind."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, run, without_collector

from firebrick import Device, Tensor
from firebrick.decorators.autodiff import run_backward
from firebrick.errors import GraphConsumedError, NotTrackedError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    FloatTensor,
    Grads,
    NdArray,
    Need,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)

Array = np.ndarray[Any, np.dtype[Any]]
LONG_CHAIN = 200_000


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray()


made: list[weakref.ref[Any]] = []
in_rule: list[Callable[[], Any]] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    made.clear()
    in_rule.clear()


@backend_extension(NdArray, Autodiff)
class Watched(OpSet[P]):
    def exponential(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def exponentials(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], FloatTensor[P]]:
        raise NoDefault

    def hooked(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def zero(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class NdArrayWatched(Watched[Array], on=NdArray):
    def exponential(self, x: Array) -> Array:
        out = np.exp(x)
        made.append(weakref.ref(out))
        return out

    def exponentials(self, x: Array) -> tuple[Array, Array]:
        out = np.exp(x), np.exp(-x)
        made.extend(weakref.ref(part) for part in out)
        return out

    def hooked(self, x: Array) -> Array:
        return x * 2.0

    def zero(self, x: Array) -> Array:
        return x * 0.0


class AutodiffWatched(Watched[AutodiffTensor], on=Autodiff):
    @gradient(save=("out",))
    def exponential(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_mul(grad, saved.out)}

    @gradient(save=("x", "out"))
    def exponentials(self, saved: Saved, first: P, second: P, need: Need) -> Grads:
        b = self.inner.backend
        grown, shrunk = saved.out
        return {"x": b.float_sub(b.float_mul(first, grown), b.float_mul(second, shrunk))}

    @gradient()
    def hooked(self, saved: Saved, grad: P, need: Need) -> Grads:
        for hook in in_rule:
            hook()
        return {"x": self.inner.backend.float_mul_scalar(grad, 2.0)}

    @gradient()
    def zero(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": None}


watched = dispatch(Watched)

# ---- memory ----------------------------------------------------------------------------------


def test_an_operation_that_saves_its_output_makes_no_cycle(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    with without_collector():
        for _ in range(5000):
            run(watched.exponential, x)
            run(watched.exponentials, x)
        assert [ref for ref in made if ref() is not None] == []


def test_a_chain_that_saves_its_outputs_goes_with_its_root(ndarray: Device) -> None:
    with without_collector():
        y = leaf([0.1], ndarray)
        for _ in range(10):
            y = run(watched.exponentials, run(watched.exponential, y))[1]
        assert all(ref() is not None for ref in made[:-2])
        del y
        assert [ref for ref in made if ref() is not None] == []


def test_a_backward_pass_frees_what_was_saved_while_the_root_lives(ndarray: Device) -> None:
    with without_collector():
        y = run(watched.exponential, leaf([1.0], ndarray)) * 3.0
        y.backward()
        assert made[0]() is None


def test_a_recorded_pass_leaves_nothing_behind(ndarray: Device) -> None:
    with without_collector():
        x = leaf([1.0], ndarray)
        first = x.grad(run(watched.exponential, x).backward(create_graph=True))
        second = x.grad(first.backward())
        del first
        assert second.tolist() == [np.exp(1.0)]
        assert made[0]() is None


def test_a_failed_backward_pass_leaves_no_cycle(ndarray: Device) -> None:
    def fail() -> None:
        raise LookupError("no such thing")

    in_rule.append(fail)
    with without_collector():
        y = run(watched.hooked, run(watched.exponential, leaf([1.0], ndarray)))
        with pytest.raises(LookupError):
            y.backward()
        del y
        assert made[0]() is None


def test_leaves_are_freed_with_their_tensors(ndarray: Device) -> None:
    with without_collector():
        x = leaf([1.0], ndarray)
        node = weakref.ref(x.into_dispatch().primitive.link)
        gradients = (x * 2.0).backward()
        del x
        assert node() is None
        assert len(gradients) == 1


# ---- long and branching graphs ---------------------------------------------------------------


def chain(x: Tensor, length: int) -> Tensor:
    for _ in range(length):
        x = x + 1.0
    return x


def test_a_long_chain_is_differentiated_and_torn_down(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    y = chain(x, LONG_CHAIN)
    assert x.grad(y.backward()).tolist() == [1.0]
    del y


def test_a_long_chain_is_torn_down_without_being_differentiated(ndarray: Device) -> None:
    with without_collector():
        x = leaf([1.0], ndarray)
        first = x + 1.0
        step = weakref.ref(first.into_dispatch().primitive.link)
        y = chain(first, LONG_CHAIN)
        del first, y
        assert step() is None


def test_a_long_recorded_backward_pass_is_torn_down(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    y = x
    for _ in range(5000):
        y = y.sin()
    first = x.grad(y.backward(create_graph=True))
    assert first.is_tracked
    del first, y


def test_a_long_chain_with_several_outputs_is_torn_down(ndarray: Device) -> None:
    y = leaf([0.0], ndarray)
    for _ in range(20_000):
        y = run(watched.exponentials, y * 0.0)[0]
    del y


def test_a_ladder_of_diamonds_takes_linear_time(ndarray: Device) -> None:
    # y -> y * y + y, n times: 2 ** n paths from root to leaf
    def seconds(depth: int) -> float:
        x = leaf([1e-3], ndarray)
        y = x
        for _ in range(depth):
            y = (y * y + y) * 0.5
        start = time.perf_counter()
        y.backward()
        return time.perf_counter() - start

    seconds(12)
    assert seconds(12) < 0.05
    assert seconds(400) < 4.0  # 2 ** 400 paths


def test_a_diamond_is_visited_once(ndarray: Device) -> None:
    # f = x (x a) + x2 a + x (x a) at x = 1, x2 = 1, a = 3: df/dx = 4 x a, df/da = 2 x^2 + x2
    x, x2, a = leaf([1.0], ndarray), leaf([1.0], ndarray), leaf([3.0], ndarray)
    inner = x * (x * a)
    gradients = (inner + x2 * a + inner).backward()
    assert x.grad(gradients).tolist() == [12.0]
    assert a.grad(gradients).tolist() == [3.0]


# ---- consumption -----------------------------------------------------------------------------


def test_a_retained_graph_gives_equal_gradients_each_time(device: Device) -> None:
    x = leaf([0.5, -1.0], device)
    y = (x.exp() * x).sin()
    found = [x.grad(y.backward(retain_graph=True)).tolist() for _ in range(3)]
    assert found[0] == found[1] == found[2] == x.grad(y.backward()).tolist()


def test_a_consumed_graph_names_the_operation_that_was_used(ndarray: Device) -> None:
    y = leaf([1.0], ndarray).exp()
    y.backward()
    with pytest.raises(GraphConsumedError, match=r"reaches `FloatOps\.float_exp`.*retain_graph"):
        (y * 2.0).backward()


def test_a_refused_pass_consumes_nothing(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    used, other = x * 3.0, x * 5.0
    both = used + other
    used.backward()
    with pytest.raises(GraphConsumedError):
        both.backward()
    assert x.grad(other.backward()).tolist() == [5.0]


def test_a_recorded_pass_does_not_consume(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    y = x * x * x
    first = x.grad(y.backward(create_graph=True))
    assert x.grad(first.backward(retain_graph=True)).tolist() == [12.0]
    assert x.grad(y.backward()).tolist() == [12.0]


def test_a_tensor_without_a_graph_is_no_root(ndarray: Device) -> None:
    for x in (Tensor([1.0], ndarray), Tensor([1], ndarray.autodiff())):
        with pytest.raises(NotTrackedError, match="require_grad"):
            run_backward(x.into_dispatch())


def test_a_leaf_that_is_the_root_has_a_gradient_of_ones(ndarray: Device) -> None:
    x = leaf([2.0, 3.0], ndarray)
    assert x.grad(x.backward()).tolist() == [1.0, 1.0]


def test_a_rule_that_no_gradient_reaches_does_not_run(ndarray: Device) -> None:
    in_rule.append(lambda: pytest.fail("no gradient came here"))
    x = leaf([2.0], ndarray)
    out = run(watched.zero, run(watched.hooked, x)) + x
    assert x.grad(out.backward()).tolist() == [1.0]


def test_a_detached_part_gets_no_gradient(ndarray: Device) -> None:
    x = leaf([2.0], ndarray)
    gradients = (x.detach() * 3.0).backward()
    assert x.grad(gradients) is None


# ---- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_in_a_rule_leaves_the_graph_usable(
    ndarray: Device, error: type[BaseException]
) -> None:
    def fail() -> None:
        raise error("inside")

    x = leaf([1.0], ndarray)
    y = run(watched.hooked, x * x).exp()
    in_rule.append(fail)
    with pytest.raises(error, match="inside"):
        y.backward()
    independent = (x * 5.0).backward()
    in_rule.clear()
    assert x.grad(independent).tolist() == [5.0]
    np.testing.assert_allclose(x.grad(y.backward()).numpy(), [4.0 * np.exp(2.0)], rtol=1e-15)
    with pytest.raises(GraphConsumedError):
        y.backward()


def test_an_error_of_a_retaining_pass_leaves_the_graph_usable(ndarray: Device) -> None:
    def fail() -> None:
        raise ValueError("inside")

    x = leaf([1.0], ndarray)
    y = run(watched.hooked, x)
    in_rule.append(fail)
    with pytest.raises(ValueError, match="inside"):
        y.backward(retain_graph=True)
    in_rule.clear()
    assert x.grad(y.backward()).tolist() == [2.0]


def test_a_rule_may_run_another_backward_pass(ndarray: Device) -> None:
    found: list[Any] = []

    def nested() -> None:
        z = leaf([3.0], ndarray)
        found.append(z.grad((z * z).backward()).tolist())

    in_rule.append(nested)
    x = leaf([1.0], ndarray)
    assert x.grad(run(watched.hooked, x).backward()).tolist() == [2.0]
    assert found == [[6.0]]


def test_a_rule_cannot_consume_the_graph_that_runs_it(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    y = run(watched.hooked, x)
    found: list[str] = []

    def again() -> None:
        with pytest.raises(GraphConsumedError):
            y.backward()
        found.append("refused")

    in_rule.append(again)
    assert x.grad(y.backward()).tolist() == [2.0]
    assert found == ["refused"]


def test_a_consuming_pass_inside_a_retaining_one_waits_with_freeing(ndarray: Device) -> None:
    x = leaf([1.0], ndarray)
    inner = run(watched.exponential, x)
    y = run(watched.hooked, inner)

    def consume() -> None:
        in_rule.clear()
        y.backward()
        assert made[0]() is not None

    in_rule.append(consume)
    assert x.grad(y.backward(retain_graph=True)).tolist() == [2.0 * np.exp(1.0)]
    with pytest.raises(GraphConsumedError):
        y.backward()


# ---- values that must not change -------------------------------------------------------------


def test_writing_to_the_array_a_tensor_was_made_from_changes_no_gradient(device: Device) -> None:
    source = np.array([1.0, 2.0])
    x = Tensor.from_numpy(source, device.autodiff()).require_grad()
    y = x * x
    source[:] = 99.0
    assert x.grad(y.backward()).tolist() == [2.0, 4.0]


def test_the_array_of_a_tensor_cannot_be_written(device: Device) -> None:
    x = leaf([1.0, 2.0], device)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 5.0


def test_arrays_of_gradients_cannot_be_written(ndarray: Device) -> None:
    a, b = leaf([1.0], ndarray), leaf([2.0], ndarray)
    gradients = (a + b).backward()  # one array serves both
    with pytest.raises(ValueError, match="read-only"):
        a.grad(gradients).numpy()[0] = 5.0
    assert b.grad(gradients).tolist() == [1.0]
