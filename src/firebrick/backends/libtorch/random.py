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
            return torch.randint(
                low, high + 1, tuple(shape), dtype=known, device=source.device, generator=source
            )
        least, greatest = int_range(known)
        drawn = _floats(tuple(shape), distribution, torch.float32, source)
        return torch.clamp(torch.round(drawn), least, greatest).to(known)


def _ends(distribution: Distribution) -> tuple[float, float]:
    if distribution.family == "default":
        return 0.0, 1.0
    return distribution.first, distribution.second


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
