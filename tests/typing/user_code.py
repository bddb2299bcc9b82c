"""What a user writes, checked strictly: not one of these lines may make a type checker complain."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

from firebrick import Device, Tensor, float32
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    Backend,
    Explanation,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    Grads,
    Int,
    IntTensor,
    NdArray,
    Need,
    NoDefault,
    Operation,
    OpSet,
    P,
    ReportRow,
    Saved,
    Shape,
    TensorSpec,
    backend_extension,
    dispatch,
    explain,
    feature,
    from_dispatch,
    fusion,
    gradient,
    into_dispatch,
    op,
    register_backend,
    views,
    when,
)

Array = np.ndarray[Any, np.dtype[Any]]


# ---- structs -----------------------------------------------------------------------------------


class Boxes(ExtensionType[P]):
    coords: FloatTensor[P]
    scores: FloatTensor[P]
    count: int = 0

    def is_empty(self) -> bool:
        return self.count == 0


class Dense(ExtensionType[P]):
    values: FloatTensor[P]


class Sparse(ExtensionType[P]):
    values: FloatTensor[P]
    indices: IntTensor[P]


class Empty(ExtensionType[P]): ...


Operand = Dense[P] | Sparse[P] | Empty[P]


def transposed(x: Shape) -> tuple[int, int]:
    return x[1], x[0]


# ---- an op set ---------------------------------------------------------------------------------


@backend_extension(Autodiff, Flex, when(NdArray, feature("torch")))
class DetectOps(OpSet[P]):
    """Operations on boxes."""

    def square(self, input: FloatTensor[P]) -> FloatTensor[P]:
        return self.backend.float_mul(input, input)

    def scale(
        self, x: FloatTensor[P], by: FloatTensor[P] | None, *, offset: float = 0.0
    ) -> FloatTensor[P]:
        return x if by is None else self.backend.float_mul(x, by)

    @views("x")
    @fusion(dtype="x", shape=transposed)
    def transpose(self, x: Float[P, "m n"]) -> Float[P, "n m"]:
        raise NoDefault

    def nms(self, boxes: Boxes[P], threshold: float) -> Boxes[P]:
        raise NoDefault

    def total(self, operand: Operand[P], rest: list[FloatTensor[P]]) -> FloatTensor[P]:
        match operand:
            case Dense(values):
                return self.backend.float_sum(values)
            case Sparse(values, indices):
                return self.backend.float_sum(self.backend.float_select(values, 0, indices))
            case Empty():
                return self.backend.float_sum(rest[0])

    async def later(self, x: FloatTensor[P], ids: Int[P, "n"]) -> tuple[FloatTensor[P], int]:
        return x, 3


class FlexDetect(DetectOps[Array], on=Flex):
    def transpose(self, x: Array) -> Array:
        return x.T

    def nms(self, boxes: Boxes[Array], threshold: float) -> Boxes[Array]:
        kept = boxes.scores > threshold
        return Boxes(coords=boxes.coords[kept], scores=boxes.scores[kept], count=int(kept.sum()))


class AutodiffDetect(DetectOps[AutodiffTensor], on=Autodiff):
    @gradient(save=("x",))
    def transpose(self, saved: Saved, grad: P, need: Need) -> Grads:
        return {"x": self.inner.backend.float_transpose(grad) if need.x else None}

    nms = gradient(None)


DetectOps.default_on(NdArray)


def square(input: Tensor) -> Tensor:
    return Tensor.from_dispatch(dispatch(DetectOps).square(input.into_dispatch()))


def non_maximum_suppression(boxes: Boxes[Tensor], threshold: float = 0.5) -> Boxes[Tensor]:
    return from_dispatch(dispatch(DetectOps).nms(into_dispatch(boxes), threshold))


# ---- the short form ----------------------------------------------------------------------------


@op(Autodiff, Flex, NdArray)
def cubed(x: Float[Tensor, "..."], by: float = 1.0) -> Float[Tensor, "..."]:
    return x * x * x * by


@cubed.impl(Flex)
def _cubed_fast(x: Array, by: float) -> Array:
    return x**3 * np.float32(by)


@cubed.gradient(save=("x",), cost="memory")
def _cubed_gradient(saved: Saved, grad: Tensor, need: Need) -> Grads:
    return {"x": grad * saved.x * saved.x * 3.0}


# ---- a backend of one's own --------------------------------------------------------------------


@register_backend
class Mirror(NdArray):
    name = "typed_mirror"


def describe(backend: Backend[Array]) -> str:
    return f"{backend} {Mirror.name}"


# ---- what calls give ---------------------------------------------------------------------------


def uses() -> None:
    device = Device.flex().autodiff()
    x = Tensor.from_floats([2.0, 3.0], device).require_grad()
    assert_type(square(x), Tensor)
    assert_type(cubed(x), Tensor)
    assert_type(cubed(x, by=2.0), Tensor)
    boxes = Boxes(coords=x, scores=x, count=2)
    assert_type(boxes.is_empty(), bool)
    assert_type(non_maximum_suppression(boxes).coords, Tensor)
    assert_type(explain(cubed, x), Explanation)
    assert_type(DetectOps.report(strict=False), list[ReportRow])
    assert_type(boxes.count, int)
    spec = Boxes(TensorSpec((2, 4), float32), TensorSpec((2,), float32))
    assert_type(spec.coords, TensorSpec)
    assert_type(cubed.op_set.report(), list[ReportRow])
    operation: Operation[..., Tensor] = cubed
    assert operation(x).shape == (2,)
