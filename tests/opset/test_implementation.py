"""Implementations that do not fit their op set, found when their class is defined."""

# Functions outside of a class stand in for methods, and take its type variable.
# pyright: reportGeneralTypeIssues=false, reportCallIssue=false, reportUntypedBaseClass=false

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, declare, floats, implement, opened, run

from firebrick import Device
from firebrick.errors import GradientRuleError, ImplementationError, SelectorError
from firebrick.extension import (
    Autodiff,
    Cube,
    Flex,
    FloatTensor,
    LibTorch,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    fusion,
    gradient,
    when,
)


def scale(self: Any, x: FloatTensor[P], factor: float = 2.0, *, offset: int = 0) -> FloatTensor[P]:
    raise NoDefault


async def later(self: Any, x: FloatTensor[P]) -> FloatTensor[P]:
    raise NoDefault


def ops() -> Any:
    return opened(Flex, NdArray, Autodiff, scale=scale, later=later)


def renamed(self: Any, x: Any, amount: Any, *, offset: Any) -> Any: ...


def short(self: Any, x: Any, *, offset: Any) -> Any: ...


def demanding(self: Any, x: Any, factor: Any, extra: Any, *, offset: Any) -> Any: ...


def swapped(self: Any, factor: Any, x: Any, *, offset: Any) -> Any: ...


def inserted(self: Any, x: Any, extra: int = 1, factor: Any = 2.0, *, offset: Any) -> Any: ...


def retyped(self: Any, x: Any, factor: str, *, offset: Any) -> Any: ...


def by_keyword(self: Any, x: Any, *, factor: Any, offset: Any) -> Any: ...


def by_position(self: Any, offset: Any, /, x: Any, factor: Any) -> Any: ...


def without_self(x: Any, factor: Any, *, offset: Any) -> Any: ...


async def awaited(self: Any, x: Any, factor: Any, *, offset: Any) -> Any: ...


def not_awaited(self: Any, x: Any) -> Any: ...


WRONG: dict[str, tuple[str, Any, str]] = {
    "another name": ("scale", renamed, r"`Mine\.scale` calls `amount` what the declaration calls "),
    "one less": ("scale", short, r"`Mine\.scale` lacks `factor`; `Ops\.scale` is declared as \(x, f"
                 r".*, the implementation takes \(x, offset\)\."),
    "one more": ("scale", demanding, r"`Mine\.scale` asks for `extra`; `Ops\.scale` is declared a"),
    "another order": ("scale", swapped, r"`Mine\.scale` takes \(factor, x, offset\) in another or"),
    "one between": ("scale", inserted, r"takes \(x, extra, factor, offset\) in another order than"),
    "another type": ("scale", retyped, r"`Mine\.scale`: parameter `factor` is declared `float` but "
                     r".*taken as `str`; it must be equal, wider, or Any\."),
    "keyword only": ("scale", by_keyword, r"takes `factor` by keyword only, and `Ops\.scale` pass"),
    "positional only": ("scale", by_position, r"takes `offset` by position only, and `Ops\.scale`"),
    "no self": ("scale", without_self, r"`Mine\.scale` lacks `x`"),
    "a static method with self": ("scale", staticmethod(renamed), "calls `self` what the declarat"),
    "async": ("scale", awaited, r"`Mine\.scale` and `Ops\.scale` must both be `async def`, or bot"),
    "not async": ("later", not_awaited, r"`Mine\.later` and `Ops\.later` must both be `async def`"),
    "no operation": ("scael", scale, r"`Mine\.scael` is no operation of `Ops`; operations are scale"
                     r".*later, helpers start with an underscore\. Did you mean `scale`\?"),
    "a partial of another": ("scale", functools.partial(renamed, None), r"`Mine\.scale` calls `am"),
    "a form": ("scale", fusion(sync=True)(scale), r"`Mine\.scale` has `@fusion\(\.\.\.\)` or `@view"
               r".*, which belong to the declaration `Ops\.scale`\."),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_method_that_does_not_fit_is_refused(case: str) -> None:
    name, member, message = WRONG[case]
    with pytest.raises(ImplementationError, match=message):
        implement(ops(), Flex, **{name: member})


def test_a_gradient_rule_belongs_into_an_autodiff_class() -> None:
    with pytest.raises(
        GradientRuleError, match=r"`Mine\.scale` is a gradient rule, but `on=Flex` do"
    ):
        implement(ops(), Flex, scale=gradient(None))


def test_a_gradient_rule_belongs_to_an_operation() -> None:
    with pytest.raises(
        GradientRuleError, match=r"`Mine\.scael` is no operation of `Ops`.*`scale`\?"
    ):
        implement(ops(), Autodiff, scael=gradient(None))


def test_a_backend_that_is_not_listed_is_refused() -> None:
    with pytest.raises(
        ImplementationError, match=r"on `LibTorch`, which is not listed; .* lists Fle"
    ):
        implement(ops(), LibTorch)


def test_a_false_condition_still_lists_a_backend() -> None:
    assert implement(opened(Flex, when(Cube, False), scale=scale), Cube)


def test_an_op_set_that_is_not_open_is_not_implemented() -> None:
    with pytest.raises(
        SelectorError, match=r"`Mine` implements `Ops`, which is not open to any back"
    ):
        implement(declare(scale=scale), Flex)


@pytest.mark.parametrize("selector", ["Flex", "cuda", int])
def test_an_implementation_is_on_a_backend_class(selector: Any) -> None:
    with pytest.raises(SelectorError, match=r"is a string, not|is a runtime, not|is no selector"):
        implement(ops(), selector)


def test_a_mixin_after_the_op_set_is_refused() -> None:
    @backend_extension(Flex)
    class Ops(OpSet[P]):
        def twice(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class Mixin:
        def twice(self, x: Array) -> Array:
            return 2 * x

    message = (
        r"`Wrong` names `Mixin` after `Ops`, whose own `twice` hides that of `Mixin`; name the"
    )
    with pytest.raises(ImplementationError, match=message):

        class Wrong(Ops[Array], Mixin, on=Flex): ...  # pyright: ignore[reportUnusedClass] - on purpose


# ---- what fits ---------------------------------------------------------------------------------


def looser(self: Any, x: Any, factor: object, extra: str = "", *, offset: int | None) -> Any:
    return x * np.float32(factor) + np.float32(offset or 0)  # pyright: ignore[reportArgumentType] - a number


def alone(x: Any, factor: float, *, offset: float) -> Any:
    return x * np.float32(factor) + np.float32(offset)


class Callable:
    def __call__(self, x: Any, factor: float, *, offset: float) -> Any:
        return alone(x, factor, offset=offset)


@pytest.mark.parametrize(
    "member",
    [looser, staticmethod(alone), functools.partial(alone), Callable()],
    ids=["looser", "static", "partial", "callable object"],
)
def test_a_method_that_accepts_what_is_declared_fits(flex: Device, member: Any) -> None:
    op_set = ops()
    implement(op_set, Flex, scale=member, limit=3, Options=dict)
    x = floats([1.0], flex)
    assert run(dispatch(op_set).scale, x).tolist() == [2.0]
    assert run(dispatch(op_set).scale, x, 3.0, offset=1).tolist() == [4.0]


def test_a_builtin_that_hides_its_parameters_is_trusted() -> None:
    assert implement(ops(), Flex, scale=max)


def test_an_implementation_may_be_derived_from_another(flex: Device) -> None:
    op_set = ops()

    class First(op_set, on=Flex):
        def scale(self, x: Any, factor: float, *, offset: int) -> Any:
            return x * np.float32(factor)

    class Second(First, on=NdArray): ...

    assert op_set.__implementations__.find(NdArray) is Second
    x = floats([1.0], Device.ndarray())
    assert run(dispatch(op_set).scale, x).tolist() == [2.0]
