"""The driver of a CUDA device: NVRTC and the CUDA text on what CuPy has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen import cuda
from firebrick.cube.runtime.cuda import nvrtc
from firebrick.cube.runtime.cupy_driver import CupyDriver

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Properties


class CudaDriver(CupyDriver):
    """The CUDA device of that number."""

    def __init__(self, index: int) -> None:
        self._compiler = " ".join((nvrtc.version(), *nvrtc.OPTIONS))
        super().__init__("cuda", index, is_hip=False)
        facts = self.facts
        self._architecture = f"sm_{facts['major']}{facts['minor']}"
        self._properties = replace(
            cuda.PROPERTIES,
            max_units=facts["maxThreadsPerBlock"],
            max_cube_dim=tuple(facts["maxThreadsDim"]),
            max_cube_count=tuple(facts["maxGridSize"]),
            max_shared_bytes=facts["sharedMemPerBlock"],
        )
        self._target = replace(cuda.CUDA, properties=self._properties)

    @property
    def identity(self) -> str:
        """The architecture, which is all that a cubin depends on."""
        return f"cuda {self._architecture}"

    @property
    def properties(self) -> Properties:
        """The limits of the device; it has every type of the language."""
        return self._properties

    @property
    def compiler(self) -> str:
        """NVRTC."""
        return self._compiler

    def emit(self, function: Function) -> str:
        """CUDA C++."""
        return cuda.emit(function, self._target)

    def translate(self, name: str, text: str, *, with_headers: bool) -> bytes:
        """A cubin."""
        return nvrtc.compile_text(name, text, self._architecture, with_headers=with_headers)
