"""Where units are: the cubes of a launch, the units of a cube, the planes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firebrick.cube.ir.nodes import TopologyName

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Cubes:
    """The geometry of a launch."""

    count: Size
    dim: Size
    plane_size: int

    @property
    def units(self) -> int:
        """Of a cube."""
        x, y, z = self.dim
        return x * y * z

    @property
    def planes(self) -> list[range]:
        """The units of each plane; the last one may have fewer."""
        return [
            range(first, min(first + self.plane_size, self.units))
            for first in range(0, self.units, self.plane_size)
        ]

    def positions(self) -> Iterator[Size]:
        """That of every cube, x fastest."""
        x, y, z = self.count
        return ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))

    def constants(self) -> dict[str, int]:
        """The topology values that all units share."""
        named = {"PLANE_DIM": self.plane_size}
        for name, (x, y, z) in (("CUBE_COUNT", self.count), ("CUBE_DIM", self.dim)):
            named |= {name: x * y * z, f"{name}_X": x, f"{name}_Y": y, f"{name}_Z": z}
        return named


def flat(position: Size, size: Size) -> int:
    """The number of a position, x fastest."""
    x, y, z = position
    return (z * size[1] + y) * size[0] + x


def spread(number: int, size: Size) -> Size:
    """The position of a number, x fastest."""
    width, height, _ = size
    return number % width, number // width % height, number // (width * height)


@dataclass(frozen=True, slots=True)
class Place:
    """A unit of a cube."""

    cubes: Cubes
    cube: Size
    number: int

    def along(self, axis: int) -> int:
        """The position in the cube."""
        return spread(self.number, self.cubes.dim)[axis]

    def absolute(self, axis: int) -> int:
        """The position among all units of the launch."""
        return self.cube[axis] * self.cubes.dim[axis] + self.along(axis)

    def flat_absolute(self) -> int:
        """The number among all units of the launch."""
        count, dim = self.cubes.count, self.cubes.dim
        whole = (count[0] * dim[0], count[1] * dim[1], count[2] * dim[2])
        return flat((self.absolute(0), self.absolute(1), self.absolute(2)), whole)


UNIT_POSITIONS: dict[TopologyName, Callable[[Place], int]] = {
    "UNIT_POS": lambda place: place.number,
    "UNIT_POS_X": lambda place: place.along(0),
    "UNIT_POS_Y": lambda place: place.along(1),
    "UNIT_POS_Z": lambda place: place.along(2),
    "CUBE_POS": lambda place: flat(place.cube, place.cubes.count),
    "CUBE_POS_X": lambda place: place.cube[0],
    "CUBE_POS_Y": lambda place: place.cube[1],
    "CUBE_POS_Z": lambda place: place.cube[2],
    "ABSOLUTE_POS": Place.flat_absolute,
    "ABSOLUTE_POS_X": lambda place: place.absolute(0),
    "ABSOLUTE_POS_Y": lambda place: place.absolute(1),
    "ABSOLUTE_POS_Z": lambda place: place.absolute(2),
    "PLANE_POS": lambda place: place.number // place.cubes.plane_size,
    "UNIT_POS_PLANE": lambda place: place.number % place.cubes.plane_size,
}
"""What units differ in; all other topology values are constants of a launch."""
