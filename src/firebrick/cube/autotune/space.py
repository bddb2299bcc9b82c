"""What can be tried: named axes with finite values, conditions on them, and needs of the device."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.geometry import AXES, read_triple
from firebrick.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from firebrick.cube.runtime.base import Properties, Triple

Value: TypeAlias = int | str
"""Of an axis; a bool is an int."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One value for each axis."""

    values: tuple[tuple[str, Value], ...]

    @property
    def name(self) -> str:
        """Such as `block=64, tile=2`."""
        return ", ".join(f"{axis}={value}" for axis, value in self.values)

    def __getitem__(self, axis: str) -> int:
        """The number on an axis; `DefinitionError` for an axis that does not have numbers."""
        value = self._value(axis)
        if isinstance(value, str):
            raise DefinitionError(f"axis `{axis}` has strings; write `choice({axis!r})`.")
        return value

    def choice(self, axis: str) -> str:
        """The string on an axis; `DefinitionError` for an axis that does not have strings."""
        value = self._value(axis)
        if not isinstance(value, str):
            raise DefinitionError(f"axis `{axis}` has numbers; write `[{axis!r}]`.")
        return value

    def _value(self, axis: str) -> Value:
        for name, value in self.values:
            if name == axis:
                return value
        known = ", ".join(name for name, _ in self.values)
        raise DefinitionError(f"the space has no axis `{axis}`; it has {known}.")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a configuration takes from the device."""

    cube_dim: int | Triple = 1
    shared_bytes: int = 0
    types: tuple[str, ...] = ()
    """Scalar types that it computes with, such as `f16`."""
    planes: bool = False
    """Whether it uses plane operations."""

    def lacking(self, properties: Properties) -> str | None:
        """What the device does not have, None if it has everything."""
        cube_dim = read_triple("Needs", "the cube dim", self.cube_dim, at_least=1)
        units = math.prod(cube_dim)
        if properties.max_units is not None and units > properties.max_units:
            return f"{units} units in a cube, the device has {properties.max_units}"
        for axis, size, most in zip(
            AXES, cube_dim, properties.max_cube_dim or cube_dim, strict=True
        ):
            if size > most:
                return f"{size} units along {axis}, the device has {most}"
        shared = properties.max_shared_bytes
        if shared is not None and self.shared_bytes > shared:
            return f"{self.shared_bytes} bytes of shared memory, the device has {shared}"
        for name in self.types:
            if name not in properties.types:
                return f"{name}, which the device does not have"
        if self.planes and not properties.has_planes:
            return "plane operations, which the device does not have"
        return None


class Space:
    """Configurations by axis: `Space(block=(64, 128), variant=("naive", "tiled"))`.

    The order is that of the axes with the last one changing fastest; the first valid
    configuration is used where nothing is timed.

    Raises: `DefinitionError` for no axis, or one whose values are none, repeated, or neither
    ints nor strings all of them.
    """

    def __init__(self, **axes: Iterable[Value]) -> None:
        self._axes = {name: tuple(values) for name, values in axes.items()}
        self._conditions: tuple[Callable[[Configuration], bool], ...] = ()
        self._needs: Callable[[Configuration], Needs] | None = None
        if not axes:
            raise DefinitionError("a search space has at least one axis: `Space(block=(64, 128))`.")
        for name, values in self._axes.items():
            _check_axis(name, values)

    def where(self, condition: Callable[[Configuration], bool]) -> Space:
        """The space with only the configurations for which `condition` is true as well."""
        space = self._copy()
        space._conditions = (*self._conditions, condition)
        return space

    def needs(self, needs: Callable[[Configuration], Needs]) -> Space:
        """The space with what each configuration takes from the device.

        Those that take more than there is are never built.
        """
        space = self._copy()
        space._needs = needs
        return space

    def _copy(self) -> Space:
        space = Space(**self._axes)
        space._conditions = self._conditions
        space._needs = self._needs
        return space

    def configurations(self) -> list[Configuration]:
        """All that meet the conditions, whatever the device."""
        combined = itertools.product(*self._axes.values())
        found = (Configuration(tuple(zip(self._axes, v, strict=True))) for v in combined)
        return [c for c in found if all(condition(c) for condition in self._conditions)]

    def lacking(self, configuration: Configuration, properties: Properties | None) -> str | None:
        """Why a configuration cannot run on a device, None if it can; on the host all can."""
        if self._needs is None or properties is None:
            return None
        return self._needs(configuration).lacking(properties)


def _check_axis(name: str, values: tuple[object, ...]) -> None:
    if not values:
        raise DefinitionError(f"axis `{name}` has no values.")
    if len(set(values)) != len(values):
        raise DefinitionError(f"axis `{name}` has a value twice: {values!r}.")
    if not any(all(isinstance(value, kind) for value in values) for kind in (int, str)):
        raise DefinitionError(f"axis `{name}` has ints or strings; got {values!r}.")
