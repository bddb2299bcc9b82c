"""Refuses barriers and plane operations that not all units of their cube or plane reach.

    CUBE   `sync_cube` and `sync_storage` wait for all units of the cube.
    PLANE  `sync_plane` and plane operations take part with all units of the plane.

`uniform.py` says where units are apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import Plane, Sync, walk
from firebrick.cube.ir.printer import print_statement
from firebrick.cube.passes.uniform import Uniformity
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function, Statement
    from firebrick.cube.passes.uniform import Scope


def check_barriers(function: Function, plane_dim: int = 1) -> None:
    """Raises for the first barrier or plane operation that units reach apart.

    Args:
        function: The kernel.
        plane_dim: Units of a plane; planes of one unit are never apart.

    Raises:
        KernelCompileError: showing the barrier's line, and naming the one that parts the units.
    """
    scopes = {_scope(statement) for statement in walk(function.body)}
    if "cube" in scopes and function.units > 1:  # CUBE
        _check(function, Uniformity(function, "cube"))
    if "plane" in scopes and min(plane_dim, function.units) > 1:  # PLANE
        _check(function, Uniformity(function, "plane", plane_dim))


def _check(function: Function, units: Uniformity) -> None:
    def visit(statement: Statement, apart: Statement | None, ended: Statement | None) -> None:
        cause = apart or ended
        if cause is not None and _scope(statement) == units.scope:
            _refuse(function, statement, cause, units.scope)

    units.solve()
    units.visit = visit
    units.walk()


def _scope(statement: Statement) -> Scope | None:
    match statement:
        case Sync(scope="plane") | Plane():
            return "plane"
        case Sync():
            return "cube"
        case _:
            return None


def _refuse(function: Function, barrier: Statement, cause: Statement, scope: Scope) -> NoReturn:
    name = f"plane.{barrier.op}" if isinstance(barrier, Plane) else print_statement(barrier)
    name = name.replace("sync ", "sync_")
    line = "" if cause.location is None else f" in line {cause.location.line}"
    message = (
        f"`{name}` in `{function.name}` is not reached by all units of a {scope}: they part at "
        f"`{print_statement(cause)}`{line}. Move it to where all of them come by, or let the "
        "condition be the same for all of them."
    )
    place = barrier.location
    raise KernelCompileError(message if place is None else describe(place, message))
