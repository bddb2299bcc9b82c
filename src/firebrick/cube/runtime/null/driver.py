"""A driver that compiles and runs nothing: kernels can be tested where there is no device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.cube.ir.types import BITS
from firebrick.cube.runtime.base import Properties
from firebrick.cube.targets import source_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import TensorArgument, Triple

TEXT_TARGET = "cuda"
"""The target whose text stands for all: it has every type of the language."""


class NullDriver:
    """Memory that keeps what was uploaded; launches leave it as it is."""

    name = "null"
    identity = "null"
    properties = Properties(types=frozenset(BITS), max_units=1024)

    def compile(self, function: Function) -> str:
        """The text for one target."""
        return source_text(TEXT_TARGET, function)

    def allocate(self, size_bytes: int) -> bytearray:
        """Zeros."""
        return bytearray(size_bytes)

    def upload(self, memory: bytearray, data: np.ndarray[Any, Any]) -> None:
        """Keeps the bytes."""
        memory[: data.nbytes] = data.tobytes()

    def launch(
        self,
        compiled: str,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Nothing."""

    def read(self, memory: bytearray, size_bytes: int) -> bytes:
        """What was uploaded."""
        return bytes(memory[:size_bytes])

    def sync(self) -> None:
        """Nothing is ever queued."""
