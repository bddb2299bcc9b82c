"""`self.inner`: the operations one decorator further down, called as they are declared."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, floats, run

from firebrick import Device
from firebrick.decorators.autodiff import autodiff_of
from firebrick.dispatch import backend_for
from firebrick.errors import DispatchError, MissingImplementationError
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    FloatTensor,
    Grads,
    NdArray,
    Need,
    NoCheckpointing,
    NoDefault,
    OpSet,
    P,
    Saved,
    backend_extension,
    dispatch,
    gradient,
)
from firebrick.opset import InnerOpSet


@backend_extension(NdArray, Autodiff)
class Ops(OpSet[P]):
    def scale(self, x: FloatTensor[P], by: float = 3.0, *, offset: float = 1.0) -> FloatTensor[P]:
        raise NoDefault

    def hidden(self, x: FloatTensor[P], n: int = 1) -> FloatTensor[P]:
        raise NoDefault(f"n is {n}")

    async def later(self, x: FloatTensor[P], by: float = 3.0) -> FloatTensor[P]:
        raise NoDefault(f"by is {by}")

    def call(self, call: FloatTensor[P], missing: float = 2.0, type: int = 1) -> FloatTensor[P]:
        return self.backend.float_mul_scalar(call, missing * type)


class NdArrayOps(Ops[Array], on=NdArray):
    def scale(self, x: Array, by: float, *, offset: float) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride] - defaults come from the declaration
        return x * np.float32(by) + np.float32(offset)


class AutodiffOps(Ops[AutodiffTensor], on=Autodiff):
    def scale(self, x: AutodiffTensor, by: float, *, offset: float) -> AutodiffTensor:  # pyright: ignore[reportIncompatibleMethodOverride] - defaults come from the declaration
        raw = self.inner.scale(x.primitive, offset=0.0)
        assert raw.tolist() == [3.0]
        return x

    @gradient()
    def hidden(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": grad}


X = np.ones(2, np.float32)


@pytest.fixture(scope="module")
def inner() -> Any:
    """The op set on plain NumPy."""
    return InnerOpSet(Ops, backend_for(Device.ndarray()))


def test_defaults_are_those_of_the_declaration(inner: Any) -> None:
    assert inner.scale(X).tolist() == [4.0, 4.0]
    assert inner.scale(X, 2.0, offset=0.0).tolist() == [2.0, 2.0]
    assert inner.scale(x=X, by=2.0).tolist() == [3.0, 3.0]


def test_inputs_may_be_called_what_generated_text_uses(inner: Any) -> None:
    assert inner.call(X).tolist() == [2.0, 2.0]


def test_a_wrong_call_is_refused_by_the_public_name(inner: Any) -> None:
    with pytest.raises(
        TypeError, match=r"Ops\.scale\(\) missing 1 required positional argument: 'x'"
    ):
        inner.scale()
    with pytest.raises(TypeError, match=r"Ops\.scale\(\) got an unexpected keyword argument 'by_'"):
        inner.scale(X, by_=3)


def test_a_missing_body_is_told(inner: Any) -> None:
    with pytest.raises(MissingImplementationError, match=r"`Ops\.hidden` has no default body"):
        inner.hidden(X)


def test_a_missing_asynchronous_body_is_told_when_it_is_awaited(inner: Any) -> None:
    with pytest.raises(MissingImplementationError, match=r"`Ops\.later` has no default body"):
        asyncio.run(inner.later(X))


def test_an_unknown_operation_is_refused(inner: Any) -> None:
    with pytest.raises(
        AttributeError, match="`Ops` has no operation `scael`; it has scale, hidden, "
    ):
        _ = inner.scael


def test_the_inside_of_a_decorator_is_reached(inner: Any) -> None:
    backend = backend_for(Device.ndarray())
    outer = InnerOpSet(Ops, autodiff_of(backend, NoCheckpointing))
    assert outer.inner.backend is backend
    assert outer.inner.scale(X).tolist() == [4.0, 4.0]


def test_a_backend_that_is_no_decorator_has_no_inside(inner: Any) -> None:
    with pytest.raises(DispatchError, match="`ndarray` is not a decorator"):
        _ = inner.inner


def test_an_autodiff_implementation_reaches_the_concrete_one(flex: Device) -> None:
    x = floats([1.0], Device.ndarray().autodiff())
    assert run(dispatch(Ops).scale, x).tolist() == [1.0]
