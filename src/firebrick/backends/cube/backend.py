"""The selector class `Cube`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firebrick.backend import Backend
from firebrick.backends.cube.tensor import CubeTensor
from firebrick.core import Device, DType, Kind
from firebrick.errors import BackendUnavailableError

UNAVAILABLE = (
    "kernel devices (`cpu`, `wgpu`, `cuda`, `rocm`) come with `pip install 'firebrick[cpu]'`, "
    "`'firebrick[wgpu]'`, `'firebrick[cuda]'` or `'firebrick[rocm]'`, but this version has no "
    "kernel runtime yet; use `flex`, `ndarray` or `libtorch`."
)


class Cube(Backend[CubeTensor]):
    """All kernel runtimes: `cpu`, `wgpu`, `cuda`, `rocm`."""

    name = "cube"
    native = CubeTensor
    kinds: Mapping[Any, Kind] = {known: known.kind for known in DType.by_name.values()}
    has_many_devices = True

    def __init__(self) -> None:
        raise BackendUnavailableError(UNAVAILABLE)

    @classmethod
    def devices(cls) -> list[Device]:
        """None yet. Raises: `BackendUnavailableError`."""
        raise BackendUnavailableError(UNAVAILABLE)
