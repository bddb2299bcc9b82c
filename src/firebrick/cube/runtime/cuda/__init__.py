"""The CUDA runtime: NVRTC compiles, CuPy has memory and launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from firebrick.cube.runtime.cuda.driver import CudaDriver


def open_driver(index: int) -> CudaDriver:
    """The driver of the CUDA device of that number.

    Raises: `BackendUnavailableError` naming the extra to install, or what of driver and hardware
    is missing.
    """
    try:
        from firebrick.cube.runtime.cuda.driver import CudaDriver
    except (ImportError, OSError) as reason:
        if (getattr(reason, "name", None) or "").startswith("firebrick"):
            raise
        raise BackendUnavailableError(
            "the cuda runtime needs an NVIDIA GPU with its driver and the packages of "
            f"`pip install 'firebrick[cuda]'`: {reason}."
        ) from reason
    return CudaDriver(index)
