"""Kernels on the processors of this machine, compiled by LLVM (the package llvmlite)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from firebrick.cube.runtime.base import Driver


def open_driver(index: int) -> Driver:
    """The driver of all processors together, which are device 0.

    Raises: `BackendUnavailableError` without llvmlite, or for another index.
    """
    if index != 0:
        raise BackendUnavailableError(
            f"the kernel runtime `cpu` has one device, number 0; got {index}."
        )
    try:
        from firebrick.cube.runtime.cpu.driver import CpuDriver
    except ModuleNotFoundError as reason:
        if reason.name is None or not reason.name.startswith("llvmlite"):
            raise
        raise BackendUnavailableError(
            "the kernel runtime `cpu` needs the package llvmlite; install it with "
            "`pip install firebrick[cpu]`."
        ) from reason
    return CpuDriver()
