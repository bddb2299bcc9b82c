"""A kernel that is ready to be interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from firebrick.cube.interpreter.arguments import InterpreterBuffer, check_buffers, check_scalars
from firebrick.cube.interpreter.flow import Source, write_source
from firebrick.cube.interpreter.geometry import Cubes, Size
from firebrick.cube.interpreter.launch import Launch
from firebrick.errors import KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from firebrick.cube.interpreter.faults import FaultError
    from firebrick.cube.interpreter.memory import Number
    from firebrick.cube.ir.nodes import Function, Location

PLANE_SIZE = 32
LARGEST_PLANE = 128
"""As many units as a ballot has bits."""
STATEMENT_LIMIT = 10_000_000
"""Statements in the loops of one unit, after which it counts as running away."""
_FILE = "<interpreted kernel>"


@dataclass(frozen=True, slots=True)
class Program:
    """A function, translated once; `run` may be called often and from several threads."""

    function: Function
    source: Source
    code: CodeType

    def run(
        self,
        cube_count: Size,
        buffers: Sequence[InterpreterBuffer],
        scalars: Sequence[Number],
        *,
        plane_size: int = PLANE_SIZE,
        statement_limit: int = STATEMENT_LIMIT,
    ) -> None:
        """Executes the kernel; writes go into the buffers' arrays, up to the first error.

        Args:
            cube_count: Cubes along x, y, z.
            buffers: By the position of their parameters.
            scalars: By the position of their parameters.
            plane_size: Units of a plane; a cube with fewer is one plane.
            statement_limit: Statements in loops that a unit may execute.

        Raises:
            KernelLaunchError: the arguments do not fit the function.
            KernelBoundsError: an index is out of range.
            KernelRaceError: two units of a cube touched one element, with no barrier between.
            DivergentBarrierError: a barrier or plane operation that not all units reach.
            KernelError: a unit reads shared memory that nobody wrote, or runs away.
        """
        if not 1 <= plane_size <= LARGEST_PLANE:
            raise KernelLaunchError(
                f"a plane has 1 to {LARGEST_PLANE} units; got `plane_size={plane_size}`."
            )
        function = self.function
        check_buffers(function, buffers)
        numbers = check_scalars(function, scalars)
        cubes = Cubes(cube_count, function.cube_dim, min(plane_size, function.units))
        launch = Launch(function, self.source, cubes, buffers)
        with np.errstate(all="ignore"):
            launch.run(self.code, numbers, statement_limit, self.locate)

    def locate(self, fault: FaultError) -> Location | None:
        """Where in the user's source a fault happened, by the line of the generated code."""
        place = None
        traceback = fault.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == _FILE:
                statement = self.source.lines.statements[traceback.tb_lineno - 1]
                place = None if statement is None else statement.location
            traceback = traceback.tb_next
        return place


def translate(function: Function) -> Program:
    """Gets a valid function ready to run."""
    source = write_source(function)
    text = "\n".join(source.lines.texts) + "\n"
    return Program(function, source, compile(text, _FILE, "exec"))


def run(
    function: Function,
    cube_count: Size,
    buffers: Sequence[InterpreterBuffer],
    scalars: Sequence[Number] = (),
    *,
    plane_size: int = PLANE_SIZE,
    statement_limit: int = STATEMENT_LIMIT,
) -> None:
    """Translates a valid function and executes it once; see `Program.run`."""
    translate(function).run(
        cube_count, buffers, scalars, plane_size=plane_size, statement_limit=statement_limit
    )
