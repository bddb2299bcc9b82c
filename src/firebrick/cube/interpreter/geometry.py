"""Where units are: the cubes of a launch, the units of a cube, the planes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

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

    def unit(self, number: int) -> str:
        """How messages name a unit of a cube."""
        return f"unit {spread(number, self.dim)}"

    def cubes(self) -> Iterator[Size]:
        """The position of every cube, x fastest."""
        x, y, z = self.count
        return ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))

    def constants(self) -> dict[str, int]:
        """The topology values that all units share."""
        named = {"PLANE_DIM": self.plane_size}
        for name, size in (("CUBE_COUNT", self.count), ("CUBE_DIM", self.dim)):
            x, y, z = size
            named |= {name: x * y * z, f"{name}_X": x, f"{name}_Y": y, f"{name}_Z": z}
        return named

    def positions(self, cube: Size, unit: int) -> dict[str, int]:
        """The topology values of one unit."""
        place = spread(unit, self.dim)
        absolute = [c * d + u for c, d, u in zip(cube, self.dim, place, strict=True)]
        whole = (self.count[0] * self.dim[0], self.count[1] * self.dim[1], 0)
        named = {
            "UNIT_POS": unit,
            "CUBE_POS": flat(cube, self.count),
            "ABSOLUTE_POS": flat((absolute[0], absolute[1], absolute[2]), whole),
            "PLANE_POS": unit // self.plane_size,
            "UNIT_POS_PLANE": unit % self.plane_size,
        }
        for axis, letter in enumerate("XYZ"):
            named[f"UNIT_POS_{letter}"] = place[axis]
            named[f"CUBE_POS_{letter}"] = cube[axis]
            named[f"ABSOLUTE_POS_{letter}"] = absolute[axis]
        return named


def flat(position: Size, size: Size) -> int:
    """The number of a position, x fastest."""
    x, y, z = position
    return (z * size[1] + y) * size[0] + x


def spread(number: int, size: Size) -> Size:
    """The position of a number, x fastest."""
    width, height, _ = size
    return number % width, number // width % height, number // (width * height)
