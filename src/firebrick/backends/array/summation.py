"""Sums whose error grows with the logarithm of the count, whatever the axis and the strides.

NumPy adds pairwise along the axis that is contiguous in memory only; along another one it adds
row after row, and the error grows with the count.
"""

from __future__ import annotations

import numpy as np

from firebrick.backend.options import Array

BLOCK = 128
"""Elements that are added one after the other, as in NumPy's own pairwise sum."""


def sum_all(array: Array, accumulator: np.dtype[np.generic]) -> Array:
    """The sum of everything, 0-d, in the accumulator's dtype."""
    flat = array.reshape(-1)
    return np.asarray(np.add.reduce(flat, dtype=accumulator))


def sum_along(array: Array, dim: int, accumulator: np.dtype[np.generic]) -> Array:
    """The sum along `dim`, kept with size 1, in the accumulator's dtype."""
    if array.shape[dim] > BLOCK and accumulator.kind == "f" and not _is_innermost(array, dim):
        axis = dim % array.ndim
        array = _sum_blocks(array, axis, accumulator)
    return np.add.reduce(array, dim, accumulator, keepdims=True)


def _is_innermost(array: Array, dim: int) -> bool:
    steps = [abs(step) for step, size in zip(array.strides, array.shape, strict=True) if size > 1]
    return abs(array.strides[dim]) == min(steps)


def _sum_blocks(array: Array, axis: int, accumulator: np.dtype[np.generic]) -> Array:
    """Sums of blocks along `axis`, and of blocks of them, until one block is left."""
    while (size := array.shape[axis]) > BLOCK:
        before, after = array.shape[:axis], array.shape[axis + 1 :]
        whole = size // BLOCK * BLOCK
        head = array[(*[slice(None)] * axis, slice(whole))]
        blocks = head.reshape(*before, size // BLOCK, BLOCK, *after)
        sums = np.add.reduce(blocks, axis + 1, accumulator)
        rest = array[(*[slice(None)] * axis, slice(whole, None))]
        tail = np.add.reduce(rest, axis, accumulator, keepdims=True)
        array = np.concatenate([sums, tail], axis)
    return array
