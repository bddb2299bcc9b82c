"""Op sets with one planted fault each, made from a function."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import Any, TypeAlias

import numpy as np

from firebrick import Device
from firebrick.extension import (
    Autodiff,
    Flex,
    FloatTensor,
    LibTorch,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
)
from firebrick.testing import CheckReport

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
OnArray: TypeAlias = Callable[[Array], Any]
OnTensor: TypeAlias = Callable[[Any], Any]

FLEX = [Device.flex()]
ARRAYS = [Device.flex(), Device.ndarray()]
TORCH = [Device("libtorch")]


def kinds(report: CheckReport) -> set[str]:
    return {finding.kind for finding in report.findings}


def message(report: CheckReport, kind: str) -> str:
    """The message of the only finding of a kind."""
    (found,) = [finding.message for finding in report.findings if finding.kind == kind]
    return found


def implement(op_set: type[OpSet[Any]], selector: type[Any], **members: Any) -> None:
    """What `class X(op_set[...], on=selector)` with these members does."""
    body = {"__module__": __name__, **members}
    new_class("Planted", (op_set,), {"on": selector}, lambda namespace: namespace.update(body))


def method(function: Callable[..., Any]) -> Any:
    """A function of the tensors of `x` as a method."""

    def called(self: Any, x: Any) -> Any:
        return function(x)

    return called


def doubling(on_flex: OnArray, rule: Any = None) -> type[OpSet[Any]]:
    """`x + x` with `on_flex` as the implementation on Flex, and a rule if there is one."""
    selectors = (Flex, NdArray) if rule is None else (Flex, NdArray, Autodiff)

    @backend_extension(*selectors)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    implement(Doubles, Flex, double=method(on_flex))
    Doubles.default_on(NdArray)
    if rule is not None:
        implement(Doubles, Autodiff, double=rule)
    return Doubles


def on_torch(function: OnTensor) -> type[OpSet[Any]]:
    """`x + x` with `function` as the implementation on PyTorch."""

    @backend_extension(LibTorch)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    implement(Doubles, LibTorch, double=method(function))
    return Doubles


def without_default(on_flex: OnArray) -> type[OpSet[Any]]:
    """An operation of Flex alone, of two outputs."""

    @backend_extension(Flex)
    class Pairs(OpSet[P]):
        def pair(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], FloatTensor[P]]:
            raise NoDefault

    implement(Pairs, Flex, pair=method(on_flex))
    return Pairs
