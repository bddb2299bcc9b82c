"""The built-in operations in NumPy, shared by the backends `ndarray` and `flex`."""

from __future__ import annotations

from firebrick.backends.array.backend import ArrayBackend
from firebrick.backends.array.elementwise import Elementwise
from firebrick.backends.array.quiet import quietly

__all__ = ["ArrayBackend", "Elementwise", "quietly"]
