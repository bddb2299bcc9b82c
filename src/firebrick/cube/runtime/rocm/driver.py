"""The driver of a ROCm device: HIPRTC and the HIP text on what CuPy's build for ROCm has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firebrick.cube.codegen import hip
from firebrick.cube.runtime.cupy_device import cupy
from firebrick.cube.runtime.cupy_driver import CupyDriver
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Properties

_HEADERS = "#include <hip/hip_runtime.h>\n"
OPTIONS = ("-O3", "-std=c++17", "-ffp-contract=off")


class RocmDriver(CupyDriver):
    """The ROCm device of that number."""

    def __init__(self, index: int) -> None:
        super().__init__("rocm", index, is_hip=True)
        facts = self.facts
        self._architecture: str = facts["gcnArchName"].decode()
        self._properties = replace(
            hip.PROPERTIES,
            max_units=facts["maxThreadsPerBlock"],
            max_shared_bytes=facts["sharedMemPerBlock"],
            plane_dim=facts["warpSize"],
        )
        self._target = replace(hip.HIP, properties=self._properties)
        self._hiprtc: Any = cupy.cuda.nvrtc  # CuPy's build for ROCm has HIPRTC under this name

    @property
    def identity(self) -> str:
        """The architecture, which is all that a code object depends on."""
        return f"rocm {self._architecture}"

    @property
    def properties(self) -> Properties:
        """The limits of the device; it has every type of the language."""
        return self._properties

    @property
    def compiler(self) -> str:
        """HIPRTC."""
        major, minor = self._hiprtc.getVersion()
        return " ".join((f"hiprtc {major}.{minor}", *OPTIONS))

    def emit(self, function: Function) -> str:
        """HIP C++."""
        return hip.emit(function, self._target)

    def translate(self, name: str, text: str, *, with_headers: bool) -> bytes:
        """A code object."""
        hiprtc = self._hiprtc
        whole = _HEADERS + text if with_headers else text
        program = hiprtc.createProgram(whole, "kernel.hip", (), ())
        try:
            hiprtc.compileProgram(program, (f"--offload-arch={self._architecture}", *OPTIONS))
            image: bytes = hiprtc.getPTX(program)
        except hiprtc.NVRTCError as reason:
            raise KernelCompileError(
                f"`{name}` does not compile for {self._architecture}: "
                f"{hiprtc.getProgramLog(program) or reason}"
            ) from reason
        finally:
            hiprtc.destroyProgram(program)
        return image
