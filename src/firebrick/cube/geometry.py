"""Geometry of a launch: numbers of cubes and of units, and what a device allows."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, cast

from firebrick.errors import KernelLaunchError, TooManyResourcesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.runtime.base import Properties, Triple

AUTO = "auto"
AXES = "xyz"


def read_triple(name: str, what: str, value: Any, *, at_least: int) -> Triple:
    """One to three whole numbers; missing ones are 1. `KernelLaunchError` for anything else."""
    items: tuple[Any, ...] = (value,)
    if isinstance(value, tuple | list):
        items = tuple(cast("Sequence[Any]", value))  # of whatever the user put there
    if not 1 <= len(items) <= 3:
        raise KernelLaunchError(
            f"`{name}`: {what} is an int or up to three; got {len(items)} of them: {value!r}."
        )
    sizes: list[int] = []
    for item in items:
        if isinstance(item, bool) or not hasattr(item, "__index__"):
            raise KernelLaunchError(f"`{name}`: {what} is made of ints; got {item!r} in {value!r}.")
        size = operator.index(item)
        if size < at_least:
            raise KernelLaunchError(
                f"`{name}`: {what} has a size of {size} in {value!r}; at least {at_least} is due."
            )
        sizes.append(size)
    sizes += [1] * (3 - len(sizes))
    return sizes[0], sizes[1], sizes[2]


def automatic_count(elements: int, units: int, properties: Properties) -> Triple:
    """Enough cubes for one unit per element, spread over axes where one has too many."""
    cubes = math.ceil(elements / units)
    limit = properties.max_cube_count
    if limit is None or cubes <= limit[0]:
        return cubes, 1, 1
    y = math.ceil(cubes / limit[0])
    if y <= limit[1]:
        return math.ceil(cubes / y), y, 1
    z = math.ceil(y / limit[1])
    return math.ceil(cubes / (limit[1] * z)), limit[1], z


def check_geometry(name: str, cube_count: Triple, cube_dim: Triple, limits: Properties) -> None:
    """`TooManyResourcesError` for more units or cubes than the device has."""
    units = math.prod(cube_dim)
    if limits.max_units is not None and units > limits.max_units:
        raise too_many(name, "units in a cube", units, limits.max_units)
    for what, sizes, maxima in (
        ("units along", cube_dim, limits.max_cube_dim),
        ("cubes along", cube_count, limits.max_cube_count),
    ):
        for axis, size, maximum in zip(AXES, sizes, maxima or sizes, strict=True):
            if size > maximum:
                raise too_many(name, f"{what} {axis}", size, maximum)


def too_many(name: str, resource: str, requested: int, maximum: int) -> TooManyResourcesError:
    """The error for a launch that asks for more than there is."""
    return TooManyResourcesError(
        f"`{name}` asks for {requested} {resource}; this device has at most {maximum}.",
        resource=resource,
        requested=requested,
        maximum=maximum,
    )
