"""Exchange inside a plane. Every unit of the plane must arrive."""

from __future__ import annotations

from typing import TypeVar

from firebrick.cube.lang.intrinsic import intrinsic
from firebrick.cube.lang.numbers import Numeric

__all__ = [
    "all",
    "any",
    "ballot",
    "broadcast",
    "elect",
    "exclusive_prod",
    "exclusive_sum",
    "inclusive_prod",
    "inclusive_sum",
    "max",
    "min",
    "prod",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "sum",
]

_N = TypeVar("_N", bound=Numeric)


@intrinsic("plane.sum")
def sum(value: _N) -> _N:
    """Of all units."""
    ...


@intrinsic("plane.prod")
def prod(value: _N) -> _N:
    """Product over all units."""
    ...


@intrinsic("plane.max")
def max(value: _N) -> _N:
    """The largest of all units."""
    ...


@intrinsic("plane.min")
def min(value: _N) -> _N:
    """The smallest of all units."""
    ...


@intrinsic("plane.inclusive_sum")
def inclusive_sum(value: _N) -> _N:
    """Of the units up to this one."""
    ...


@intrinsic("plane.exclusive_sum")
def exclusive_sum(value: _N) -> _N:
    """Of the units before this one; 0 in the first."""
    ...


@intrinsic("plane.inclusive_prod")
def inclusive_prod(value: _N) -> _N:
    """Product over the units up to this one."""
    ...


@intrinsic("plane.exclusive_prod")
def exclusive_prod(value: _N) -> _N:
    """Product over the units before this one; 1 in the first."""
    ...


@intrinsic("plane.broadcast")
def broadcast(value: _N, unit: int) -> _N:
    """The value of one unit, the same for all."""
    ...


@intrinsic("plane.shuffle")
def shuffle(value: _N, unit: int) -> _N:
    """The value of the unit that this unit names."""
    ...


@intrinsic("plane.shuffle_xor")
def shuffle_xor(value: _N, mask: int) -> _N:
    """The value of the unit whose position differs in the bits of `mask`."""
    ...


@intrinsic("plane.shuffle_up")
def shuffle_up(value: _N, delta: int) -> _N:
    """The value of the unit `delta` before; its own in the first ones."""
    ...


@intrinsic("plane.shuffle_down")
def shuffle_down(value: _N, delta: int) -> _N:
    """The value of the unit `delta` after; its own in the last ones."""
    ...


@intrinsic("plane.elect")
def elect() -> bool:
    """True for exactly one unit of the plane."""
    ...


@intrinsic("plane.all")
def all(condition: bool) -> bool:
    """Whether the condition holds in all units."""
    ...


@intrinsic("plane.any")
def any(condition: bool) -> bool:
    """Whether the condition holds in some unit."""
    ...


@intrinsic("plane.ballot")
def ballot(condition: bool) -> tuple[int, int, int, int]:
    """One bit per unit, 4 words of 32."""
    ...
