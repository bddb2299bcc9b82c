"""Runs the units of a cube in turns, so that barriers and plane operations mean what they say.

A unit runs until it waits or ends, then the next one does. When all units of a plane wait at one
plane operation it is executed; when all units of the cube wait at one barrier they go on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeAlias

from firebrick.cube.interpreter.faults import FaultError
from firebrick.cube.interpreter.geometry import Cubes, Size, spread
from firebrick.cube.interpreter.planes import exchange
from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import Location, Plane, Sync
from firebrick.errors import DivergentBarrierError, KernelError

if TYPE_CHECKING:
    from firebrick.cube.interpreter.statements import Barrier

Waiting: TypeAlias = tuple[Any, ...]
"""The number of a barrier, then the operands."""
Unit: TypeAlias = Generator[Waiting, Any, None]
Locate: TypeAlias = Callable[[FaultError], Location | None]
Woken: TypeAlias = list[tuple[int, Any]]
"""Units that go on, each with what its statement gives."""


class CubeRun:
    """One cube while it runs."""

    def __init__(
        self,
        kernel: str,
        units: list[Unit],
        cubes: Cubes,
        position: Size,
        barriers: list[Barrier],
        locate: Locate,
    ) -> None:
        self._kernel = kernel
        self._units = units
        self._cubes = cubes
        self._position = position
        self._barriers = barriers
        self._locate = locate
        self._waiting: list[Waiting | None] = [None] * len(units)
        """At what each unit waits; None for those that have ended."""
        self._pending: KernelError | None = None
        """Raised when all other units wait or have ended, if none of them raises another."""

    def run(self, after_barrier: Callable[[], None]) -> None:
        """Runs all units to their ends; calls back when all have passed a barrier of the cube."""
        woken: Woken = [(unit, None) for unit in range(len(self._units))]
        while woken:
            for unit, value in woken:
                self._resume(unit, value)
            if self._pending is not None:
                raise self._pending
            woken = self._pass_planes()
            if not woken and any(waiting is not None for waiting in self._waiting):
                woken = self._pass_cube()
                after_barrier()

    def _resume(self, unit: int, value: Any) -> None:
        try:
            self._waiting[unit] = self._units[unit].send(value)
        except StopIteration:
            self._waiting[unit] = None
        except FaultError as fault:
            place = self._locate(fault)
            error = self._error(fault.error, fault.fact, place, unit)
            if not fault.unwritten:
                raise error from None
            self._waiting[unit] = None
            self._pending = self._pending or error

    def _error(
        self, error: type[KernelError], fact: str, place: Location | None, unit: int | None
    ) -> KernelError:
        who = "" if unit is None else f"unit {spread(unit, self._cubes.dim)} of "
        message = f"{fact}, in {who}cube {self._position} of `{self._kernel}`."
        return error(message if place is None else describe(place, message))

    # ---- planes -------------------------------------------------------------------------------

    def _pass_planes(self) -> Woken:
        woken: Woken = []
        for plane in self._cubes.planes:
            numbers = {number for unit in plane if (number := self._number(unit)) is not None}
            joint = {number for number in numbers if _is_of_plane(self._barriers[number])}
            if joint:
                self._require_all(plane, min(joint), "plane")
                woken += self._exchange(plane, self._barriers[min(joint)])
        return woken

    def _exchange(self, plane: range, barrier: Barrier) -> Woken:
        if isinstance(barrier, Sync):
            return [(unit, None) for unit in plane]
        operands = [self._operands(unit) for unit in plane]
        try:
            results = exchange(barrier, operands)
        except FaultError as fault:
            raise self._error(fault.error, fault.fact, barrier.location, None) from None
        return list(zip(plane, results, strict=True))

    def _operands(self, unit: int) -> tuple[Any, ...]:
        waiting = self._waiting[unit]
        return () if waiting is None else waiting[1:]

    # ---- the cube -----------------------------------------------------------------------------

    def _pass_cube(self) -> Woken:
        number = min(waiting[0] for waiting in self._waiting if waiting is not None)
        units = range(len(self._units))
        self._require_all(units, number, "cube")
        return [(unit, None) for unit in units]

    def _require_all(self, units: range, number: int, group: str) -> None:
        """Raises unless all of the units wait at one barrier."""
        here = [unit for unit in units if self._number(unit) == number]
        if len(here) == len(units):
            return
        other = next(unit for unit in units if self._number(unit) != number)
        barrier = self._barriers[number]
        what = f"plane.{barrier.op}" if isinstance(barrier, Plane) else f"sync_{barrier.scope}"
        fact = (
            f"only {len(here)} of the {len(units)} units of a {group} reach this `{what}`: unit "
            f"{spread(other, self._cubes.dim)} {self._whereabouts(other)}"
        )
        raise self._error(DivergentBarrierError, fact, barrier.location, None)

    def _number(self, unit: int) -> int | None:
        waiting = self._waiting[unit]
        return None if waiting is None else waiting[0]

    def _whereabouts(self, unit: int) -> str:
        number = self._number(unit)
        if number is None:
            return "has ended"
        place = self._barriers[number].location
        return "waits elsewhere" if place is None else f"waits at {place.file}:{place.line}"


def _is_of_plane(barrier: Barrier) -> bool:
    return isinstance(barrier, Plane) or barrier.scope == "plane"
