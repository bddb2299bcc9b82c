"""The selector of the kernel runtimes and the type of their tensors.

There is no runtime in this version: the names are here so that extensions can be declared for
`Cube`, and making the backend says what is missing.
"""

from __future__ import annotations

from firebrick.backends.cube.backend import Cube
from firebrick.backends.cube.tensor import CubeTensor

__all__ = ["Cube", "CubeTensor"]
