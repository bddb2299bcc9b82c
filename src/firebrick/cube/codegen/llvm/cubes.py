"""One cube as code: its plan, with a loop over the units for every run."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.affine import ADDRESS_BITS, LARGEST_INDEX
from firebrick.cube.codegen.llvm.expressions import Expressions, Row, Surroundings
from firebrick.cube.codegen.llvm.flow import BREAK, CONTINUE, RETURN, leave_key, reads
from firebrick.cube.codegen.llvm.hazards import may_be_reordered
from firebrick.cube.codegen.llvm.plan import Choice, Jump, Loop, Part, Plan, Run, Setting, Step
from firebrick.cube.codegen.llvm.positions import Cube, Launch, Position
from firebrick.cube.codegen.llvm.runs import RunWriter, Unit
from firebrick.cube.codegen.llvm.scratch import TAKES_PART, Scratch
from firebrick.cube.codegen.llvm.statements import Labels, Trips
from firebrick.cube.codegen.llvm.types import register_type, zero
from firebrick.cube.ir.nodes import For

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.affine import Growths
    from firebrick.cube.codegen.llvm.storage import Storage
    from firebrick.cube.codegen.llvm.text import Value
    from firebrick.cube.ir.nodes import Expression


class Cubes:
    """Writes cubes of one function; several times, if different things are known of them."""

    def __init__(
        self,
        launch: Launch,
        plan: Plan,
        storage: Storage,
        skipping: frozenset[str],
        growths: Growths,
    ) -> None:
        self.launch = launch
        self.plan = plan
        self.growths = growths
        builder = launch.builder
        self.scratch = Scratch(builder, launch.arguments, storage)
        self.common = {
            v: builder.slot(register_type(v.type), "common")
            for v in sorted(storage.common, key=lambda v: v.name)
        }
        self.skips = {name: code for code, name in enumerate(sorted(skipping), TAKES_PART + 1)}
        self.runs = RunWriter(builder, launch.arguments, self.scratch, self.common, self.skips)

    def write(self, number: Value) -> None:
        """The cube of that number."""
        _CubeWriter(self, Cube(self.launch, number)).write()


class _CubeWriter:
    def __init__(self, cubes: Cubes, cube: Cube) -> None:
        self._cubes = cubes
        self._cube = cube
        self._launch = cubes.launch
        self._builder = cubes.launch.builder

    def write(self) -> None:
        builder = self._builder
        for variable, slot in self._cubes.common.items():
            register = register_type(variable.type)
            builder.add(f"store {register} {zero(register)}, {slot}")
        self._cubes.scratch.clear()
        end = builder.fresh("cube.end")
        self._steps(self._cubes.plan, {RETURN: end})
        builder.place(end)

    # ---- steps --------------------------------------------------------------------------------

    def _steps(self, plan: Plan, labels: Labels) -> None:
        for step in plan:
            self._step(step, labels)
            if isinstance(step, Jump):
                return

    def _step(self, step: Step, labels: Labels) -> None:
        builder = self._builder
        match step:
            case Run():
                self._run(step)
            case Choice():
                self._choice(step, labels)
            case Loop():
                self._loop(step, labels)
            case Part(label, body, name):
                end = builder.fresh("left")
                self._steps(body, {**labels, leave_key(label): end})
                builder.place(end)
                self._resume(name)
            case Jump(key):
                builder.jump(labels[key])
            case Setting(variable, value):
                found = self._expressions(value).value(value)
                builder.store(found, self._cubes.common[variable])

    def _choice(self, choice: Choice, labels: Labels) -> None:
        builder, condition = self._builder, choice.condition
        yes, no, after = (builder.fresh(stem) for stem in ("then", "else", "after"))
        builder.branch(self._expressions(condition).value(condition), yes, no)
        for label, plan in ((yes, choice.then), (no, choice.orelse)):
            builder.place(label)
            self._steps(plan, labels)
            builder.jump(after)
        builder.place(after)

    def _loop(self, loop: Loop, labels: Labels) -> None:
        builder, statement = self._builder, loop.statement
        head, body, latch, after = (builder.fresh(s) for s in ("loop", "body", "next", "after"))
        trips = None
        if isinstance(statement, For):
            trips = Trips(statement, self._expressions(statement.start, statement.stop))
        builder.place(head)
        builder.branch(self._goes_on(loop, trips), body, after)
        builder.place(body)
        if trips is not None and loop.counter is not None:
            builder.store(trips.present(), self._cubes.common[loop.counter])
        self._steps(loop.body, {**labels, BREAK: after, CONTINUE: latch})
        builder.place(latch)
        self._resume(loop.name)
        if trips is not None:
            trips.advance()
        builder.jump(head)
        builder.place(after)

    def _goes_on(self, loop: Loop, trips: Trips | None) -> Value:
        if isinstance(loop.statement, For):
            assert trips is not None
            return trips.remain()
        condition = loop.statement.condition
        return self._expressions(condition).value(condition)

    def _resume(self, name: str) -> None:
        """Units that went on here take part again."""
        code = self._cubes.skips.get(name)
        if code is None:
            return
        builder, scratch = self._builder, self._cubes.scratch
        start, end = (builder.constant("i64", n) for n in (0, self._launch.function.units))
        with builder.independent() as marks, builder.counted(start, end, marks) as unit:
            skip = scratch.skip(unit)
            is_here = skip.compare("eq", code)
            scratch.set_skip(unit, is_here.select(skip.same(TAKES_PART), skip))

    def _expressions(self, *values: Expression) -> Expressions:
        """For what the cube evaluates once: the first unit speaks for all."""
        builder, scratch = self._builder, self._cubes.scratch
        unit = self._cube.first_unit()
        number = builder.constant("i64", 0)
        slots = dict(self._cubes.common)
        kept = reads(*values) - slots.keys()
        for variable in sorted(kept, key=lambda v: v.name):
            slots[variable] = builder.slot(register_type(variable.type), "copy")
            builder.store(scratch.load(variable, number), slots[variable])
        around = Surroundings(
            lambda name: self._cube.topology(name, unit),
            slots,
            lambda array, index: scratch.element(array, index, number),
        )
        return Expressions(builder, self._launch.arguments, around)

    # ---- units --------------------------------------------------------------------------------

    def _run(self, run: Run) -> None:
        """A loop over the units; the innermost one is for vectors."""
        builder, sizes = self._builder, self._launch.function.cube_dim
        zero_position = self._launch.constant(0)
        at = [zero_position, zero_position, zero_position]
        axes = [axis for axis in (2, 1, 0) if sizes[axis] > 1]
        with ExitStack() as loops:
            for axis in axes:
                promised = axis == axes[-1] and not may_be_reordered(run.body, self._cubes.growths)
                marks = loops.enter_context(builder.independent(promised=promised))
                end = self._launch.constant(sizes[axis])
                at[axis] = loops.enter_context(builder.counted(zero_position, end, marks))
            unit = at[0], at[1], at[2]
            number = self._cube.unit_number(unit).convert("sext", "i64")
            row = self._row(unit) if axes and axes[-1] == 0 else None
            found = Unit(lambda name: self._cube.topology(name, unit), number, row)
            self._cubes.runs.write(run, found)

    def _row(self, unit: Position) -> Row | None:
        """The neighbors along x, where addresses have more bits than indices."""
        function = self._launch.function
        if function.index_type.bits >= ADDRESS_BITS:
            return None
        x, y, z = unit
        first = self._launch.constant(0), y, z
        return Row(
            x,
            lambda name: self._cube.topology(name, first),
            self._cubes.growths,
            {},
            LARGEST_INDEX // function.cube_dim[0],
        )
