"""The wgpu runtime: Vulkan, Metal and Direct3D 12 through wgpu-py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from firebrick.cube.runtime.wgpu.driver import WgpuDriver


def open_driver(index: int, kind: str | None = None) -> WgpuDriver:
    """The driver of an adapter.

    Args:
        index: Counts the adapters: discrete ones first, then integrated, virtual and CPUs.
        kind: `discrete`, `integrated`, `virtual` or `cpu`: counts those only.

    Raises: `BackendUnavailableError` naming the extra, the system package or the adapters there
    are.
    """
    try:
        from firebrick.cube.runtime.wgpu.driver import WgpuDriver
    except (ImportError, OSError) as reason:
        if (getattr(reason, "name", None) or "").startswith("firebrick"):
            raise
        raise BackendUnavailableError(
            f"the wgpu runtime needs the package `wgpu`: pip install 'firebrick[wgpu]' ({reason})."
        ) from reason
    return WgpuDriver(index, kind)
