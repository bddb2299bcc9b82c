"""Barriers, ends, and what happens when compiling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from firebrick.cube.lang.intrinsic import intrinsic

T = TypeVar("T")


@intrinsic("sync_cube")
def sync_cube() -> None:
    """All units of the cube arrive before any goes on; shared memory is visible after."""
    ...


@intrinsic("sync_plane")
def sync_plane() -> None:
    """All units of the plane arrive before any goes on."""
    ...


@intrinsic("sync_storage")
def sync_storage() -> None:
    """As `sync_cube`, for what the cube wrote to tensors."""
    ...


@intrinsic("terminate")
def terminate() -> None:
    """Ends the unit, from inside nested functions too."""
    ...


@intrinsic("unroll")
def unroll(values: Iterable[int]) -> Iterable[int]:
    """`for i in unroll(range(4))`: bounds are known when compiling."""
    ...


@intrinsic("comptime")
def comptime(value: T) -> T:
    """Evaluates an expression of compile-time values when compiling."""
    ...
