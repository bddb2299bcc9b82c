"""Graphs and backward passes in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import leaf, run

from firebrick import Device, Tensor
from firebrick.decorators.autodiff import AutodiffTensor
from firebrick.errors import GraphConsumedError
from firebrick.extension import (
    Autodiff,
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
THREADS = 4
ROUNDS = 100


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray().autodiff()


def at_once(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """What each of several threads returns that start together; errors are passed on."""
    barrier = threading.Barrier(count)

    def started(index: int) -> Any:
        barrier.wait(timeout=60)
        return work(index)

    with ThreadPoolExecutor(count) as pool:
        return [
            future.result(timeout=120) for future in [pool.submit(started, i) for i in range(count)]
        ]


in_rule: list[Callable[[], Any]] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    in_rule.clear()


@backend_extension(NdArray, Autodiff)
class Hooked(OpSet[P]):
    def hooked(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class NdArrayHooked(Hooked[Array], on=NdArray):
    def hooked(self, x: Array) -> Array:
        return x * 2.0


class AutodiffHooked(Hooked[AutodiffTensor], on=Autodiff):
    @gradient(save=("x",))
    def hooked(self, saved: Saved, grad: P, need: Need) -> Grads:
        for hook in in_rule:
            hook()
        assert saved.x is not None
        return {"x": self.inner.backend.float_mul_scalar(grad, 2.0)}


def test_of_several_passes_through_one_graph_exactly_one_succeeds(ndarray: Device) -> None:
    for _ in range(ROUNDS):
        x = leaf([3.0], ndarray)
        y = x
        for _ in range(5):
            y = y.sin() + x

        def attempt(index: int, y: Tensor = y, x: Tensor = x) -> Any:
            try:
                return x.grad(y.backward()).tolist()
            except GraphConsumedError:
                return None

        found = at_once(attempt, 2)
        assert [answer is None for answer in found].count(True) == 1
        assert np.isfinite(next(answer for answer in found if answer is not None)).all()


def test_a_pass_that_starts_while_another_consumes_is_refused(ndarray: Device) -> None:
    x = leaf([3.0], ndarray)
    y = run(dispatch(Hooked).hooked, x)
    inside, done = threading.Event(), threading.Event()

    def pause() -> None:
        inside.set()
        assert done.wait(timeout=60)

    in_rule.append(pause)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(y.backward)
        assert inside.wait(timeout=60)
        with pytest.raises(GraphConsumedError, match=r"`Hooked\.hooked`"):
            y.backward()
        done.set()
        assert x.grad(future.result(timeout=60)).tolist() == [2.0]


def test_a_consuming_pass_does_not_free_what_a_retaining_one_reads(ndarray: Device) -> None:
    x = leaf([3.0], ndarray)
    y = run(dispatch(Hooked).hooked, run(dispatch(Hooked).hooked, x))
    inside, consumed = threading.Event(), threading.Event()

    def pause() -> None:
        inside.set()
        assert consumed.wait(timeout=60)

    in_rule.append(pause)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lambda: y.backward(retain_graph=True))
        assert inside.wait(timeout=60)
        in_rule.clear()
        assert x.grad(y.backward()).tolist() == [4.0]
        consumed.set()
        assert x.grad(future.result(timeout=60)).tolist() == [4.0]


def test_several_retaining_passes_through_one_graph_agree(ndarray: Device) -> None:
    x = leaf([0.3, 0.4], ndarray)
    y = (x.exp() * x).sin()
    expected = x.grad(y.backward(retain_graph=True)).tolist()

    def work(index: int) -> list[Any]:
        return [x.grad(y.backward(retain_graph=True)).tolist() for _ in range(ROUNDS)]

    assert at_once(work) == [[expected] * ROUNDS] * THREADS


def test_no_gradient_is_lost_while_others_use_the_same_leaves(ndarray: Device) -> None:
    # passes of some threads must not free what others are building on shared leaves
    shared = [leaf([float(i + 1)], ndarray) for i in range(3)]
    for x in shared:
        (x * 1.0).backward()

    def work(index: int) -> list[Any]:
        wrong: list[Any] = []
        for number in range(ROUNDS):
            factor = float(index * ROUNDS + number + 1)
            own = leaf([2.0], ndarray)
            total = own * factor
            for x in shared:
                total = total + x * factor * own
            gradients = total.backward()
            found = [x.grad(gradients) for x in (*shared, own)]
            expected = [[2.0 * factor]] * 3 + [[7.0 * factor]]
            if [None if g is None else g.tolist() for g in found] != expected:
                wrong.append((index, number))
        return wrong

    assert at_once(work) == [[]] * THREADS


@pytest.mark.parametrize("balanced", [False, True])
def test_graphs_that_share_an_inner_tensor_are_built_in_parallel(
    ndarray: Device, balanced: bool
) -> None:
    x = leaf([0.5], ndarray.gradient_checkpointing() if balanced else ndarray)
    inner = x.exp()

    def work(index: int) -> list[float]:
        return [
            x.grad((inner * float(n)).backward(retain_graph=True)).item() for n in range(ROUNDS)
        ]

    expected = [np.exp(0.5) * n for n in range(ROUNDS)]
    for found in at_once(work):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_a_graph_is_differentiated_in_another_thread(device: Device) -> None:
    def work(index: int) -> Any:
        return x.grad(y.backward()).tolist()

    with ThreadPoolExecutor(2) as pool:
        for number in range(500):
            x, y = pool.submit(squared, device, float(number)).result(timeout=60)
            assert pool.submit(work, 0).result(timeout=60) == [2.0 * number]


def squared(device: Device, value: float) -> tuple[Tensor, Tensor]:
    x = leaf([value], device)
    return x, x * x


def test_operations_are_derived_once_wherever_they_are_first_used() -> None:
    # the first call derives the operation; threads that race for it must not differ
    def work(index: int) -> Any:
        x = leaf([0.5], Device.ndarray().autodiff())
        return x.grad((x.tanh() * x.log1p()).backward()).tolist()

    found = at_once(work, 8)
    assert found == [found[0]] * 8


def test_gradients_may_be_taken_from_several_threads(ndarray: Device) -> None:
    leaves = [leaf([float(i)], ndarray) for i in range(THREADS)]
    total = leaves[0] * 0.0
    for index, x in enumerate(leaves):
        total = total + x * float(index + 1)
    gradients = total.backward()
    found = at_once(lambda index: leaves[index].grad_remove(gradients).tolist())
    assert found == [[float(index + 1)] for index in range(THREADS)]
    assert len(gradients) == 0
