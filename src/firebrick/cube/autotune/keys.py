"""Which calls share a winner: sizes rounded up to steps, and keys as text."""

from __future__ import annotations

import math
import os
from typing import Any, Literal, TypeAlias, cast, get_args

from firebrick.errors import KernelError

Level = Literal["off", "minimal", "balanced", "extensive", "full"]
Key: TypeAlias = "int | float | str | tuple[Key, ...] | None"
"""What decides a winner."""

VARIABLE = "FIREBRICK_AUTOTUNE_LEVEL"
DEFAULT_LEVEL: Level = "balanced"
EXPONENTS: dict[Level, float] = {"off": 1.0, "minimal": 1.25, "balanced": 1.0, "extensive": 0.75}
"""Sizes are rounded up to powers of `base ** exponent`; at `full` they are kept. From CubeCL."""


def level() -> Level:
    """What `FIREBRICK_AUTOTUNE_LEVEL` says now; `KernelError` for anything but a level."""
    wanted = os.environ.get(VARIABLE, "").lower() or DEFAULT_LEVEL
    if wanted not in get_args(Level):
        raise KernelError(
            f"the environment variable {VARIABLE} is {wanted!r}; accepted are "
            f"{', '.join(get_args(Level))}."
        )
    return cast("Level", wanted)  # one of its strings


def anchor(
    size: int,
    *,
    base: float = 2.0,
    minimum: int | None = None,
    maximum: int | None = None,
    at: Level | None = None,
) -> int:
    """A size that stands for all similar ones: the next step of a geometric scale.

    Args:
        size: Not negative.
        base: The scale's ratio at the level `balanced`, above 1.
        minimum: Smaller sizes are taken for this one.
        maximum: Larger sizes are taken for this one.
        at: How fine the scale is; the level of the environment unless given.

    >>> [anchor(size, at="balanced") for size in (0, 1, 3, 64, 65)]
    [0, 1, 4, 64, 128]
    """
    chosen = at or level()
    low = size if minimum is None else max(size, minimum)
    bounded = low if maximum is None else min(low, maximum)
    if chosen == "full" or bounded <= 1:
        return bounded
    step = base ** EXPONENTS[chosen]
    # One below the estimate: a logarithm of an exact power may come out a little too large.
    power = max(math.ceil(math.log(bounded, step)) - 1, 0)
    while math.ceil(step**power) < bounded:
        power += 1
    reached = math.ceil(step**power)
    return reached if maximum is None else min(reached, maximum)


def default_key(*arguments: object) -> Key:
    """Dtypes and anchored sizes of tensors, anchored ints, and what other values there are.

    A float does not decide how fast a kernel is, a bool or a string may.
    """
    chosen = level()
    return tuple(_of_argument(argument, chosen) for argument in arguments)


def _of_argument(argument: Any, at: Level) -> Key:
    if isinstance(argument, bool | str) or argument is None:
        return argument
    if isinstance(argument, int):
        return anchor(argument, at=at) if argument >= 0 else argument
    if hasattr(argument, "shape") and hasattr(argument, "dtype"):
        return (str(argument.dtype), *(anchor(int(size), at=at) for size in argument.shape))
    return type(argument).__qualname__


def encode(key: Key) -> str:
    """A key as text that is the same in every process.

    Raises: `KernelError` for a key with other values: their text may name an address.
    """
    if isinstance(key, tuple):
        return f"({','.join(encode(part) for part in key)})"
    given = cast("object", key)  # a caller may have built something else
    if given is None or isinstance(given, int | float | str):
        return f"{type(given).__name__} {given!r}"
    raise KernelError(
        f"a key of autotuning is made of numbers, strings, None and tuples; got {given!r} of type "
        f"{type(given).__name__}."
    )
