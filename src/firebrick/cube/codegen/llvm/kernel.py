"""A kernel as an LLVM module: the loops over cubes and units around its code.

Kernels that only ask for ABSOLUTE_POS, and have neither barriers nor shared memory, run in one loop
over positions; all others cube by cube. Either way there are two versions of the code: one for
where all guards are known to hold, and one for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.arguments import PARAMETERS, Arguments
from firebrick.cube.codegen.llvm.common import share
from firebrick.cube.codegen.llvm.cubes import Cubes
from firebrick.cube.codegen.llvm.expressions import Expressions, Surroundings
from firebrick.cube.codegen.llvm.flow import has_barrier
from firebrick.cube.codegen.llvm.guards import Guards, find_guards
from firebrick.cube.codegen.llvm.plan import Planner, Run
from firebrick.cube.codegen.llvm.positions import OF_THE_LAUNCH, Cube, Launch
from firebrick.cube.codegen.llvm.runs import RunWriter, Unit
from firebrick.cube.codegen.llvm.scratch import Scratch
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


class _Writer:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._builder = Builder()
        self._arguments = Arguments(self._builder, function)
        self._launch = Launch(self._builder, self._arguments, function)

    def write(self) -> Module:
        function = self._function
        planner = Planner()
        plan, common = share(planner.plan(function.body), planner)
        storage = plan_storage(function, plan, planner, common)
        if self._is_flat(storage):
            self._positions(storage)
        else:
            cubes = Cubes(self._launch, plan, storage, frozenset(planner.skips))
            self._cubes(cubes)
        self._builder.end()
        symbol = symbol_of(function)
        text = self._builder.module(f'define void @"{symbol}"({PARAMETERS}) {ATTRIBUTES}')
        return Module(text, symbol, storage.size)

    def _is_flat(self, storage: Storage) -> bool:
        function = self._function
        _, height, depth = function.cube_dim
        used = _topology(function)
        in_a_row = height == depth == 1 and used <= OF_THE_LAUNCH | {"ABSOLUTE_POS"}
        return in_a_row and not function.shared and not has_barrier(function.body)

    # ---- one loop over positions --------------------------------------------------------------

    def _positions(self, storage: Storage) -> None:
        builder, arguments, launch = self._builder, self._arguments, self._launch
        units = self._function.units
        begin, end = (
            number.binary("mul nsw", units).convert("trunc", launch.index)
            for number in (arguments.first_cube(), arguments.end_of_cubes())
        )
        guards = find_guards(self._function)
        runs = RunWriter(builder, arguments, Scratch(builder, arguments, storage), {}, {})
        if guards.outcomes:
            limit = self._limit(guards, "ABSOLUTE_POS")
            middle = end if limit is None else _clamp(limit, begin, end)
            self._stretch(runs, begin, middle, guards.outcomes)
            begin = middle
            if limit is None:
                return
        self._stretch(runs, begin, end, {})

    def _stretch(
        self, runs: RunWriter, begin: Value, end: Value, known: Mapping[int, bool]
    ) -> None:
        """The units at neighboring positions."""
        builder = self._builder
        run = Run(self._function.body, {}, is_repeated=False)
        with builder.independent() as marks, builder.counted(begin, end, marks) as position:

            def topology(name: TopologyName) -> Value:
                return position if name == "ABSOLUTE_POS" else self._launch.topology(name)

            runs.write(run, Unit(topology, builder.constant("i64", 0), known))

    # ---- cube by cube -------------------------------------------------------------------------

    def _cubes(self, cubes: Cubes) -> None:
        builder, arguments = self._builder, self._arguments
        guards = Guards()
        if not has_barrier(self._function.body):
            guards = find_guards(self._function)
        limits: dict[TopologyName, Value | None] = {
            name: self._limit(guards, name) for name in guards.bounds
        }
        with builder.counted(arguments.first_cube(), arguments.end_of_cubes()) as number:
            if not guards.outcomes:
                cubes.write(number, {})
                return
            inside, edge, after = (builder.fresh(stem) for stem in ("interior", "edge", "cube"))
            builder.branch(self._is_interior(number, limits), inside, edge)
            builder.place(inside)
            cubes.write(number, guards.outcomes)
            builder.jump(after)
            builder.place(edge)
            cubes.write(number, {})
            builder.place(after)

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
