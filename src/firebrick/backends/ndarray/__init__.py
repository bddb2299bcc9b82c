"""Plain NumPy: the reference that other backends are compared with."""

from __future__ import annotations

from firebrick.backends.array import ArrayBackend

__all__ = ["NdArray"]


class NdArray(ArrayBackend):
    """NumPy arrays, one call of NumPy at a time; Python ints become int64."""

    name = "ndarray"
