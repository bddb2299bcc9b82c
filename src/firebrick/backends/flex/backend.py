"""The backend class: `ArrayBackend` with threads for large elementwise operations."""

from __future__ import annotations

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array import ArrayBackend, Elementwise
from firebrick.backends.flex.chunks import apply_in_chunks
from firebrick.core import int32


class Flex(ArrayBackend):
    """NumPy arrays; lowest latency on small tensors, several threads on large ones.

    Python ints become int32. Results are bit for bit those of one thread.
    """

    name = "flex"
    int_dtype = int32
    large = 256 * 1024

    def apply_large(self, function: Elementwise, *operands: Array | Scalar) -> Array:
        """`function` of the operands, on several threads where they can be split simply."""
        return apply_in_chunks(function, *operands)
