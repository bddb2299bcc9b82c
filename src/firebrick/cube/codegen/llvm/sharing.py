"""Variables that all units of a cube have in common: set once per cube, not once per unit.

An offset that grows from tile to tile, for example. Such a variable is set only where the whole
cube passes, to something that is the same for all units. Taking it out of the runs keeps it in a
register.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.codegen.llvm.definitions import resolve
from firebrick.cube.codegen.llvm.flow import (
    NONE,
    Variables,
    assigned_in,
    escapes,
    read_in,
)
from firebrick.cube.codegen.llvm.plan import (
    Choice,
    Loop,
    Part,
    Plan,
    Planner,
    Run,
    Setting,
    Step,
    runs,
)
from firebrick.cube.codegen.llvm.positions import OF_THE_CUBE, OF_THE_LAUNCH
from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Buffer,
    Constant,
    Expression,
    Length,
    Load,
    Read,
    Statement,
    Topology,
    Variable,
    operands,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Definitions: TypeAlias = Mapping[Variable, Expression]


def share(plan: Plan, planner: Planner) -> tuple[Plan, Variables]:
    """The plan with settings of common variables taken out of its runs, and those variables."""
    common = frozenset(planner.counters)
    if not planner.skips:  # else a statement of the cube may be meant for some units only
        common |= _find(runs(plan), common, planner.definitions)
    return _shared(plan, common, planner.definitions), common


def _find(all_runs: list[Run], counters: Variables, definitions: Definitions) -> Variables:
    settings: dict[Variable, list[Expression]] = {}
    others = NONE
    for run in all_runs:
        movable = _movable(run)
        for assign in movable:
            value = resolve(assign.value, definitions)
            settings.setdefault(assign.variable, []).append(value)
        moved = set(map(id, movable))
        others |= assigned_in(tuple(s for s in run.body if id(s) not in moved))
    common = counters | frozenset(settings) - others
    while True:
        kept = frozenset(
            variable
            for variable in common
            if all(is_common(value, common) for value in settings.get(variable, []))
        )
        if kept == common:
            return common
        common = kept


def _movable(run: Run) -> list[Assign]:
    """Assignments that the cube can make: no unit has jumped away before them."""
    found: list[Assign] = []
    before: list[Statement] = []
    leaves = bool(escapes(run.body))
    for statement in run.body:
        if escapes((statement,)):
            break
        if isinstance(statement, Assign) and not (leaves and _is_read(statement, before)):
            found.append(statement)
        before.append(statement)
    return found


def _is_read(assign: Assign, before: list[Statement]) -> bool:
    return assign.variable in read_in(tuple(before))


def is_common(expression: Expression, common: Variables) -> bool:
    """Whether all units of a cube find the same value."""
    match expression:
        case Read(variable):
            return variable in common
        case Topology(name=name):
            return name in OF_THE_LAUNCH or name in OF_THE_CUBE
        case Load(memory, index):
            unchanging = isinstance(memory, Buffer) and not memory.mutable
            return unchanging and is_common(index, common)
        case Constant() | Argument() | Length():
            return True
        case _:
            return all(is_common(part, common) for part in operands(expression))


def _shared(plan: Plan, common: Variables, definitions: Definitions) -> Plan:
    steps: list[Step] = []
    for step in plan:
        match step:
            case Run():
                steps += _taken_apart(step, common, definitions)
            case Choice(then=then, orelse=orelse):
                yes, no = (_shared(part, common, definitions) for part in (then, orelse))
                steps.append(replace(step, then=yes, orelse=no))
            case Loop(body=body) | Part(body=body):
                steps.append(replace(step, body=_shared(body, common, definitions)))
            case _:
                steps.append(step)
    return tuple(steps)


def _taken_apart(run: Run, common: Variables, definitions: Definitions) -> Iterator[Step]:
    """Settings go in front of the run, or split it where it has read the variable already."""
    front: list[Step] = []
    rest: list[Statement] = []
    for statement in run.body:
        if not (isinstance(statement, Assign) and statement.variable in common):
            rest.append(statement)
            continue
        if _is_read(statement, rest):
            yield from front
            yield replace(run, body=tuple(rest))
            front, rest = [], []
        front.append(Setting(statement.variable, resolve(statement.value, definitions)))
    yield from front
    if rest:
        yield replace(run, body=tuple(rest))
