"""Registering implementations: who may replace whom, and calls that run meanwhile."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false, reportUnusedClass=false

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, floats, opened, run

from firebrick import Device
from firebrick.errors import DuplicateImplementationError
from firebrick.extension import (
    Autodiff,
    Flex,
    FloatTensor,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
)
from firebrick.opset.namespaces import Origin
from firebrick.opset.registrations import Implementations


class First: ...


class Second: ...


def constant(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    raise NoDefault


def origin(line: int = 1, module: str = "m", qualname: str = "First") -> Origin:
    return Origin(module, qualname, line)


def test_the_same_definition_run_again_replaces_the_first() -> None:
    known = Implementations()
    known.register("Ops", First, Flex, origin(3))
    known.register("Ops", Second, Flex, origin(3))
    assert known.find(Flex) is Second
    assert known.generation == 2


@pytest.mark.parametrize(
    "second", [origin(4), origin(3, module="other"), origin(3, qualname="Second")], ids=repr
)
def test_another_definition_does_not(second: Origin) -> None:
    known = Implementations()
    known.register("Ops", First, Flex, origin(3))
    message = (
        r"`Second` implements `Ops` on `Flex`, which `First` \(module m, line 3\) does already;"
    )
    with pytest.raises(DuplicateImplementationError, match=message):
        known.register("Ops", Second, Flex, second)
    assert known.find(Flex) is First


def test_a_cell_of_a_notebook_may_change_its_lines() -> None:
    known = Implementations()
    known.register("Ops", First, Flex, origin(3, module="__main__"))
    known.register("Ops", Second, Flex, origin(9, module="__main__"))
    assert known.find(Flex) is Second


def test_a_cell_of_a_notebook_does_not_replace_another_class() -> None:
    known = Implementations()
    known.register("Ops", First, Flex, origin(3, module="__main__"))
    with pytest.raises(
        DuplicateImplementationError, match=r"`First` .module __main__, line 3. does"
    ):
        known.register("Ops", Second, Flex, origin(9, module="__main__", qualname="Second"))


def test_what_stands_in_for_an_implementation_may_be_replaced() -> None:
    known = Implementations()
    known.register("Ops", First, Flex, origin(3))
    known.let_replace(First)
    known.register("Ops", Second, Flex, origin(4, qualname="Second"))
    assert known.find(Flex) is Second


def test_an_implementation_serves_subclasses_of_its_backend() -> None:
    class Mirror(NdArray): ...

    known = Implementations()
    known.register("Ops", First, NdArray, origin())
    assert known.find(Mirror) is First
    known.register("Ops", Second, Mirror, origin())
    assert (known.find(Mirror), known.find(NdArray), known.find(Flex)) == (Second, First, None)


def test_listeners_hear_of_every_registration() -> None:
    known, heard = Implementations(), list[int]()
    known.on_change(lambda: heard.append(known.generation))
    known.register("Ops", First, Flex, origin())
    known.register("Ops", First, NdArray, origin())
    assert heard == [1, 2]


def test_default_on_twice_from_one_line_is_the_same_definition() -> None:
    op_set = opened(Flex, constant=constant)
    for _ in range(2):
        op_set.default_on(Flex)
    with pytest.raises(
        DuplicateImplementationError, match="`FlexOps` implements `Ops` on `Flex`, wh"
    ):
        op_set.default_on(Flex)


CELL = """
from firebrick.extension import *
{declaration}
class OnFlex(Cells[object], on=Flex):
    def constant(self, x):
        return x * x.dtype.type({value})
"""
DECLARATION = """
@backend_extension(Flex)
class Cells(OpSet[P]):
    def constant(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault
"""


def test_a_notebook_may_declare_an_op_set_again(flex: Device) -> None:
    notebook: dict[str, Any] = {"__name__": "__main__"}
    for value in (2, 3):
        exec(CELL.format(declaration=DECLARATION, value=value), notebook)
        call = dispatch(notebook["Cells"]).constant
        assert run(call, floats([1.0], flex)).tolist() == [value]


def test_a_notebook_may_implement_an_op_set_again_on_other_lines(flex: Device) -> None:
    notebook: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL.format(declaration=DECLARATION, value=2), notebook)
    call = dispatch(notebook["Cells"]).constant
    assert run(call, floats([1.0], flex)).tolist() == [2.0]
    exec(CELL.format(declaration="\n\n\n", value=5), notebook)
    assert run(call, floats([1.0], flex)).tolist() == [5.0]


# ---- threads -----------------------------------------------------------------------------------


@backend_extension(Flex, NdArray, Autodiff)
class Busy(OpSet[P]):
    def constant(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault

    def listed(self, xs: list[FloatTensor[P]]) -> FloatTensor[P]:
        return self.constant(xs[0])


def register(value: float) -> None:
    class Constant(Busy[Array], on=Flex):
        def constant(self, x: Array) -> Array:
            return np.full_like(x, value)


def answers(count: int, x: Any) -> Iterator[float]:
    for _ in range(count):
        yield run(dispatch(Busy).constant, x).item()
        yield run(dispatch(Busy).listed, [x]).item()


def test_calls_run_while_implementations_are_registered(flex: Device) -> None:
    register(0.0)
    x = floats([0.5], flex)
    seen: list[float] = []
    failures: list[BaseException] = []

    def call() -> None:
        try:
            seen.extend(answers(300, x))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for value in range(1, 60):
        register(float(value))
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(seen) <= {float(value) for value in range(60)}


def test_a_call_after_a_registration_sees_it(flex: Device) -> None:
    x = floats([0.5], flex)
    for value in range(5):
        register(float(value))
        assert set(answers(2, x)) == {float(value)}


def test_one_thread_resolving_does_not_keep_what_another_replaced(flex: Device) -> None:
    register(1.0)
    x = floats([0.5], flex)
    entered, replaced = threading.Event(), threading.Event()

    def slow_init(self: Any) -> None:
        entered.set()
        replaced.wait(10)

    class Slow(Busy[Array], on=NdArray):
        __init__ = slow_init

        def constant(self, x: Array) -> Array:
            return np.full_like(x, 1)

    y = floats([0.5], Device.ndarray())
    thread = threading.Thread(target=lambda: run(dispatch(Busy).constant, y))
    thread.start()
    assert entered.wait(10)
    register(7.0)
    replaced.set()
    thread.join()
    assert run(dispatch(Busy).constant, x).item() == 7.0
    assert run(dispatch(Busy).constant, y).item() == 1.0
