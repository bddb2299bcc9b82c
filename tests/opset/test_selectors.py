"""Selectors and their conditions: what is accepted, what is asked, and with which words refused."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from firebrick.errors import SelectorError
from firebrick.extension import (
    Autodiff,
    Backend,
    Cube,
    Flex,
    Fusion,
    LibTorch,
    NdArray,
    Remote,
    backend_extension,
    when,
)
from firebrick.opset.selectors import Conditional, checked_selector, read_selectors

unchecked: Any = backend_extension
unchecked_when: Any = when


@pytest.mark.parametrize("selector", [Autodiff, Fusion, Cube, Flex, NdArray, LibTorch, Remote])
def test_every_backend_class_is_a_selector(selector: Any) -> None:
    assert checked_selector(selector) is selector


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "Flex",
            r"'Flex' is a string, not a selector: did you mean the class `Flex`\? Selectors are",
        ),
        ("Felx", r"'Felx' is a string, not a selector: did you mean the class `Flex`\?"),
        (
            "qqq",
            r"'qqq' is a string, not a selector: Selectors are classes, imported from `firebri",
        ),
        (
            "Cuda",
            r"`Cuda` is a runtime, not a selector: it is covered by the selector `Cube`, as al",
        ),
        ("wgpu", r"`wgpu` is a runtime.* with `when\(Cube, \.\.\.\)`\."),
        (
            dict,
            r"`dict` is no selector: selectors are backend classes \(Autodiff, Fusion, Cube, Fl",
        ),
        (3, "`3` is no selector"),
        (
            Backend,
            "`Backend` has no `name`, so no device belongs to it; list the backends that are",
        ),
    ],
)
def test_anything_else_is_refused(given: Any, message: str) -> None:
    with pytest.raises(SelectorError, match=message):
        unchecked(given)


def test_a_selector_is_listed_once() -> None:
    with pytest.raises(SelectorError, match="`Flex` is listed twice; list each selector once"):
        unchecked(Flex, NdArray, when(Flex, True))


@pytest.mark.parametrize("given", [(), (Autodiff,), (Autodiff, Fusion)], ids=str)
def test_one_selector_executes(given: Any) -> None:
    with pytest.raises(
        SelectorError, match="no selector that executes is listed; add at least one"
    ):
        unchecked(*given)


def test_selectors_keep_their_order() -> None:
    assert list(read_selectors([NdArray, when(Autodiff, True), Flex])) == [NdArray, Autodiff, Flex]


# ---- conditions --------------------------------------------------------------------------------


def answer(selector: Any) -> bool:
    (conditional,) = read_selectors([selector]).values()
    return conditional.holds()


@pytest.mark.parametrize("given", [True, False])
def test_a_condition_is_a_bool_or_a_callable(*, given: bool) -> None:
    assert answer(when(Flex, given)) is given
    assert answer(when(Flex, lambda: given)) is given


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("wgpu", r"the condition of `Cube` is 'wgpu'; .*; did you mean `feature\('wgpu'\)`\?"),
        (
            3,
            r"the condition of `Cube` is 3; accepted are a bool, a callable without arguments, or ",
        ),
        (None, "the condition of `Cube` is None"),
    ],
)
def test_another_condition_is_refused(condition: Any, message: str) -> None:
    with pytest.raises(SelectorError, match=message):
        unchecked_when(Cube, condition)


@pytest.mark.parametrize(
    ("outer", "inner", "both"),
    [(True, True, True), (True, False, False), (False, True, False)],
)
def test_two_conditions_must_both_hold(*, outer: bool, inner: bool, both: bool) -> None:
    assert answer(when(when(Flex, lambda: inner), outer)) is both


def test_a_callable_is_asked_once_even_by_many_threads() -> None:
    asked: list[int] = []
    barrier = threading.Barrier(4)

    def condition() -> bool:
        asked.append(1)
        return True

    conditional = Conditional(Flex, condition)

    def ask() -> None:
        barrier.wait()
        assert conditional.holds()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == [1]


def test_a_condition_that_raises_is_named_and_asked_again() -> None:
    asked: list[int] = []

    def condition() -> bool:
        asked.append(1)
        if len(asked) == 1:
            raise OSError("no driver")
        return True

    conditional = Conditional(Flex, condition)
    message = (
        r"the condition of `Flex` raised OSError \(no driver\); a condition answers with a bool"
    )
    with pytest.raises(SelectorError, match=message) as caught:
        conditional.holds()
    assert isinstance(caught.value.__cause__, OSError)
    assert conditional.holds()


def test_a_condition_belongs_into_the_list_of_selectors() -> None:
    message = (
        r"`when\(Flex, \.\.\.\)` is a selector with a condition, which belongs into `@backend_e"
    )
    with pytest.raises(SelectorError, match=message):
        checked_selector(when(Flex, True))
