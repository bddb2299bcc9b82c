"""Tensors of random values, from the generator of their device.

Floats of 16 bits are drawn in float32 and rounded: torch would draw them from few values only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from firebrick.backends.libtorch.dtypes import accumulator, int_range, torch_dtype
from firebrick.backends.libtorch.hardware import Hardware
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Device, Distribution, DType
from firebrick.errors import DTypeError

if TYPE_CHECKING:
    from torch import Generator, Tensor

DEFAULT_GREATEST = 255
"""Of the integers drawn by default, in dtypes that hold it."""


GREATEST_INT64 = 2**63 - 1


class Random(Hardware):
    """Sampling from a `Distribution`."""

    def float_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> Tensor:
        known = torch_dtype(dtype, "float")
        drawn = _floats(tuple(shape), distribution, accumulator(known), self.generator(device))
        drawn = drawn.to(known)
        if distribution.family in ("default", "uniform"):
            low, high = _ends(distribution)
            # Rounding may reach the upper end, which does not belong to the range.
            drawn = torch.where(drawn >= high, low, drawn)
        return drawn

    def int_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> Tensor:
        known = torch_dtype(dtype, "int")
        source = self.generator(device)
        if distribution.family in ("default", "uniform"):
            low, high = _whole_ends(distribution, known)
            # Torch takes no end beyond 64 bits: there, the greatest integer is not drawn.
            end = min(high + 1, GREATEST_INT64)
            return torch.randint(
                low, end, tuple(shape), dtype=known, device=source.device, generator=source
            )
        wide = torch.float32 if source.device.type == "mps" else torch.float64
        drawn = _floats(tuple(shape), distribution, wide, source)
        return torch.clamp(torch.round(drawn), *_float_ends(known, wide)).to(known)


def _ends(distribution: Distribution) -> tuple[float, float]:
    if distribution.family == "default":
        return 0.0, 1.0
    return distribution.first, distribution.second


def _float_ends(dtype: torch.dtype, wide: torch.dtype) -> tuple[int, int]:
    """The least and the greatest integer of a dtype that the float dtype `wide` holds exactly."""
    least, greatest = int_range(dtype)
    # Binary digits of the mantissa: eps is 2 ** (1 - digits), and frexp counts from 0.5.
    digits = 2 - math.frexp(torch.finfo(wide).eps)[1]
    return least, greatest - (greatest >> digits)


def _whole_ends(distribution: Distribution, dtype: torch.dtype) -> tuple[int, int]:
    """The least and the greatest integer to draw."""
    least, greatest = int_range(dtype)
    if distribution.family == "default":
        return 0, min(DEFAULT_GREATEST, greatest)
    low = max(math.ceil(distribution.first), least)
    high = min(math.ceil(distribution.second) - 1, greatest)
    if low > high:
        raise DTypeError(
            f"there is no whole number to draw of this dtype, which holds {least} to {greatest}, "
            f"from {distribution.first!r} up to {distribution.second!r}."
        )
    return low, high


def _floats(
    shape: tuple[int, ...], distribution: Distribution, dtype: torch.dtype, source: Generator
) -> Tensor:
    place = source.device
    if distribution.family == "normal":
        drawn = torch.randn(shape, dtype=dtype, device=place, generator=source)
        return drawn * distribution.second + distribution.first
    drawn = torch.rand(shape, dtype=dtype, device=place, generator=source)
    if distribution.family == "bernoulli":
        return (drawn < distribution.first).to(dtype)
    low, high = _ends(distribution)
    return drawn * (high - low) + low
