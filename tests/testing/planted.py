"""Op sets with one planted fault each, made from a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from firebrick import Device
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
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

FLEX = [Device.flex()]
ARRAYS = [Device.flex(), Device.ndarray()]
TORCH = [Device("libtorch")]


def kinds(report: CheckReport) -> set[str]:
    return {finding.kind for finding in report.findings}


def message(report: CheckReport, kind: str) -> str:
    """The message of the only finding of a kind."""
    (found,) = [finding.message for finding in report.findings if finding.kind == kind]
    return found


def doubling(on_flex: Callable[[np.ndarray], Any], rule: Any = None) -> type[OpSet[Any]]:
    """`x + x` with `on_flex` as the implementation on Flex, and a rule if there is one."""
    selectors = (Flex, NdArray) if rule is None else (Flex, NdArray, Autodiff)

    @backend_extension(*selectors)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class FlexDoubles(Doubles[np.ndarray], on=Flex):
        def double(self, x: np.ndarray) -> np.ndarray:
            return on_flex(x)

    Doubles.default_on(NdArray)
    if rule is not None:

        class AutodiffDoubles(Doubles[AutodiffTensor], on=Autodiff):
            double = rule

    return Doubles


def on_torch(function: Callable[[Any], Any]) -> type[OpSet[Any]]:
    """`x + x` with `function` as the implementation on PyTorch."""

    @backend_extension(LibTorch)
    class Doubles(OpSet[P]):
        def double(self, x: FloatTensor[P]) -> FloatTensor[P]:
            return self.backend.float_add(x, x)

    class LibTorchDoubles(Doubles[Any], on=LibTorch):
        def double(self, x: Any) -> Any:
            return function(x)

    return Doubles


def without_default(on_flex: Callable[[np.ndarray], Any], *views: str) -> type[OpSet[Any]]:
    """An operation of Flex alone, of two outputs."""

    @backend_extension(Flex)
    class Pairs(OpSet[P]):
        def pair(self, x: FloatTensor[P]) -> tuple[FloatTensor[P], FloatTensor[P]]:
            raise NoDefault

    class FlexPairs(Pairs[np.ndarray], on=Flex):
        def pair(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return on_flex(x)

    return Pairs
