"""The fastest of several ways to run a kernel, found by timing them on the user's device.

    @autotune(
        Space(block=(64, 128, 256), tile=(1, 2, 4))
        .where(lambda c: c["block"] % c["tile"] == 0)
        .needs(lambda c: Needs(cube_dim=c["block"], shared_bytes=4 * c["block"] * c["tile"])),
        mutable=[1],
    )
    def smooth(c: Configuration) -> Callable[[DeviceTensor, DeviceTensor], None]:
        return lambda x, out: smooth_kernel["auto", c["block"]](x, out, c["tile"])

    smooth(x, out)  # the first call of a kind times the candidates, later ones launch the winner

The decorated function gets one configuration and returns what to run with it: often a launcher,
`kernel[cube_count, cube_dim]`, but any callable will do. Candidates are timed on copies of the
tensors they may write, so the user's data is touched once, by the winner. Winners are kept per
device and per kind of arguments (dtypes, and sizes rounded up to a few steps) in memory and in the
kernel cache; another set of candidates is timed afresh.

`FIREBRICK_AUTOTUNE_LEVEL` is how finely sizes are told apart: `minimal`, `balanced` (the default),
`extensive` or `full`; with `off` nothing is timed and the first valid candidate runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from firebrick.cube.autotune.keys import Key, anchor, default_key
from firebrick.cube.autotune.space import Configuration, Needs, Space
from firebrick.cube.autotune.timing import Sampling
from firebrick.cube.autotune.tuner import Tuner, Tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from firebrick.cube.cache import KernelCache

__all__ = [
    "Configuration",
    "Key",
    "Needs",
    "Sampling",
    "Space",
    "Tuner",
    "Tuning",
    "anchor",
    "autotune",
    "default_key",
]

R = TypeVar("R")
Ts = TypeVarTuple("Ts")


def autotune(
    space: Space,
    *,
    key: Callable[..., Key] = default_key,
    mutable: Collection[int] | None = None,
    name: str | None = None,
    cache: KernelCache | None = None,
) -> Callable[[Callable[[Configuration], Callable[[*Ts], R]]], Tuner[R, *Ts]]:
    """Makes a function that builds candidates into one that runs the fastest.

    Args:
        space: The configurations to try, in order of preference where nothing is timed.
        key: What decides the winner, from the arguments of a call: numbers, strings, None and
            tuples of these. `anchor(size)` keeps similar sizes together.
        mutable: Positions of the arguments that a candidate writes. Unless given, every tensor is
            copied for timing, which is always right and takes more memory.
        name: What winners are stored under; the module and name of the function unless given.
        cache: Where they are stored; the kernel cache of the process unless given.

    Raises when called: `KernelError` with a reason for each candidate if none of them works. One
    that fails while others work is left out.
    """

    def decorate(build: Callable[[Configuration], Callable[[*Ts], R]]) -> Tuner[R, *Ts]:
        known = name or f"{build.__module__}.{build.__qualname__}"
        return Tuner(known, space, build, key, mutable=mutable, cache=cache)

    return decorate
