"""The ROCm runtime: HIPRTC compiles, memory and launches are CuPy's build for ROCm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from firebrick.cube.runtime.rocm.driver import RocmDriver


def open_driver(index: int) -> RocmDriver:
    """The driver of the ROCm device of that number.

    Raises: `BackendUnavailableError` naming the extra to install, or what of driver and hardware
    is missing.
    """
    try:
        from firebrick.cube.runtime.rocm.driver import RocmDriver
    except (ImportError, OSError) as reason:
        if (getattr(reason, "name", None) or "").startswith("firebrick"):
            raise
        raise BackendUnavailableError(
            "the rocm runtime needs an AMD GPU with ROCm and the packages of "
            f"`pip install 'firebrick[rocm]'`: {reason}."
        ) from reason
    return RocmDriver(index)
