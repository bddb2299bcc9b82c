"""Loops on devices that end all loops of a unit silently after so many trips.

Lavapipe does: one counter of 65,535 for all loops of the 8 units that run in lockstep, which a loop
that ends by its condition takes once more than it has trips. A kernel must not give a wrong result
there, so one of these holds afterwards:

    FEW      the trips are known when compiling and stay below the limit.
    REFUSED  they surely do not, even unrolled: `KernelCompileError`.
    COUNTED  otherwise each unit counts, and writes 1 to a buffer when it comes near the limit. The
             buffer, one u32 that starts as 0, is the last one of the function, one more than it had
             (`overrun_buffer`). The driver gives it, and raises `overrun_error` when it reads a 1.

    UNROLLED  before counting, trips are made fewer: a trip of an unrolled loop counts once.
    APART     units in lockstep make together as many trips as the longest of them, in each loop, so
              that all loops together may take more trips than any unit. A loop that units enter or
              leave apart therefore counts once for each unit in lockstep.
    MARGIN    units look at their count at the start of trips. The limit that they see is lower by
              what entering every loop once more may add until then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Buffer,
    Compare,
    Constant,
    For,
    If,
    Read,
    Region,
    Statement,
    Store,
    Variable,
    While,
    bodies,
    walk,
)
from firebrick.cube.ir.types import U32
from firebrick.cube.passes.dead import remove_dead
from firebrick.cube.passes.effects import may_jump_out
from firebrick.cube.passes.fold import fold
from firebrick.cube.passes.names import Names
from firebrick.cube.passes.partial_unroll import unroll_partially
from firebrick.cube.passes.uniform import Uniformity
from firebrick.errors import KernelCompileError, TooManyResourcesError

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function
    from firebrick.cube.runtime.base import Properties

LOCKSTEP_UNITS = 8
"""Units that lavapipe runs together, at least: 256 bits of 32 bit numbers."""


def limit_loops(function: Function, properties: Properties) -> Function:
    """The function such that too many trips cannot go unnoticed.

    Raises:
        KernelCompileError: its loops surely make more trips than the device allows.
    """
    limit = properties.max_loop_trips
    if limit is None or _is_few(function.body, limit):  # FEW
        return function
    function = remove_dead(fold(unroll_partially(function)))  # UNROLLED
    if _is_few(function.body, limit):
        return function
    _refuse_many(function, limit)
    return _counted(function, limit, max(LOCKSTEP_UNITS, properties.plane_dim))


def overrun_buffer(prepared: Function, function: Function) -> Buffer | None:
    """The buffer that passes added to a function, for units that make too many trips."""
    return prepared.buffers[-1] if len(prepared.buffers) > len(function.buffers) else None


def overrun_error(name: str, limit: int) -> TooManyResourcesError:
    """What a driver raises when that buffer holds a 1."""
    return TooManyResourcesError(
        f"the loops of a unit of `{name}` make {limit} trips or about as many, after which this "
        "device's driver ends loops without an error; the results are invalid. Give each unit less "
        "to do.",
        resource="trips of the loops of a unit",
        requested=limit + 1,
        maximum=limit,
    )


# ---- trips that are known ---------------------------------------------------------------------


def _is_few(body: Body, limit: int) -> bool:
    most = _most_trips(body)
    return most is not None and most <= limit


def _most_trips(body: Body) -> int | None:
    """How many trips a body makes at most, its loops' ends included; None if nobody knows."""
    total = 0
    for statement in body:
        inner = [_most_trips(part) for part in bodies(statement)]
        known = [trips for trips in inner if trips is not None]
        times = _trips(statement)
        if times is None or len(known) < len(inner):
            return None
        is_loop = isinstance(statement, For)
        total += (times + 1 if is_loop else 0) + times * sum(known)
    return total


def _trips(statement: Statement) -> int | None:
    """How often a statement runs what is inside."""
    match statement:
        case For(_, Constant(value=start), Constant(value=stop), Constant(value=step)):
            return len(range(int(start), int(stop), int(step)))
        case For() | While():
            return None
        case _:
            return 1


def _refuse_many(function: Function, limit: int) -> None:
    loops = [s for s in walk(function.body) if isinstance(s, For)]
    least = _least_trips(function.body)
    if least <= limit:
        return
    message = (
        f"the loops of `{function.name}` make at least {least} trips in each unit, unrolled; this "
        f"device's driver ends loops without an error after {limit}. Give each unit less to do."
    )
    longest = max(loops, key=lambda loop: _trips(loop) or 0)
    place = longest.location
    raise KernelCompileError(message if place is None else describe(place, message))  # REFUSED


def _least_trips(body: Body) -> int:
    """How many trips a body surely makes."""
    total = 0
    for statement in body:
        if may_jump_out((statement,)):
            break
        if isinstance(statement, For):
            total += (_trips(statement) or 0) * (1 + _least_trips(statement.body))
    return total


# ---- counting ---------------------------------------------------------------------------------


def _counted(function: Function, limit: int, lockstep: int) -> Function:
    names = Names(function)
    position = len(function.buffers)
    buffer = Buffer(names.fresh("loop_overrun"), U32, 1, True, position)
    units = Uniformity(function, "cube", trusts_races=False)
    units.solve()
    loops = sum(isinstance(statement, For | While) for statement in walk(function.body))
    highest = limit - (loops + 1) * lockstep  # MARGIN
    overrun = Store(buffer, Constant(function.index_type, 0), Constant(U32, 1))
    counter = _Counter(names.variable("trips", U32), overrun, highest, lockstep, units.parted_loops)
    body = counter.body(function.body)
    return names.declare(replace(function, buffers=(*function.buffers, buffer)), body)


@dataclass(frozen=True, slots=True)
class _Counter:
    variable: Variable
    overrun: Store
    highest: int
    lockstep: int
    parted: set[int]

    def body(self, body: Body) -> Body:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case If(then=then, orelse=orelse):
                    sides = self.body(then), self.body(orelse)
                    done.append(replace(statement, then=sides[0], orelse=sides[1]))
                case Region(body=inner):
                    done.append(replace(statement, body=self.body(inner)))
                case For() | While():
                    weight = self.lockstep if id(statement) in self.parted else 1  # APART
                    count = self._count(weight)
                    inner = (count, self._check(), *self.body(statement.body))
                    done += count, replace(statement, body=inner)
                case _:
                    done.append(statement)
        return tuple(done)

    def _count(self, weight: int) -> Statement:
        more = Binary("add", Read(self.variable), Constant(U32, weight))
        return Assign(self.variable, more)

    def _check(self) -> Statement:
        is_high = Compare("ge", Read(self.variable), Constant(U32, self.highest))
        return If(is_high, (self.overrun,))
