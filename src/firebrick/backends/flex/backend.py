"""The backend class: `ArrayBackend` with another way to apply elementwise functions."""

from __future__ import annotations

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array import QUIET, ArrayBackend, Elementwise
from firebrick.backends.flex.chunks import apply_in_chunks
from firebrick.core import int32

LARGE = 256 * 1024
"""Elements from which splitting pays: below, handing out the parts costs more than it saves."""


class Flex(ArrayBackend):
    """NumPy arrays; lowest latency on small tensors, several threads on large ones.

    Python ints become int32. Results are bit for bit those of one thread.
    """

    name = "flex"
    int_dtype = int32

    def unary(self, function: Elementwise, tensor: Array) -> Array:
        """`function` of one array, on several threads if it is large."""
        if tensor.size >= LARGE:
            return apply_in_chunks(function, tensor)
        return np.asarray(QUIET.run(function, tensor))

    def binary(self, function: Elementwise, lhs: Array, rhs: Array) -> Array:
        """`function` of two arrays, on several threads if one is large."""
        if lhs.size >= LARGE or rhs.size >= LARGE:
            return apply_in_chunks(function, lhs, rhs)
        return np.asarray(QUIET.run(function, lhs, rhs))

    def with_number(self, function: Elementwise, lhs: Array, rhs: Scalar) -> Array:
        """`function` of an array and a number, on several threads if the array is large."""
        if lhs.size >= LARGE:
            return apply_in_chunks(function, lhs, rhs)
        return np.asarray(QUIET.run(function, lhs, rhs))
