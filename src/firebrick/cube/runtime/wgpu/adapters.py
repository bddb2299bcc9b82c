"""Adapters: which there are, which one an index means, and what it can do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen import wgsl
from firebrick.cube.runtime.base import Properties
from firebrick.cube.runtime.wgpu import api
from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from firebrick.cube.runtime.wgpu.api import Adapter

USABLE = ("Vulkan", "Metal", "D3D12")
"""Interfaces that run kernels; OpenGL does not."""
KINDS = {
    "discrete": "DiscreteGPU",
    "integrated": "IntegratedGPU",
    "virtual": "Unknown",
    "cpu": "CPU",
}
"""Kinds of adapters as wgpu-py calls them, best first."""
WANTED_FEATURES = (
    *wgsl.FEATURES, wgsl.SUBGROUPS, wgsl.SUBGROUP_BARRIER, wgsl.WIDE_ATOMICS,
)  # fmt: skip
LLVMPIPE = "llvmpipe"
LLVMPIPE_LOOP_TRIPS = 65535
"""After so many trips of all loops of a unit together Mesa's llvmpipe leaves them, silently;
LP_MAX_TGSI_LOOP_ITERATIONS in its source."""

_INSTALL = (
    "on Debian and Ubuntu `apt-get install mesa-vulkan-drivers libvulkan1` brings one that runs "
    "without a GPU"
)


def choose(index: int, kind: str | None) -> Adapter:
    """The adapter of that index, among those of that kind if one is given.

    Raises: `BackendUnavailableError` if there is none, naming those that there are.
    """
    if kind is not None and kind not in KINDS:
        raise BackendUnavailableError(
            f"there is no kind {kind!r} of wgpu adapters; kinds are {', '.join(KINDS)}."
        )
    found = api.adapters()
    order = {name: rank for rank, name in enumerate(KINDS.values())}
    usable = [adapter for adapter in found if adapter.info["backend_type"] in USABLE]
    usable.sort(key=lambda adapter: order.get(adapter.info["adapter_type"], len(order)))
    if not usable:
        others = ", ".join(map(describe, found))
        seen = f"; found only {others}, which cannot run kernels" if others else ""
        raise BackendUnavailableError(
            f"the wgpu runtime found no adapter with {', '.join(USABLE)}{seen}: install a driver; "
            f"{_INSTALL}."
        )
    fitting = [a for a in usable if kind is None or a.info["adapter_type"] == KINDS[kind]]
    if not 0 <= index < len(fitting):
        of_kind = f" of kind `{kind}`" if kind is not None else ""
        raise BackendUnavailableError(
            f"there is no wgpu adapter {index}{of_kind}; there are {len(fitting)}, counted from 0"
            f", among {', '.join(map(describe, usable))}."
        )
    return fitting[index]


def describe(adapter: Adapter) -> str:
    """Name, kind and interface."""
    info = adapter.info
    return f"{info['device']} ({info['adapter_type']} via {info['backend_type']})"


def identity(adapter: Adapter) -> str:
    """Everything that compiled code may depend on."""
    info = adapter.info
    parts = (info["vendor"], info["device"], info["description"], info["backend_type"])
    return " / ".join((f"wgpu {api.VERSION}", *parts))


def features_of(adapter: Adapter) -> list[str]:
    """The features to open it with."""
    return [feature for feature in WANTED_FEATURES if feature in adapter.features]


def properties_of(adapter: Adapter, plane_dim: int) -> Properties:
    """What its limits and features amount to; its types are those that WGSL can store."""
    limits = adapter.limits
    cubes = limits["max-compute-workgroups-per-dimension"]
    largest = min(limits["max-storage-buffer-binding-size"], limits["max-buffer-size"])
    is_llvmpipe = LLVMPIPE in adapter.info["device"]
    bare = Properties(
        types=wgsl.CORE,
        max_units=limits["max-compute-invocations-per-workgroup"],
        max_cube_dim=(
            limits["max-compute-workgroup-size-x"],
            limits["max-compute-workgroup-size-y"],
            limits["max-compute-workgroup-size-z"],
        ),
        max_cube_count=(cubes, cubes, cubes),
        max_shared_bytes=limits["max-compute-workgroup-storage-size"],
        max_buffers=limits["max-storage-buffers-per-shader-stage"] - 1,  # one is the metadata
        max_buffer_bytes=largest // 4 * 4,
        plane_dim=plane_dim,
        has_planes=wgsl.SUBGROUPS in adapter.features,
        has_64_bit_index=False,
        max_loop_trips=LLVMPIPE_LOOP_TRIPS if is_llvmpipe else None,
    )
    types = wgsl.device_target(features_of(adapter), bare).properties.types
    return replace(bare, types=types)
