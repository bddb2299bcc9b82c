"""The built-in operations in NumPy, shared by the backends `ndarray` and `flex`."""

from __future__ import annotations

from firebrick.backends.array.backend import ArrayBackend
from firebrick.backends.array.elementwise import Elementwise
from firebrick.backends.array.quiet import QUIET

__all__ = ["QUIET", "ArrayBackend", "Elementwise"]
