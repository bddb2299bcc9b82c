"""Flat positions made of those along axes, as IR; x varies fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import Binary, Constant, Expression, Topology, TopologyName

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function

AXES = "XYZ"


def derived(function: Function, name: TopologyName) -> Expression | None:
    """What a position is made of; None for a base position, which the target spells."""
    kind, _, axis = name.rpartition("_")
    if name.startswith("CUBE_DIM"):
        return Constant(function.index_type, _cube_dim(function, name))
    if kind == "ABSOLUTE_POS" and axis in AXES:
        return _absolute(function, axis)
    made = {"CUBE_POS": _cube_pos, "CUBE_COUNT": _cube_count, "UNIT_POS": _unit_pos}
    if name in made:
        return made[name](function)
    return _absolute_flat(function) if name == "ABSOLUTE_POS" else None


def _cube_dim(function: Function, name: TopologyName) -> int:
    if name == "CUBE_DIM":
        return function.units
    return function.cube_dim[AXES.index(name[-1])]


def _position(function: Function, name: TopologyName) -> Topology:
    return Topology(function.index_type, name)


def _along(function: Function, what: str) -> tuple[Expression, Expression, Expression]:
    names: dict[str, tuple[TopologyName, TopologyName, TopologyName]] = {
        "UNIT_POS": ("UNIT_POS_X", "UNIT_POS_Y", "UNIT_POS_Z"),
        "CUBE_POS": ("CUBE_POS_X", "CUBE_POS_Y", "CUBE_POS_Z"),
        "CUBE_COUNT": ("CUBE_COUNT_X", "CUBE_COUNT_Y", "CUBE_COUNT_Z"),
        "ABSOLUTE_POS": ("ABSOLUTE_POS_X", "ABSOLUTE_POS_Y", "ABSOLUTE_POS_Z"),
    }
    x, y, z = (_position(function, name) for name in names[what])
    return x, y, z


def _flat(
    function: Function,
    position: tuple[Expression, Expression, Expression],
    size: tuple[Expression, Expression],
) -> Expression:
    x, y, z = position
    plane = _sum(function, _product(function, z, size[1]), y)
    return _sum(function, _product(function, plane, size[0]), x)


def _number(function: Function, expression: Expression) -> int | None:
    match expression:
        case Constant(value=value):
            return int(value)
        case Topology(name="UNIT_POS_X" | "UNIT_POS_Y" | "UNIT_POS_Z" as name):
            # The only unit along an axis stands at 0.
            return 0 if function.cube_dim[AXES.index(name[-1])] == 1 else None
        case _:
            return None


def _product(function: Function, left: Expression, right: Expression) -> Expression:
    for factor, other in ((left, right), (right, left)):
        match _number(function, factor):
            case 0:
                return Constant(function.index_type, 0)
            case 1:
                return other
            case _:
                continue
    return Binary("mul", left, right)


def _sum(function: Function, left: Expression, right: Expression) -> Expression:
    for term, other in ((left, right), (right, left)):
        if _number(function, term) == 0:
            return other
    return Binary("add", left, right)


def _unit_pos(function: Function) -> Expression:
    x, y, _ = (Constant(function.index_type, size) for size in function.cube_dim)
    return _flat(function, _along(function, "UNIT_POS"), (x, y))


def _cube_pos(function: Function) -> Expression:
    x, y, _ = _along(function, "CUBE_COUNT")
    return _flat(function, _along(function, "CUBE_POS"), (x, y))


def _cube_count(function: Function) -> Expression:
    x, y, z = _along(function, "CUBE_COUNT")
    return Binary("mul", Binary("mul", x, y), z)


def _absolute(function: Function, axis: str) -> Expression:
    at = AXES.index(axis)
    cube = _along(function, "CUBE_POS")[at]
    unit = _along(function, "UNIT_POS")[at]
    size = Constant(function.index_type, function.cube_dim[at])
    return _sum(function, _product(function, cube, size), unit)


def _absolute_flat(function: Function) -> Expression:
    count = _along(function, "CUBE_COUNT")
    width, height = (
        _product(function, count[at], Constant(function.index_type, function.cube_dim[at]))
        for at in (0, 1)
    )
    return _flat(function, _along(function, "ABSOLUTE_POS"), (width, height))
