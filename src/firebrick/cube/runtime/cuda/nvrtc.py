"""NVRTC through cuda-bindings: text becomes machine code for an architecture, without a GPU."""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from firebrick.errors import BackendUnavailableError, KernelCompileError

# Any: the package has no complete type information
nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")

_SUCCESS = 0
OPTIONS = ("--fmad=false", "--std=c++17")
"""A product and a sum are rounded separately; division and roots are exact by default."""


@cache
def version() -> str:
    """Of the compiler; `BackendUnavailableError` if its library is not here."""
    try:
        major, minor = _call("nvrtcVersion")
    except RuntimeError as reason:  # of the package that looks for libraries
        raise BackendUnavailableError(
            "the cuda runtime needs the library NVRTC, which `pip install 'firebrick[cuda]'` "
            f"brings: {reason}"
        ) from reason
    return f"nvrtc {major}.{minor}"


@cache
def include_folders() -> tuple[str, ...]:
    """Where headers such as `cuda_fp16.h` may be, for texts of users; generated ones have none."""
    candidates = [
        Path(os.environ[name]) for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ
    ]
    candidates.append(Path("/usr/local/cuda"))
    candidates += sorted(
        path for folder in sys.path for path in Path(folder or ".").glob("nvidia/cu[0-9]*")
    )
    found = (candidate / "include" for candidate in candidates)
    return tuple(str(folder) for folder in found if (folder / "cuda_fp16.h").exists())


def compile_text(name: str, text: str, architecture: str, *, with_headers: bool = False) -> bytes:
    """A cubin.

    Args:
        name: Of the kernel, in messages.
        text: CUDA C++.
        architecture: Such as `sm_90`.
        with_headers: Whether the text may include the toolkit's headers.

    Raises: `KernelCompileError` with the compiler's own words.
    """
    options = [f"--gpu-architecture={architecture}", *OPTIONS]
    if with_headers:
        options += [f"--include-path={folder}" for folder in include_folders()]
    program = _call("nvrtcCreateProgram", text.encode(), b"kernel.cu", 0, None, None)
    try:
        encoded = [option.encode() for option in options]
        status = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)[0]
        if int(status) != _SUCCESS:
            raise KernelCompileError(
                f"`{name}` does not compile for {architecture}: {_log(program) or status.name}"
            )
        cubin = bytearray(_call("nvrtcGetCUBINSize", program))
        _call("nvrtcGetCUBIN", program, cubin)
        return bytes(cubin)
    finally:
        _call("nvrtcDestroyProgram", program)


def _log(program: Any) -> str:
    log = bytearray(_call("nvrtcGetProgramLogSize", program))
    _call("nvrtcGetProgramLog", program, log)
    return log.decode(errors="replace").rstrip("\0\n")


def _call(function: str, *arguments: Any) -> Any:
    """What a function gives. No text is to blame for what it refuses."""
    status, *results = getattr(nvrtc, function)(*arguments)
    if int(status) != _SUCCESS:
        raise KernelCompileError(f"NVRTC's `{function}` failed: {status.name}.")
    return results[0] if len(results) == 1 else tuple(results)
