"""Copies of what a candidate may write, so that timing leaves the user's data alone."""

from __future__ import annotations

import copy
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.cube.autotune.place import is_leaf, leaves, memory_of, parts
from firebrick.cube.runtime.base import Memory
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Collection


class ScratchError(Exception):
    """Copies cannot be made, for want of memory for example; `__cause__` is the reason."""


def scratch_copies(
    name: str, arguments: tuple[Any, ...], mutable: Collection[int] | None
) -> tuple[Any, ...]:
    """The arguments with copies of the tensors at the positions `mutable`, of all if None.

    Tensors that share memory share it afterwards; a tensor elsewhere that shares memory with a
    copied one is copied with it.

    Raises: `KernelError` for a position that the call does not have, `ScratchError` if copying
    fails.
    """
    positions = range(len(arguments)) if mutable is None else mutable
    for position in positions:
        if not 0 <= position < len(arguments):
            raise KernelError(
                f"`{name}` is declared to write argument {position}; got {len(arguments)} of them, "
                "counted from 0."
            )
    written = {_identity(leaf) for p in positions for leaf in leaves(arguments[p])} - {None}
    try:
        copier = _Copier(written)
        return tuple(copier.copied(argument) for argument in arguments)
    except Exception as reason:
        raise ScratchError(str(reason)) from reason


def _identity(leaf: Any) -> int | None:
    memory = memory_of(leaf)
    if memory is not None:
        return id(memory.raw)
    return id(leaf) if _is_array(leaf) else None


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray)


class _Copier:
    """Copies each memory once."""

    def __init__(self, written: set[int | None]) -> None:
        self._written = written
        self._copies: dict[int | None, Any] = {}

    def copied(self, value: Any) -> Any:
        """The value, with copies of the tensors in it that may be written."""
        if is_leaf(value):
            return self._leaf(value) if _identity(value) in self._written else value
        new = [self.copied(part) for part in parts(value)]
        if all(a is b for a, b in zip(new, parts(value), strict=True)):
            return value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = (field.name for field in dataclasses.fields(value))
            return dataclasses.replace(value, **dict(zip(names, new, strict=True)))
        return _like(value, new)

    def _leaf(self, value: Any) -> Any:
        identity = _identity(value)
        memory = memory_of(value)
        if identity not in self._copies:
            self._copies[identity] = value.copy() if memory is None else _copied(memory)
        if memory is None:
            return self._copies[identity]
        new = copy.copy(value)
        object.__setattr__(new, "handle", self._copies[identity])  # the class may be frozen
        return new


def _like(value: Any, items: list[Any]) -> Any:
    """A list, tuple or named tuple of other items."""
    if hasattr(value, "_make"):
        return value._make(items)
    return items if isinstance(value, list) else tuple(items)


def _copied(memory: Memory) -> Memory:
    driver = memory.runtime.driver
    raw = driver.allocate(max(memory.size_bytes, 1))
    if memory.size_bytes:
        contents = driver.read(memory.raw, memory.size_bytes)
        driver.upload(raw, np.frombuffer(contents, np.uint8))
    return Memory(memory.runtime, raw, memory.size_bytes)
