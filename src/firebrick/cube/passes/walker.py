"""Walks a function in the order of execution, knowing at each statement what holds there.

A pass derives from `Walker` and says what takes the place of expressions and simple statements.
Loops are walked several times: first without changing anything, until what holds at the start of a
trip is the same for all trips (INVARIANT), then once more to change them.

    UNREACHABLE   what follows `return`, `break`, `continue` or `leave` is dropped.
    EVERY TRIP    a condition that needs statements before it makes `while` an endless loop that
                  evaluates them on each trip.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Body,
    Break,
    Compare,
    Constant,
    Continue,
    Expression,
    For,
    Function,
    If,
    Leave,
    Read,
    Region,
    Return,
    Statement,
    Unary,
    While,
)
from firebrick.cube.ir.types import BOOL
from firebrick.cube.passes.effects import all_expressions, assigned, read_variables, results
from firebrick.cube.passes.intervals import Interval
from firebrick.cube.passes.knowledge import Knowledge, join

if TYPE_CHECKING:
    from collections.abc import Generator

EXACT_TRIES = 2
"""Walks of a loop before ranges that grow go on to the next number that something is compared with.
"""
MAX_TRIES = 12
"""Walks of a loop before everything that it sets is given up."""
TRUE = Constant(BOOL, True)
Enter = Callable[[Knowledge], Knowledge]
"""From what holds at every start of a trip to what holds inside: what the loop's head adds."""


@dataclass(slots=True)
class _Loop:
    """What is known where the trips of a loop are left."""

    breaks: list[Knowledge] = field(default_factory=list[Knowledge])
    continues: list[Knowledge] = field(default_factory=list[Knowledge])


class Walker:
    """A pass that changes statements by what is known before them."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._loops: list[_Loop] = []
        self._leaves: dict[str, list[Knowledge]] = {}
        self._marks = _compared_numbers(function)
        self._is_changing = True

    def run(self, known: Knowledge | None = None) -> Body:
        """The new body of the function; `known` says what holds at its start besides zeros."""
        return self.body(self.function.body, known or Knowledge.at_start(self.function))[0]

    # ---- what a pass says ---------------------------------------------------------------------

    def expression(
        self, expression: Expression, known: Knowledge, before: list[Statement]
    ) -> Expression:
        """What takes the place of an expression; `before` takes statements that it needs."""
        return expression

    def simple(self, statement: Statement, known: Knowledge) -> Body:
        """What takes the place of a statement without bodies."""
        return (statement,)

    # ---- walking ------------------------------------------------------------------------------

    def body(self, body: Body, known: Knowledge | None) -> tuple[Body, Knowledge | None]:
        """A changed body, and what holds at its end; None if the end is not reached."""
        done: list[Statement] = []
        for statement in body:
            if known is None:  # UNREACHABLE
                break
            changed, known = self._statement(statement, known)
            done += changed
        return tuple(done), known

    def _statement(self, statement: Statement, known: Knowledge) -> tuple[Body, Knowledge | None]:
        match statement:
            case If():
                return self._if(statement, known)
            case For():
                return self._for(statement, known)
            case While():
                return self._while(statement, known)
            case Region(label=label):
                around, self._leaves[label] = self._leaves.get(label, []), []
                body, end = self.body(statement.body, known)
                left, self._leaves[label] = self._leaves[label], around
                return (replace(statement, body=body),), join([end, *left])
            case Break() | Continue() | Leave() | Return():
                self._jump(statement, known)
                return (statement,), None
            case _:
                changed = self.simple(statement, known) if self._is_changing else (statement,)
                _execute(statement, known)
                return changed, known

    def _jump(self, statement: Break | Continue | Leave | Return, known: Knowledge) -> None:
        match statement:
            case Break():
                self._loops[-1].breaks.append(known)
            case Continue():
                self._loops[-1].continues.append(known)
            case Leave(label=label):
                self._leaves[label].append(known)
            case Return():
                pass

    def _changed(
        self, expression: Expression, known: Knowledge, before: list[Statement]
    ) -> Expression:
        return self.expression(expression, known, before) if self._is_changing else expression

    def _if(self, statement: If, known: Knowledge) -> tuple[Body, Knowledge | None]:
        before: list[Statement] = []
        condition = self._changed(statement.condition, known, before)
        other = known.copy()
        known.assume(statement.condition)
        other.assume(statement.condition, holds=False)
        then, then_end = self.body(statement.then, known)
        orelse, else_end = self.body(statement.orelse, other)
        changed = replace(statement, condition=condition, then=then, orelse=orelse)
        return (*before, changed), join([then_end, else_end])

    # ---- loops --------------------------------------------------------------------------------

    def _for(self, loop: For, known: Knowledge) -> tuple[Body, Knowledge | None]:
        before: list[Statement] = []
        start = self._changed(loop.start, known, before)
        stop = self._changed(loop.stop, known, before)
        enter = _range_entry(loop, known)
        head = self._invariant(loop, known, enter)
        with self._trips() as trips:
            body, _ = self.body(loop.body, enter(head))
        changed = replace(loop, start=start, stop=stop, body=body)
        return (*before, changed), join([head, *trips.breaks])

    def _while(self, loop: While, known: Knowledge) -> tuple[Body, Knowledge | None]:
        def enter(head: Knowledge) -> Knowledge:
            inside = head.copy()
            inside.assume(loop.condition)
            return inside

        head = self._invariant(loop, known, enter)
        before: list[Statement] = []
        condition = self._changed(loop.condition, head, before)
        with self._trips() as trips:
            body, _ = self.body(loop.body, enter(head))
        if before:  # EVERY TRIP
            leave = If(Unary("not", condition), (Break(loop.location),), (), loop.location)
            condition, body = TRUE, (*before, leave, *body)
        head.assume(loop.condition, holds=False)
        is_endless = loop.condition == TRUE
        end = join([*([] if is_endless else [head]), *trips.breaks])
        return (replace(loop, condition=condition, body=body),), end

    def _invariant(self, loop: For | While, known: Knowledge, enter: Enter) -> Knowledge:
        """What holds whenever a trip may start, the first one included."""
        marks = {label: len(left) for label, left in self._leaves.items()}
        was_changing, self._is_changing = self._is_changing, False
        head = known.copy()
        for attempt in range(MAX_TRIES):
            with self._trips() as trips:
                _, end = self.body(loop.body, enter(head))
            wider = join([head, end, *trips.continues])
            if wider is None or wider == head:
                break
            head = wider if attempt < EXACT_TRIES else head.widened(wider, self._marks)
        else:
            head = known.copy()
            head.forget(assigned((loop,)))
        self._is_changing = was_changing
        for label, count in marks.items():
            del self._leaves[label][count:]
        return head

    @contextmanager
    def _trips(self) -> Generator[_Loop]:
        loop = _Loop()
        self._loops.append(loop)
        yield loop
        self._loops.pop()


def _compared_numbers(function: Function) -> list[int]:
    """Where ranges are likely to end: at numbers that something is compared with."""
    marks = {0}
    for expression in all_expressions(function.body):
        if isinstance(expression, Compare) and isinstance(expression.right, Constant):
            number = expression.right.value
            if isinstance(number, int):
                marks |= {number - 1, number, number + 1}
    return sorted(marks)


def _range_entry(loop: For, known: Knowledge) -> Enter:
    """What a `for` loop adds to what holds at the start of each of its trips."""
    variable, step = loop.variable, int(loop.step.value)
    start, stop = known.canonical(loop.start), known.canonical(loop.stop)
    first, last = known.interval(start), known.interval(stop)
    if step > 0:
        interval = Interval(first.low, max(first.low, last.high - 1))
    else:
        interval = Interval(min(first.high, last.low + 1), first.high)
    lowest, above = (start, stop) if step > 0 else (stop, start)
    changed = assigned((loop,)).keys()

    def enter(head: Knowledge) -> Knowledge:
        inside = head.copy()
        inside.forget((variable,))
        inside.ranges[variable] = interval
        # The bounds are those of before the loop: not to be compared with if a trip changes them.
        if not read_variables(lowest) & changed:
            inside.note(lowest, Read(variable), strict=step < 0)
        if not read_variables(above) & changed:
            inside.note(Read(variable), above, strict=step > 0)
        return inside

    return enter


def _execute(statement: Statement, known: Knowledge) -> None:
    """What a simple statement leaves behind."""
    if isinstance(statement, Assign):
        known.assign(statement.variable, statement.value)
    else:
        known.forget(results(statement))
