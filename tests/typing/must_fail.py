"""Mistakes that a type checker finds for users: each line with an ignore must stay an error.

The project's own check would complain of an ignore that is not needed; the test beside takes the
ignores away and compares what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firebrick import Tensor
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    LibTorch,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    fusion,
    gradient,
    op,
    when,
)

Array = np.ndarray[Any, np.dtype[Any]]


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    count: int


@backend_extension(Autodiff, Flex)
class Ops(OpSet[P]):
    def square(self, input: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_mull(input, input)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType] - no such operation

    def scale(self, x: FloatTensor[P], by: float) -> FloatTensor[P]:
        return self.backend.float_mul(x, by)  # pyright: ignore[reportArgumentType] - a number, not a tensor

    @fusion(dtype="x")  # pyright: ignore[reportCallIssue, reportUntypedFunctionDecorator] - half a form
    def half(self, x: FloatTensor[P]) -> FloatTensor[P]:
        raise NoDefault


class FlexOps(Ops[Array], on=Flex):
    def square(self, x: Array) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride] - another name
        return x

    def scale(self, x: Array, by: str) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride] - another type
        return x


class WrongTensors(Ops[AutodiffTensor], on=Flex): ...  # pyright: ignore[reportGeneralTypeIssues, reportArgumentType] - Flex has arrays


def frozen(boxes: Boxes[Array]) -> None:
    boxes.count = 3  # pyright: ignore[reportAttributeAccessIssue] - structs cannot be changed


def incomplete(values: Array) -> Boxes[Array]:
    return Boxes(values)  # pyright: ignore[reportCallIssue, reportReturnType] - a field is missing


def unconverted(x: Tensor) -> None:
    dispatch(Ops).square(x)  # pyright: ignore[reportArgumentType] - a user tensor
    dispatch(Ops).sqare(x.into_dispatch())  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - no such operation


@op(Flex)
def doubled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x + x


def misused(x: Tensor) -> str:
    doubled(x, 2.0)  # pyright: ignore[reportCallIssue] - one argument too many
    return doubled(x)  # pyright: ignore[reportReturnType] - a tensor


backend_extension("Flex")  # pyright: ignore[reportArgumentType] - a string is no selector
when(LibTorch, "torch")  # pyright: ignore[reportArgumentType] - a string is no condition
gradient(cost="free")  # pyright: ignore[reportArgumentType] - costs are compute and memory
