"""How it is seen that an operation has no default body: in its instructions, or when it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from tests.opset.calling import floats, run

from firebrick import Device, extension
from firebrick.errors import MissingImplementationError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Flex,
    FloatTensor,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    register_backend,
)
from firebrick.opset.no_default import raises_no_default

Renamed = NoDefault


class Special(NoDefault):
    """A reason of its own."""


def plain() -> None:
    raise NoDefault


def documented() -> None:
    """What it would do."""
    raise NoDefault


def called() -> None:
    raise NoDefault()


def explained() -> None:
    raise NoDefault("needs a kernel")


def chained() -> None:
    raise NoDefault from None


def through_module() -> None:
    raise extension.NoDefault


def renamed() -> None:
    raise Renamed


def derived() -> None:
    raise Special("x")


async def later() -> None:
    raise NoDefault


@functools.lru_cache
def wrapped() -> None:
    raise NoDefault


def from_closure() -> Callable[[], None]:
    Local = NoDefault  # noqa: N806 - a type

    def body() -> None:
        raise Local

    return body


@pytest.mark.parametrize(
    "function",
    [
        plain, documented, called, explained, chained, through_module, renamed, derived, later,
        wrapped, from_closure(),
    ],
)  # fmt: skip
def test_a_body_that_only_raises_is_no_default(function: Any) -> None:
    assert raises_no_default(function)


def sometimes(flag: bool = False) -> int:
    if flag:
        raise NoDefault
    return 1


def other() -> None:
    raise NotImplementedError


def formatted(n: int = 1) -> None:
    raise NoDefault(f"n is {n}")


def undefined() -> None:
    raise missing_name  # pyright: ignore


@pytest.mark.parametrize("function", [sometimes, other, formatted, undefined, int.__add__])
def test_any_other_body_may_run(function: Any) -> None:
    assert not raises_no_default(function)


# ---- found when the body runs ------------------------------------------------------------------


@backend_extension(Flex, NdArray, Autodiff)
class Hidden(OpSet[P]):
    def formatted(self, x: FloatTensor[P], n: int = 1) -> FloatTensor[P]:
        raise NoDefault(f"n is {n}")

    def sometimes(self, x: FloatTensor[P], n: int) -> FloatTensor[P]:
        if n:
            raise NoDefault
        return x

    def calls_another(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.sometimes(x, 1)

    def asks_a_helper(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self._helper(x)

    def _helper(self, x: Any) -> Any:
        raise NoDefault

    def listed(self, xs: list[FloatTensor[P]]) -> FloatTensor[P]:
        return self.sometimes(xs[0], 1)

    async def later(self, x: FloatTensor[P]) -> FloatTensor[P]:
        return self.sometimes(x, 1)


Hidden.default_on(Flex, NdArray)


class AutodiffHidden(Hidden[AutodiffTensor], on=Autodiff): ...


hidden = dispatch(Hidden)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("formatted", "formatted"),
        ("calls_another", "sometimes"),
        ("asks_a_helper", "asks_a_helper"),
    ],
)
def test_no_default_that_a_body_raises_says_which_method_to_add(
    flex: Device, name: str, told: str
) -> None:
    message = rf"`Hidden\.{told}` has no default body, .* add a method `{told}` to `class \.\.\.\(H"
    with pytest.raises(MissingImplementationError, match=message + r".*on=Flex\)") as caught:
        run(getattr(hidden, name), floats([1.0], flex))
    assert isinstance(caught.value.__cause__, NoDefault)


def test_no_default_on_the_autodiff_path_names_the_autodiff_class(tracked: Device) -> None:
    with pytest.raises(MissingImplementationError, match=r"AutodiffTensor\], on=Autodiff\)`"):
        run(hidden.sometimes, floats([1.0], tracked).require_grad(), 1)


def test_a_body_that_does_not_raise_runs(flex: Device) -> None:
    assert run(hidden.sometimes, floats([1.0], flex), 0).tolist() == [1.0]


def test_no_default_inside_a_list_operation_is_found(flex: Device) -> None:
    with pytest.raises(MissingImplementationError, match=r"`Hidden\.sometimes` has no default"):
        run(hidden.listed, [floats([1.0], flex)])


def test_no_default_of_an_asynchronous_body_is_found_when_it_is_awaited(flex: Device) -> None:
    import asyncio

    x = floats([1.0], flex).into_dispatch()

    async def main() -> Any:
        return await hidden.later(x)

    with pytest.raises(MissingImplementationError, match=r"`Hidden\.sometimes` has no default"):
        asyncio.run(main())


def test_no_default_after_routing_by_the_rules_is_found(flex: Device, tracked: Device) -> None:
    values = [floats([1.0], tracked), floats([1.0], flex)]
    with pytest.raises(MissingImplementationError, match=r"`Hidden\.sometimes` has no default"):
        run(hidden.listed, values)


def test_a_built_in_operation_that_a_backend_lacks_is_named(flex: Device) -> None:
    class Poor(NdArray):
        name = "poor"

        def float_erf(self, tensor: Any) -> Any:
            raise NoDefault

    register_backend(Poor)

    @backend_extension(NdArray)
    class Ops(OpSet[P]):
        def smooth(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_erf(x)

    Ops.default_on(NdArray)
    x = floats([1.0], Device("poor"))
    message = r"`Ops\.smooth` needs `float_erf`, which has no default body and no .* backend `poor`"
    with pytest.raises(MissingImplementationError, match=message):
        run(dispatch(Ops).smooth, x)
    with pytest.raises(
        MissingImplementationError, match=r"`FloatOps\.float_erf` has no default bo"
    ):
        x.erf()
