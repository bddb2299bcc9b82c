"""Values that built-in operations take besides tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from firebrick.core import Distribution, Scalar
from firebrick.errors import ShapeError

__all__ = [
    "Array",
    "AttentionOptions",
    "ConvOptions",
    "ConvTransposeOptions",
    "DeformConvOptions",
    "Distribution",
    "GridSampleOptions",
    "InterpolateOptions",
    "QuantScheme",
    "Scalar",
    "UnfoldOptions",
    "Update",
]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Update: TypeAlias = Literal["assign", "add", "mul", "min", "max"]


def _positive(name: str, sizes: tuple[int, ...]) -> None:
    if any(size < 1 for size in sizes):
        raise ShapeError(
            f"`{name}` counts elements per spatial dimension and is at least 1; got {sizes}."
        )


@dataclass(frozen=True)
class ConvOptions:
    """One entry per spatial dimension, in elements. `ShapeError`: a zero stride or dilation."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1

    def __post_init__(self) -> None:
        _positive("stride", self.stride)
        _positive("dilation", self.dilation)


@dataclass(frozen=True)
class ConvTransposeOptions:
    """As `ConvOptions`, and `padding_out` added to one end of the output."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    padding_out: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1

    def __post_init__(self) -> None:
        _positive("stride", self.stride)
        _positive("dilation", self.dilation)


@dataclass(frozen=True)
class DeformConvOptions:
    """As `ConvOptions`, with one group count for weights and one for offsets."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    weight_groups: int = 1
    offset_groups: int = 1

    def __post_init__(self) -> None:
        _positive("stride", self.stride)
        _positive("dilation", self.dilation)


@dataclass(frozen=True)
class UnfoldOptions:
    """Of sliding blocks in two dimensions, in elements. `ShapeError`: a zero stride or dilation."""

    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]

    def __post_init__(self) -> None:
        _positive("stride", self.stride)
        _positive("dilation", self.dilation)


@dataclass(frozen=True)
class InterpolateOptions:
    """How a picture is resized."""

    mode: Literal["nearest", "nearest_exact", "bilinear", "bicubic", "lanczos3"]
    align_corners: bool = False


@dataclass(frozen=True)
class GridSampleOptions:
    """How a picture is read at positions given by a grid, and what lies outside of it."""

    mode: Literal["nearest", "bilinear", "bicubic"] = "bilinear"
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros"
    align_corners: bool = False


@dataclass(frozen=True)
class AttentionOptions:
    """Scale of the scores (None: one over the root of the head size), soft cap, and mask."""

    scale: float | None = None
    softcap: float | None = None
    is_causal: bool = False


@dataclass(frozen=True)
class QuantScheme:
    """How packed values map to floats: `value * scale`, one scale per tensor or per block."""

    bits: Literal[2, 4, 8] = 8
    block: int | None = None
