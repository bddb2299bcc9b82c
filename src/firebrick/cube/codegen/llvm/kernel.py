"""A kernel as an LLVM module: the loops over cubes and units around its code.

Kernels that only ask for ABSOLUTE_POS, and have neither barriers nor shared memory, run in one loop
over positions; all others cube by cube. Either way there are two versions of the code: one for
where all guards are known to hold, and one for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.affine import ADDRESS_BITS, Growths, find_growths
from firebrick.cube.codegen.llvm.arguments import PARAMETERS, Arguments
from firebrick.cube.codegen.llvm.cubes import Cubes
from firebrick.cube.codegen.llvm.definitions import find_definitions
from firebrick.cube.codegen.llvm.expressions import Expressions, Row, Surroundings
from firebrick.cube.codegen.llvm.flow import has_barrier
from firebrick.cube.codegen.llvm.guards import Guards, find_guards
from firebrick.cube.codegen.llvm.hazards import may_be_reordered
from firebrick.cube.codegen.llvm.loops import loops_of_cube
from firebrick.cube.codegen.llvm.plan import Plan, Planner, Run
from firebrick.cube.codegen.llvm.positions import OF_THE_LAUNCH, Cube, Launch
from firebrick.cube.codegen.llvm.runs import RunWriter, Unit
from firebrick.cube.codegen.llvm.scratch import Scratch
from firebrick.cube.codegen.llvm.sharing import share
from firebrick.cube.codegen.llvm.storage import Storage, plan_storage
from firebrick.cube.codegen.llvm.text import Builder, Value
from firebrick.cube.ir.nodes import Topology, expressions, walk, walk_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.cube.ir.nodes import Expression, Function, TopologyName

ATTRIBUTES = 'nounwind "prefer-vector-width"="512"'
_LARGEST_BOUND = 1 << 62


@dataclass(frozen=True, slots=True)
class Module:
    """The text of a kernel, and what the host has to know to run it."""

    text: str
    symbol: str
    scratch_bytes: int
    """For each thread, aligned to a cache line."""


def symbol_of(function: Function) -> str:
    """The name in the module; a prefix keeps a kernel called `exp` apart from the C library's."""
    return f"kernel.{function.name}"


def write_module(function: Function) -> Module:
    """The module of a function that has its guards."""
    return _Writer(function).write()


@dataclass(frozen=True, slots=True)
class _Version:
    """One way to run the kernel."""

    function: Function
    plan: Plan
    storage: Storage
    skipping: frozenset[str]
    growths: Growths


class _Writer:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._builder = Builder()
        self._arguments = Arguments(self._builder, function)
        self._launch = Launch(self._builder, self._arguments, function)

    def write(self) -> Module:
        function = self._function
        guards = Guards() if has_barrier(function.body) else find_guards(function)
        edge = _version(function)
        interior = _version(guards.applied(function)) if guards.outcomes else edge
        if _is_flat(interior) and _is_flat(edge):
            self._positions(guards, interior, edge)
        else:
            self._cubes(guards, interior, edge)
        self._builder.end()
        symbol = symbol_of(function)
        text = self._builder.module(f'define void @"{symbol}"({PARAMETERS}) {ATTRIBUTES}')
        return Module(text, symbol, max(interior.storage.size, edge.storage.size))

    # ---- one loop over positions --------------------------------------------------------------

    def _positions(self, guards: Guards, interior: _Version, edge: _Version) -> None:
        launch, units = self._launch, self._function.units
        begin, end = (
            number.binary("mul nsw", units).convert("trunc", launch.index)
            for number in (self._arguments.first_cube(), self._arguments.end_of_cubes())
        )
        if edge is interior:
            self._stretch(edge, begin, end)
            return
        limit = self._limit(guards, "ABSOLUTE_POS")
        middle = end if limit is None else _clamp(limit, begin, end)
        self._stretch(interior, begin, middle)
        if limit is not None:
            self._stretch(edge, middle, end)

    def _stretch(self, version: _Version, begin: Value, end: Value) -> None:
        """The units at neighboring positions."""
        builder = self._builder
        scratch = Scratch(builder, self._arguments, version.storage)
        runs = RunWriter(builder, self._arguments, scratch, {}, {})
        run = Run(version.function.body, {}, is_repeated=False)
        promised = not may_be_reordered(run.body, version.growths)
        with (
            builder.independent(promised=promised) as marks,
            builder.counted(begin, end, marks) as position,
        ):

            def topology(name: TopologyName) -> Value:
                return position if name == "ABSOLUTE_POS" else self._launch.topology(name)

            row = None
            if self._function.index_type.bits < ADDRESS_BITS:
                row = Row(position, self._first_topology, version.growths, {}, largest_factor=1)
            runs.write(run, Unit(topology, builder.constant("i64", 0), row))

    def _first_topology(self, name: TopologyName) -> Value:
        return self._launch.constant(0) if name == "ABSOLUTE_POS" else self._launch.topology(name)

    # ---- cube by cube -------------------------------------------------------------------------

    def _cubes(self, guards: Guards, interior: _Version, edge: _Version) -> None:
        builder, arguments = self._builder, self._arguments
        limits: dict[TopologyName, Value | None] = {
            name: self._limit(guards, name) for name in guards.bounds
        }
        with builder.counted(arguments.first_cube(), arguments.end_of_cubes()) as number:
            if edge is interior:
                self._cube(edge, number)
                return
            inside, outside, after = (builder.fresh(s) for s in ("interior", "edge", "cube"))
            builder.branch(self._is_interior(number, limits), inside, outside)
            builder.place(inside)
            self._cube(interior, number)
            builder.jump(after)
            builder.place(outside)
            self._cube(edge, number)
            builder.place(after)

    def _cube(self, version: _Version, number: Value) -> None:
        plan, storage, skipping = version.plan, version.storage, version.skipping
        Cubes(self._launch, plan, storage, skipping, version.growths).write(number)

    def _is_interior(self, number: Value, limits: Mapping[TopologyName, Value | None]) -> Value:
        """Whether all positions of a cube stay below their bounds."""
        cube = Cube(self._launch, number)
        inside = self._builder.constant("i1", True)
        for name, limit in limits.items():
            if limit is not None:
                last = cube.topology(name, cube.last_unit()).convert("sext", "i64")
                inside = inside & last.compare("slt", limit)
        return inside

    # ---- bounds -------------------------------------------------------------------------------

    def _limit(self, guards: Guards, name: TopologyName) -> Value | None:
        """The smallest bound of a position, as `i64`; None if there is none."""
        bounds = guards.bounds.get(name)
        if not bounds:
            return None
        with self._builder.at_entry():
            values = [self._bound(bound) for bound in bounds]
            smallest = values[0]
            for value in values[1:]:
                smallest = smallest.call("smin", value)
            return smallest

    def _bound(self, bound: Expression) -> Value:
        around = Surroundings(self._launch.topology, {}, _no_place)
        value = Expressions(self._builder, self._arguments, around).value(bound)
        if bound.type.kind == "int":
            return value.convert("sext", "i64")
        wide = value.convert("zext", "i64")
        return wide.call("umin", _LARGEST_BOUND)


def _version(function: Function) -> _Version:
    definitions = find_definitions(function)
    growths = find_growths(function.body)
    planner = Planner(definitions, loops_of_cube(function, definitions, growths))
    plan = planner.plan(function.body)
    if planner.of_cube and planner.skips:  # units that sit out cost more than such loops give
        planner = Planner(definitions)
        plan = planner.plan(function.body)
    plan, common = share(plan, planner)
    storage = plan_storage(function, plan, planner, common, definitions)
    return _Version(function, plan, storage, frozenset(planner.skips), growths)


def _is_flat(version: _Version) -> bool:
    """Whether one loop over positions will do."""
    function = version.function
    _, height, depth = function.cube_dim
    in_a_row = height == depth == 1 and _topology(function) <= OF_THE_LAUNCH | {"ABSOLUTE_POS"}
    is_plain = not function.shared and not has_barrier(function.body)
    return in_a_row and is_plain and all(isinstance(step, Run) for step in version.plan)


def _no_place(array: object, index: Value) -> Value:
    raise TypeError("a bound reads no memory.")


def _clamp(limit: Value, begin: Value, end: Value) -> Value:
    """A limit brought between the ends of a stretch."""
    low, high = begin.convert("sext", "i64"), end.convert("sext", "i64")
    return limit.call("smin", high).call("smax", low).convert("trunc", begin.type)


def _topology(function: Function) -> set[TopologyName]:
    return {
        part.name
        for statement in walk(function.body)
        for value in expressions(statement)
        for part in walk_expressions(value)
        if isinstance(part, Topology)
    }
