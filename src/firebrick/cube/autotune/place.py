"""Where a call runs, found from its arguments: a kernel runtime, or the host."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from firebrick.cube.runtime.base import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firebrick.cube.runtime.base import Properties


@dataclass(frozen=True, slots=True)
class Place:
    """What timing needs to know of a device."""

    identity: str
    properties: Properties | None
    """None on the host, which limits nothing."""
    sync: Callable[[], None]
    """Waits for everything that was launched; raises what went wrong."""


def _nothing() -> None:
    """The host does not queue."""


HOST = Place("host", None, _nothing)


def place_of(arguments: tuple[Any, ...]) -> Place:
    """The runtime of the first device tensor among the arguments, else the host."""
    for leaf in leaves(arguments):
        memory = memory_of(leaf)
        if memory is not None:
            driver = memory.runtime.driver
            return Place(f"{driver.name} {driver.identity}", driver.properties, driver.sync)
    return HOST


def memory_of(value: Any) -> Memory | None:
    """The device memory of a tensor, None for anything else."""
    handle = getattr(value, "handle", None)
    return handle if isinstance(handle, Memory) else None


def leaves(value: Any) -> Iterator[Any]:
    """What stands in tuples, lists and structs."""
    if is_leaf(value):
        yield value
        return
    for part in parts(value):
        yield from leaves(part)


def is_leaf(value: Any) -> bool:
    """Whether a value is a tensor or nothing that holds tensors."""
    if memory_of(value) is not None or isinstance(value, type):
        return True
    return not (isinstance(value, tuple | list) or dataclasses.is_dataclass(value))


def parts(value: Any) -> list[Any]:
    """The items of a tuple or list, the fields of a struct."""
    if isinstance(value, tuple | list):
        return list(cast("tuple[Any, ...] | list[Any]", value))  # of whatever the user has
    return [getattr(value, field.name) for field in dataclasses.fields(value)]
