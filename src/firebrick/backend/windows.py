"""Where the elements of sliding windows come from, for the default bodies of the unfolds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firebrick.backend.options import Array
from firebrick.backend.shapes import unfolded
from firebrick.core import Shape, normalize_dim


def window_positions(
    shape: Sequence[int], dim: int, size: int, step: int
) -> tuple[Array, tuple[int, ...], list[int]]:
    """What to select along `dim`, the shape with the windows beside `dim`, and the last order.

    Selecting the positions, then reshaping, then permuting by the order puts the elements of
    the windows last.
    """
    position = normalize_dim(dim, len(shape))
    windows = unfolded(Shape(shape), dim, size, step)[position]
    starts = np.arange(windows, dtype=np.int32) * np.int32(step)
    positions = (starts[:, None] + np.arange(size, dtype=np.int32)).reshape(-1)
    split = (*shape[:position], windows, size, *shape[position + 1 :])
    axes = [axis for axis in range(len(split)) if axis != position + 1]
    return positions, split, [*axes, position + 1]
