"""The default backend: NumPy, eager, with large elementwise operations on several threads."""

from __future__ import annotations

from firebrick.backends.flex.backend import Flex

__all__ = ["Flex"]
