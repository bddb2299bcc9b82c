"""A driver over the interpreter: memory is NumPy's, launches run at once and raise at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.cube.interpreter import InterpreterBuffer, Program, storage_dtype, translate
from firebrick.cube.ir.types import BITS
from firebrick.cube.ir.verifier import verify
from firebrick.cube.runtime.base import Properties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import TensorArgument, Triple

HostArray = np.ndarray[Any, Any]


class InterpreterDriver:
    """Executes the IR as it was lowered, without passes: what it finds is the user's."""

    name = "interpreter"
    identity = "interpreter"
    properties = Properties(types=frozenset(BITS), plane_dim=32)

    def compile(self, function: Function) -> Program:
        """Checks the IR and gets it ready."""
        verify(function)
        return translate(function)

    def allocate(self, size_bytes: int) -> HostArray:
        """Zeros."""
        return np.zeros(size_bytes, np.uint8)

    def upload(self, memory: HostArray, data: HostArray) -> None:
        """Copies."""
        memory[: data.nbytes] = np.frombuffer(data.tobytes(), np.uint8)

    def launch(
        self,
        compiled: Program,
        cube_count: Triple,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> None:
        """Runs the kernel now; raises what the interpreter finds."""
        buffers: list[InterpreterBuffer] = []
        for buffer in compiled.function.buffers:
            tensor = tensors[buffer.position]
            dtype = storage_dtype(buffer.type)
            values = tensor.memory.raw[: tensor.length * dtype.itemsize].view(dtype)
            buffers.append(InterpreterBuffer(values, tensor.shape, tensor.strides))
        compiled.run(cube_count, buffers, numbers)

    def read(self, memory: HostArray, size_bytes: int) -> bytes:
        """A copy."""
        return memory[:size_bytes].tobytes()

    def sync(self) -> None:
        """Nothing is ever queued."""
