"""What is known of a unit's position and of the geometry when compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import Constant, Expression, Topology, TopologyName
from firebrick.cube.passes.intervals import Interval

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.ir.types import Type

LARGEST_PLANE = 128
"""As many units as a ballot has bits."""
AXES = "XYZ"
_ALONG: dict[TopologyName, TopologyName] = {
    "ABSOLUTE_POS_X": "CUBE_POS_X", "ABSOLUTE_POS_Y": "CUBE_POS_Y", "ABSOLUTE_POS_Z": "CUBE_POS_Z",
}  # fmt: skip
"""What a position is where a cube has one unit along its axis."""


def position_interval(name: TopologyName, function: Function, type: Type) -> Interval:
    """The range of a position or size. A launch has no more units than its type counts."""
    high = integer_range(type)[1]
    if name == "UNIT_POS_PLANE":
        return Interval(0, min(LARGEST_PLANE, function.units) - 1)
    if name in ("UNIT_POS", "PLANE_POS"):
        return Interval(0, function.units - 1)
    if name == "PLANE_DIM":
        return Interval(1, LARGEST_PLANE)
    if name.startswith("UNIT_POS_"):
        return Interval(0, _along(name, function) - 1)
    if name == "CUBE_DIM":
        return Interval(function.units, function.units)
    if name.startswith("CUBE_DIM_"):
        return Interval(_along(name, function), _along(name, function))
    return Interval(1 if name.startswith("CUBE_COUNT") else 0, high)


def _along(name: str, function: Function) -> int:
    return function.cube_dim[AXES.index(name[-1])]


def simplify_position(position: Topology, function: Function) -> Expression:
    """A position where the geometry decides it, or says it more simply."""
    interval = position_interval(position.name, function, position.type)
    if interval.low == interval.high:
        return Constant(position.type, interval.low)
    if position.name in _ALONG and _along(position.name, function) == 1:
        return Topology(position.type, _ALONG[position.name])
    return position
