"""Where a unit is; x varies fastest in the flat ones. `unit` = thread, `cube` = block."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from firebrick.cube.ir.nodes import TopologyName
from firebrick.cube.lang.outside import only_in_kernels


class TopologyConstant:
    """A position or size that only a running unit knows."""

    __slots__ = ("name",)

    def __init__(self, name: TopologyName) -> None:
        self.name: TopologyName = name

    def __index__(self) -> int:
        raise only_in_kernels(self.name)

    def __repr__(self) -> str:
        return f"cube.{self.name}"


if TYPE_CHECKING:
    ABSOLUTE_POS: int
    ABSOLUTE_POS_X: int
    ABSOLUTE_POS_Y: int
    ABSOLUTE_POS_Z: int
    CUBE_POS: int
    CUBE_POS_X: int
    CUBE_POS_Y: int
    CUBE_POS_Z: int
    CUBE_DIM: int
    CUBE_DIM_X: int
    CUBE_DIM_Y: int
    CUBE_DIM_Z: int
    CUBE_COUNT: int
    CUBE_COUNT_X: int
    CUBE_COUNT_Y: int
    CUBE_COUNT_Z: int
    UNIT_POS: int
    UNIT_POS_X: int
    UNIT_POS_Y: int
    UNIT_POS_Z: int
    PLANE_DIM: int
    PLANE_POS: int
    UNIT_POS_PLANE: int
else:
    globals().update({name: TopologyConstant(name) for name in get_args(TopologyName)})
