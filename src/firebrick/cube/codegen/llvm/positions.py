"""Where a unit is: topology values made of the cube's and the unit's number.

Sums and products of positions carry `nsw`, which lets LLVM see neighboring units access
neighboring elements; the host starts no launch whose last position does not fit the index type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.types import register_type

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.arguments import Arguments
    from firebrick.cube.codegen.llvm.text import Builder, Value
    from firebrick.cube.ir.nodes import Function, TopologyName

Position = tuple["Value", "Value", "Value"]
"""Of a unit in the cube, along x, y, z."""
AXES = "XYZ"
PLANE_DIM = 1

OF_THE_LAUNCH: frozenset[TopologyName] = frozenset({
    "CUBE_DIM", "CUBE_DIM_X", "CUBE_DIM_Y", "CUBE_DIM_Z", "CUBE_COUNT", "CUBE_COUNT_X",
    "CUBE_COUNT_Y", "CUBE_COUNT_Z", "PLANE_DIM", "UNIT_POS_PLANE",
})  # fmt: skip
"""Values that all units share."""
OF_THE_CUBE: frozenset[TopologyName] = frozenset(
    {"CUBE_POS", "CUBE_POS_X", "CUBE_POS_Y", "CUBE_POS_Z"}
)
"""Values that the units of a cube share."""


def plus(left: Value, right: Value) -> Value:
    """A sum that does not overflow."""
    return left.binary("add nsw", right)


def times(left: Value, right: Value | int) -> Value:
    """A product that does not overflow."""
    return left.binary("mul nsw", right)


class Launch:
    """The values that all units share."""

    def __init__(self, builder: Builder, arguments: Arguments, function: Function) -> None:
        self.builder = builder
        self.arguments = arguments
        self.function = function
        self.index = register_type(function.index_type)

    def constant(self, number: int) -> Value:
        """In the index type."""
        return self.builder.constant(self.index, number)

    def topology(self, name: TopologyName) -> Value:
        """One of `OF_THE_LAUNCH`."""
        match name:
            case "CUBE_COUNT":
                x, y, z = (self.arguments.cube_count(axis) for axis in range(3))
                return times(times(x, y), z)
            case "CUBE_DIM":
                return self.constant(self.function.units)
            case "PLANE_DIM":
                return self.constant(PLANE_DIM)
            case "UNIT_POS_PLANE":
                return self.constant(0)
            case _:
                kind, _, letter = name.rpartition("_")
                axis = AXES.index(letter)
                if kind == "CUBE_COUNT":
                    return self.arguments.cube_count(axis)
                return self.constant(self.function.cube_dim[axis])


class Cube:
    """One cube; `number` counts all cubes of the launch, x fastest, as `i64`."""

    def __init__(self, launch: Launch, number: Value) -> None:
        self._launch = launch
        self._dim = launch.function.cube_dim
        self._number = number.convert("trunc", launch.index)
        count = launch.arguments.cube_count
        width, height = (count(axis).convert("zext", "i64") for axis in (0, 1))
        row = number.binary("udiv", width)
        along = (
            number.binary("urem", width),
            row.binary("urem", height),
            row.binary("udiv", height),
        )
        self._along = [position.convert("trunc", launch.index) for position in along]

    def first_unit(self) -> Position:
        """The unit that stands for all where all are alike."""
        zero = self._launch.constant(0)
        return zero, zero, zero

    def last_unit(self) -> Position:
        """The one with the largest positions."""
        x, y, z = (self._launch.constant(size - 1) for size in self._dim)
        return x, y, z

    def unit_number(self, unit: Position) -> Value:
        """UNIT_POS."""
        x, y, z = unit
        width, height, depth = self._dim
        if height == depth == 1:
            return x
        return plus(times(plus(times(z, height), y), width), x)

    def topology(self, name: TopologyName, unit: Position) -> Value:
        """Any topology value, of a unit of this cube."""
        if name in OF_THE_LAUNCH:
            return self._launch.topology(name)
        match name:
            case "ABSOLUTE_POS":
                return self._absolute(unit)
            case "CUBE_POS":
                return self._number
            case "UNIT_POS" | "PLANE_POS":  # planes have one unit
                return self.unit_number(unit)
            case _:
                kind, _, letter = name.rpartition("_")
                return self._on_axis(kind, AXES.index(letter), unit)

    def _on_axis(self, kind: str, axis: int, unit: Position) -> Value:
        match kind:
            case "UNIT_POS":
                return unit[axis]
            case "CUBE_POS":
                return self._along[axis]
            case _:
                return plus(times(self._along[axis], self._dim[axis]), unit[axis])

    def _absolute(self, unit: Position) -> Value:
        width, height, depth = self._dim
        if height == depth == 1:
            return plus(times(self._number, width), unit[0])
        x, y, z = (self._on_axis("ABSOLUTE_POS", axis, unit) for axis in range(3))
        count = self._launch.arguments.cube_count
        rows = times(count(1), height)
        return plus(times(plus(times(z, rows), y), times(count(0), width)), x)
