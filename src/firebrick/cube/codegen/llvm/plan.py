"""How a cube runs: its statements cut at the barriers.

A `Run` is executed by all units, one after the other or as a vector; whatever surrounds a barrier
(`if`, loops, regions) is executed once per cube, which is right because all units of the cube agree
there. A jump counts as such a statement if it passes over a barrier. Jumps that do not may be taken
by some units only: those units sit out the runs in between, which the plan calls *skipping*.

The technique is that of J. Stratton et al. 2008, "MCUDA: An efficient implementation of CUDA
kernels for multi-core CPUs", LCPC, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.codegen.llvm.definitions import resolve
from firebrick.cube.codegen.llvm.flow import (
    BREAK,
    CONTINUE,
    RETURN,
    escapes,
    has_barrier,
    is_barrier,
    leave_key,
)
from firebrick.cube.ir.nodes import (
    Assign,
    Body,
    Break,
    Continue,
    Expression,
    For,
    If,
    Leave,
    Read,
    Region,
    Return,
    Statement,
    Variable,
    While,
)
from firebrick.cube.ir.rewrite import map_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping, Set


@dataclass(frozen=True, slots=True)
class Run:
    """Statements without a barrier, for each unit."""

    body: Body
    skips: Mapping[str, str]
    """Jumps after which the unit sits out further runs: where it goes on, by key."""
    is_repeated: bool
    """Whether a loop of the cube runs it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An `if` of the cube."""

    condition: Expression
    then: Plan
    orelse: Plan


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the cube; `counter` holds the value of a `for`, whose variable is the units'."""

    statement: For | While
    body: Plan
    name: str
    counter: Variable | None


@dataclass(frozen=True, slots=True)
class Part:
    """A region of the cube."""

    label: str
    body: Plan
    name: str


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump of the cube."""

    key: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that all units have in common is set; `common.py` finds them."""

    variable: Variable
    value: Expression


Step: TypeAlias = Run | Choice | Loop | Part | Jump | Setting
Plan: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a jump goes, and what lies in between."""

    name: str
    passes_barrier: bool = False
    passes_run: bool = False

    def beyond(self, other: _Ahead) -> _Target:
        """As seen from further away."""
        return _Target(
            self.name, self.passes_barrier or other.barrier, self.passes_run or other.run
        )


@dataclass(frozen=True, slots=True)
class _Ahead:
    """What the rest of a body holds."""

    barrier: bool = False
    run: bool = False

    def __or__(self, other: _Ahead) -> _Ahead:
        return _Ahead(self.barrier or other.barrier, self.run or other.run)


_Targets: TypeAlias = dict[str, _Target]
_EVERYTHING = _Ahead(barrier=True, run=True)


@dataclass
class Planner:
    """Makes the plan of a body."""

    definitions: Mapping[Variable, Expression]
    """What is put in for variables where the cube evaluates something."""
    of_cube: Set[int] = frozenset()
    """Identities of statements that the cube runs although they hold no barrier."""
    skips: set[str] = field(default_factory=set[str])
    """Where units go on that sit out runs."""
    counters: list[Variable] = field(default_factory=list[Variable])
    """Made for the loops of the cube."""
    _loops: int = 0
    _depth: int = 0

    def plan(self, body: Body) -> Plan:
        """The plan of a function's body."""
        return self._body(body, {RETURN: _Target("return")})[0]

    def _body(self, body: Body, targets: _Targets) -> tuple[Plan, _Ahead]:
        """`targets` are seen from the end of the body."""
        steps: list[Step] = []
        pending: list[Statement] = []
        ahead = _Ahead()

        def flush() -> None:
            nonlocal ahead
            if pending:
                steps.append(self._run(tuple(reversed(pending)), _seen(targets, ahead)))
                pending.clear()
                ahead |= _Ahead(run=True)

        for statement in reversed(body):
            here = _seen(targets, ahead)
            if is_barrier(statement):
                flush()
                ahead |= _Ahead(barrier=True)
            elif self._is_of_cube(statement, here):
                flush()
                step, inside = self._step(statement, _seen(targets, ahead))
                steps.append(step)
                ahead |= inside
            else:
                pending.append(statement)
        flush()
        return tuple(reversed(steps)), ahead

    def _is_of_cube(self, statement: Statement, targets: _Targets) -> bool:
        if id(statement) in self.of_cube or has_barrier((statement,)):
            return True
        return any(targets[key].passes_barrier for key in escapes((statement,)))

    def _run(self, body: Body, targets: _Targets) -> Run:
        skips = {key: targets[key].name for key in escapes(body) if targets[key].passes_run}
        self.skips |= set(skips.values())
        return Run(body, skips, self._depth > 0)

    def _step(self, statement: Statement, targets: _Targets) -> tuple[Step, _Ahead]:
        match statement:
            case If(condition, then, orelse):
                yes, in_yes = self._body(then, targets)
                no, in_no = self._body(orelse, targets)
                return Choice(resolve(condition, self.definitions), yes, no), in_yes | in_no
            case For() | While():
                return self._loop(statement, targets)
            case Region(label, body):
                name = f"behind {label}"
                inner = targets | {leave_key(label): _Target(name)}
                plan, inside = self._body(body, inner)
                return Part(label, plan, name), inside
            case Break():
                return Jump(BREAK), _Ahead()
            case Continue():
                return Jump(CONTINUE), _Ahead()
            case Return():
                return Jump(RETURN), _Ahead()
            case Leave(label):
                return Jump(leave_key(label)), _Ahead()
            case _:
                raise TypeError(f"{type(statement).__name__} is no statement of the cube.")

    def _loop(self, loop: For | While, targets: _Targets) -> tuple[Step, _Ahead]:
        self._loops += 1
        name = f"trip of {self._loops}"
        # All units leave such a loop together: further trips have barriers.
        inner = _seen(targets, _EVERYTHING)
        inner[BREAK] = _Target(f"behind {name}", passes_barrier=True, passes_run=True)
        inner[CONTINUE] = _Target(name)
        body, counter = loop.body, None
        if isinstance(loop, For):
            counter = Variable(f"{loop.variable.name} of {name}", loop.variable.type)
            self.counters.append(counter)
            body = (Assign(loop.variable, Read(counter)), *body)
        self._depth += 1
        plan, inside = self._body(body, inner)
        self._depth -= 1
        resolved = map_expressions(loop, lambda value: resolve(value, self.definitions))
        assert isinstance(resolved, For | While)
        return Loop(resolved, plan, name, counter), inside


def _seen(targets: _Targets, ahead: _Ahead) -> _Targets:
    return {key: target.beyond(ahead) for key, target in targets.items()}


def runs(plan: Plan) -> list[Run]:
    """All runs of a plan, in order."""
    found: list[Run] = []
    for step in plan:
        match step:
            case Run():
                found.append(step)
            case Choice(then=then, orelse=orelse):
                found += [*runs(then), *runs(orelse)]
            case Loop(body=body) | Part(body=body):
                found += runs(body)
            case _:
                continue
    return found


def cube_expressions(plan: Plan) -> list[Expression]:
    """The expressions that are evaluated once per cube."""
    found: list[Expression] = []
    for step in plan:
        match step:
            case Choice(condition, then, orelse):
                found += [condition, *cube_expressions(then), *cube_expressions(orelse)]
            case Loop(For(start=start, stop=stop), body):
                found += [start, stop, *cube_expressions(body)]
            case Loop(While(condition=condition), body):
                found += [condition, *cube_expressions(body)]
            case Part(body=body):
                found += cube_expressions(body)
            case Setting(value=value):
                found.append(value)
            case _:
                continue
    return found
