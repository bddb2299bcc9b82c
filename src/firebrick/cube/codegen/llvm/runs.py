"""A run for one unit: its variables come out of the scratch memory, and go back at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.expressions import Expressions, Row, Surroundings
from firebrick.cube.codegen.llvm.flow import assigned_in, escapes, exposed, read_in
from firebrick.cube.codegen.llvm.scratch import TAKES_PART, Scratch
from firebrick.cube.codegen.llvm.statements import Labels, Statements
from firebrick.cube.codegen.llvm.storage import arrays_of
from firebrick.cube.codegen.llvm.types import memory_type, register_type, size_bytes, zero
from firebrick.cube.ir.nodes import LocalArray, SharedArray, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.cube.codegen.llvm.arguments import Arguments
    from firebrick.cube.codegen.llvm.plan import Run
    from firebrick.cube.codegen.llvm.text import Builder, Value
    from firebrick.cube.ir.nodes import TopologyName


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit that a run is written for."""

    topology: Callable[[TopologyName], Value]
    number: Value
    """UNIT_POS as `i64`."""
    row: Row | None = None
    """Its neighbors, with no bases yet."""


class RunWriter:
    """Writes runs of one function."""

    def __init__(
        self,
        builder: Builder,
        arguments: Arguments,
        scratch: Scratch,
        common: Mapping[Variable, Value],
        skips: Mapping[str, int],
    ) -> None:
        self._builder = builder
        self._arguments = arguments
        self._scratch = scratch
        self._common = common
        self._skips = skips

    def write(self, run: Run, unit: Unit) -> None:
        """A run, inside of the loop over the units."""
        builder = self._builder
        end, done = builder.fresh("run.end"), builder.fresh("run.done")
        if self._skips:
            start = builder.fresh("run")
            takes_part = self._scratch.skip(unit.number).compare("eq", TAKES_PART)
            builder.branch(takes_part, start, done)
            builder.place(start)
        slots = self._slots(run, unit)
        row = None if unit.row is None else self._with_bases(unit.row, slots)
        around = Surroundings(unit.topology, slots, self._places(run, unit), row)
        expressions = Expressions(builder, self._arguments, around)
        self._define(run, expressions)
        labels = {key: builder.fresh("skip") if key in run.skips else end
                  for key in escapes(run.body)}  # fmt: skip
        Statements(expressions, labels).body(run.body)
        builder.place(end)
        self._keep(run, unit, slots)
        builder.jump(done)
        self._write_skips(run, unit, labels, end)
        builder.place(done)

    def _write_skips(self, run: Run, unit: Unit, labels: Labels, end: str) -> None:
        for key, target in run.skips.items():
            self._builder.place(labels[key])
            code = self._builder.constant("i8", self._skips[target])
            self._scratch.set_skip(unit.number, code)
            self._builder.jump(end)

    # ---- variables ----------------------------------------------------------------------------

    def _slots(self, run: Run, unit: Unit) -> dict[Variable, Value]:
        """Where the run finds its variables."""
        builder = self._builder
        slots = dict(self._common)
        unset = exposed(run.body)
        used = (read_in(run.body) | assigned_in(run.body)) - self._common.keys()
        for variable in sorted(used, key=lambda v: v.name):
            register = register_type(variable.type)
            slot = slots[variable] = builder.slot(register, "variable")
            if variable in self._scratch.storage.spilled:
                builder.store(self._scratch.load(variable, unit.number), slot)
            elif variable in unset - self._scratch.storage.definitions.keys():
                builder.add(f"store {register} {zero(register)}, {slot}")
        return slots

    def _with_bases(self, row: Row, slots: Mapping[Variable, Value]) -> Row:
        """Bases of the variables that grow, right for what their slots hold now."""
        builder = self._builder
        bases: dict[Variable, Value] = {}
        for variable, slot in slots.items():
            factor = row.growths.get(variable)
            if factor:
                register = register_type(variable.type)
                bases[variable] = builder.slot(register, "base")
                base = builder.load(register, slot) - row.unit * factor
                builder.store(base, bases[variable])
        return replace(row, bases=bases)

    def _define(self, run: Run, expressions: Expressions) -> None:
        """Computes again what other runs have computed."""
        definitions = self._scratch.storage.definitions
        needed = exposed(run.body) & (definitions.keys() - self._common.keys())
        for variable in sorted(needed, key=lambda v: v.name):
            expressions.assign(variable, definitions[variable])

    def _keep(self, run: Run, unit: Unit, slots: Mapping[Variable, Value]) -> None:
        changed = assigned_in(run.body) & self._scratch.storage.spilled.keys()
        for variable in sorted(changed, key=lambda v: v.name):
            value = self._builder.load(register_type(variable.type), slots[variable])
            self._scratch.store(variable, unit.number, value)

    # ---- arrays -------------------------------------------------------------------------------

    def _places(self, run: Run, unit: Unit) -> Callable[[SharedArray | LocalArray, Value], Value]:
        """How the run finds elements; arrays that it alone uses begin with zeros."""
        builder, storage = self._builder, self._scratch.storage
        own: dict[LocalArray, Value] = {}
        for array in sorted(arrays_of(run.body), key=lambda array: array.name):
            size = array.size * size_bytes(array.type)
            if array in storage.lent:
                first = builder.constant("i64", 0)
                builder.clear(self._scratch.element(array, first, unit.number), size)
            elif array not in storage.spread:
                own[array] = builder.slot(f"[{array.size} x {memory_type(array.type)}]", "array")
                builder.clear(own[array], size)

        def place(array: SharedArray | LocalArray, index: Value) -> Value:
            if isinstance(array, LocalArray) and array in own:
                return builder.element(own[array], memory_type(array.type), index)
            return self._scratch.element(array, index, unit.number)

        return place
