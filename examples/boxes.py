"""Structs and unions of tensors: finding boxes, dropping those that overlap, adding up scores.

`Boxes` is a struct of tensors, `Selection` a union of three. Both are inputs and outputs: the
same class holds NumPy arrays in an implementation, PyTorch tensors in another, and tensors in
the hands of users. `detect` and `total` are composed, `nms` is written for each backend and has
no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firebrick import Device, Tensor
from firebrick.extension import (
    Autodiff,
    AutodiffTensor,
    ExtensionType,
    Flex,
    Float,
    FloatTensor,
    IntTensor,
    LibTorch,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    from_dispatch,
    gradient,
    into_dispatch,
    views,
)


class Boxes(ExtensionType[P]):
    """Boxes of one size: corners `[n, 4]` as left, top, right, bottom, and scores `[n]`."""

    corners: FloatTensor[P]
    scores: FloatTensor[P]
    size: float


class Every(ExtensionType[P]):
    """All boxes."""


class Chosen(ExtensionType[P]):
    """The boxes of these rows, `[k]`."""

    rows: IntTensor[P]


class Weighted(ExtensionType[P]):
    """All boxes, each with a weight, `[n]`."""

    weights: FloatTensor[P]


Selection = Every[P] | Chosen[P] | Weighted[P]


@backend_extension(Autodiff, Flex, NdArray, LibTorch)
class BoxOps(OpSet[P]):
    """Detection, in three steps."""

    @views("points")
    def detect(self, points: Float[P, "n 3"], size: float) -> Boxes[P]:
        """Boxes of `size` around points given as x, y and score.

        The scores may share memory with the points, which `@views` says.
        """
        b = self.backend
        count = points.shape[0]
        centers = b.float_slice(points, (slice(0, count), slice(0, 2)))
        scores = b.float_slice(points, (slice(0, count), slice(2, 3)))
        top_left = b.float_sub_scalar(centers, size / 2)
        bottom_right = b.float_add_scalar(centers, size / 2)
        corners = b.float_cat([top_left, bottom_right], 1)
        return Boxes(corners, b.float_reshape(scores, (count,)), size)

    def nms(self, boxes: Boxes[P], threshold: float) -> Selection[P]:
        """Drops each box that overlaps a better one by more than `threshold` of their union.

        Rows are in order of falling score; `Every` if nothing is dropped.
        """
        raise NoDefault

    def total(self, boxes: Boxes[P], selection: Selection[P]) -> FloatTensor[P]:
        """The sum of the scores of the selected boxes, 0-d."""
        b = self.backend
        match selection:
            case Every():
                return b.float_sum(boxes.scores)
            case Chosen(rows):
                return b.float_sum(b.float_select(boxes.scores, 0, rows))
            case Weighted(weights):
                return b.float_sum(b.float_mul(boxes.scores, weights))


def kept_rows(order: list[int], overlapping: list[list[bool]]) -> list[int]:
    """Positions in `order`, best first, of the rows that overlap none that is kept already."""
    kept: list[int] = []
    for position, row in enumerate(order):
        if not any(overlapping[row][order[k]] for k in kept):
            kept.append(position)
    return kept


class ArrayBoxes:
    """What both NumPy backends do."""

    def nms(self, boxes: Boxes[np.ndarray], threshold: float) -> Selection[np.ndarray]:
        """As declared."""
        low, high = boxes.corners[:, :2], boxes.corners[:, 2:]
        sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
        shared = sides.clip(min=0).prod(axis=-1)
        areas = (high - low).prod(axis=-1)
        overlapping = shared > threshold * (areas[:, None] + areas - shared)
        order = np.argsort(-boxes.scores, kind="stable")
        kept = kept_rows(order.tolist(), overlapping.tolist())
        return Every() if len(kept) == len(order) else Chosen(order[kept])


class FlexBoxes(ArrayBoxes, BoxOps[np.ndarray], on=Flex):
    """`BoxOps` on Flex."""


class NdArrayBoxes(ArrayBoxes, BoxOps[np.ndarray], on=NdArray):
    """`BoxOps` on NdArray."""


class LibTorchBoxes(BoxOps[Any], on=LibTorch):
    """`BoxOps` on PyTorch, by methods of its tensors: without PyTorch the file still imports."""

    def nms(self, boxes: Boxes[Any], threshold: float) -> Selection[Any]:
        """As declared."""
        low, high = boxes.corners[:, :2], boxes.corners[:, 2:]
        sides = high[:, None].minimum(high) - low[:, None].maximum(low)
        shared = sides.clamp(min=0).prod(-1)
        areas = (high - low).prod(-1)
        overlapping = shared > threshold * (areas[:, None] + areas - shared)
        order = boxes.scores.argsort(descending=True, stable=True)
        kept = kept_rows(order.tolist(), overlapping.tolist())
        return Every() if len(kept) == len(order) else Chosen(order[kept])


class AutodiffBoxes(BoxOps[AutodiffTensor], on=Autodiff):
    """Gradients of `detect` and `total` follow from their bodies; a choice of rows has none."""

    nms = gradient(None)


def detect(points: Tensor, size: float) -> Boxes[Tensor]:
    """Boxes of `size` around points `[n, 3]` given as x, y and score."""
    return from_dispatch(dispatch(BoxOps).detect(into_dispatch(points), size))


def nms(boxes: Boxes[Tensor], threshold: float) -> Selection[Tensor]:
    """Which boxes to keep: drops those that overlap a better one by more than `threshold`."""
    return from_dispatch(dispatch(BoxOps).nms(into_dispatch(boxes), threshold))


def total(boxes: Boxes[Tensor], selection: Selection[Tensor]) -> Tensor:
    """The sum of the scores of the selected boxes, 0-d."""
    return from_dispatch(dispatch(BoxOps).total(*into_dispatch((boxes, selection))))


# x, y and score: the first two lie on each other, the third apart.
POINTS = [[2.0, 2.0, 0.5], [2.5, 2.0, 0.75], [9.0, 9.0, 0.25]]


def _boxes() -> Boxes[Tensor]:
    corners = [[0.0, 0.0, 4.0, 4.0], [0.5, 0.0, 4.5, 4.0], [7.0, 7.0, 11.0, 11.0]]
    return Boxes(Tensor(corners), Tensor([0.5, 0.75, 0.25]), 4.0)


# Cases for `firebrick check`: what random corners and scores would not exercise.
CASES = {
    "nms": lambda: [(_boxes(), 0.5), (_boxes(), 0.9)],
    "total": lambda: [
        (_boxes(), Every()),
        (_boxes(), Chosen(Tensor([1, 2]))),
        (_boxes(), Weighted(Tensor([1.0, 0.5, 2.0]))),
    ],
}


def main() -> None:
    """Prints which boxes stay, their total score, and its gradient."""
    points = Tensor(POINTS, Device.default().autodiff()).require_grad()
    boxes = detect(points, size=4.0)
    selection = nms(boxes, threshold=0.5)
    score = total(boxes, selection)
    gradients = score.backward()
    kept = selection.rows.tolist() if isinstance(selection, Chosen) else "all"
    print(f"kept: {kept}, total: {score.item()}, gradient: {points.grad(gradients).tolist()}")


if __name__ == "__main__":
    main()
