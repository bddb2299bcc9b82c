"""Statements of the IR for one unit: plain control flow, no barriers.

A jump goes to a label that whoever writes the surroundings has provided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.atomics import write_atomic
from firebrick.cube.codegen.llvm.flow import BREAK, CONTINUE, RETURN, conditions, leave_key
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Body,
    Break,
    Continue,
    For,
    If,
    Leave,
    Plane,
    Region,
    Return,
    Statement,
    Store,
    Sync,
    VectorLoad,
    VectorStore,
    While,
)

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.expressions import Expressions
    from firebrick.cube.codegen.llvm.text import Value

Labels = dict[str, str]
"""Where the jumps go, by the keys of `flow.py`."""
JUMPS = (Break, Continue, Return, Leave)


class Statements:
    """Writes statements."""

    def __init__(self, expressions: Expressions, labels: Labels) -> None:
        self._expressions = expressions
        self._builder = expressions.builder
        self._labels = labels

    def body(self, body: Body) -> None:
        """Statements up to the first jump; what follows is never reached."""
        for statement in body:
            self._write(statement)
            if isinstance(statement, JUMPS):
                return

    def _write(self, statement: Statement) -> None:
        match statement:
            case Assign(variable=variable, value=value):
                self._expressions.assign(variable, value)
            case Store(memory=memory, index=index, value=value):
                place = self._expressions.index(index)
                self._expressions.store(memory, place, self._expressions.value(value))
            case VectorLoad() | VectorStore():
                self._vector(statement)
            case Atomic():
                write_atomic(self._expressions, statement)
            case Plane():
                self._plane(statement)
            case Sync():  # of a plane, which has one unit
                return
            case _:
                self._flow(statement)

    def _flow(
        self, statement: If | For | While | Region | Break | Continue | Return | Leave
    ) -> None:
        match statement:
            case If():
                self._if(statement)
            case For():
                self._for(statement)
            case While():
                self._while(statement)
            case Region(label=label, body=body):
                end = self._builder.fresh("left")
                self._inner({leave_key(label): end}, body)
                self._builder.place(end)
            case Break():
                self._builder.jump(self._labels[BREAK])
            case Continue():
                self._builder.jump(self._labels[CONTINUE])
            case Return():
                self._builder.jump(self._labels[RETURN])
            case Leave(label=label):
                self._builder.jump(self._labels[leave_key(label)])

    def _inner(self, labels: Labels, body: Body) -> None:
        Statements(self._expressions, self._labels | labels).body(body)

    # ---- branches and loops -------------------------------------------------------------------

    def _if(self, statement: If) -> None:
        builder = self._builder
        chain, otherwise = conditions(statement)
        after = builder.fresh("after")
        for condition, then in chain:
            yes, no = builder.fresh("then"), builder.fresh("else")
            builder.branch(self._expressions.value(condition), yes, no)
            builder.place(yes)
            self.body(then)
            builder.jump(after)
            builder.place(no)
        self.body(otherwise)
        builder.place(after)

    def _while(self, statement: While) -> None:
        builder = self._builder
        head, body, after = (builder.fresh(stem) for stem in ("while", "do", "done"))
        builder.place(head)
        builder.branch(self._expressions.value(statement.condition), body, after)
        builder.place(body)
        self._inner({BREAK: after, CONTINUE: head}, statement.body)
        builder.jump(head)
        builder.place(after)

    def _for(self, statement: For) -> None:
        expressions, builder = self._expressions, self._builder
        trips = Trips(statement, expressions)
        head, body, latch, after = (
            builder.fresh(stem) for stem in ("for", "body", "next", "after")
        )
        builder.place(head)
        builder.branch(trips.remain(), body, after)
        builder.place(body)
        expressions.write(statement.variable, trips.present())
        self._inner({BREAK: after, CONTINUE: latch}, statement.body)
        builder.place(latch)
        trips.advance()
        builder.jump(head)
        builder.place(after)

    # ---- planes and vectors -------------------------------------------------------------------

    def _plane(self, plane: Plane) -> None:
        """Planes have one unit: what is exchanged is its own."""
        values = [self._expressions.value(operand) for operand in plane.operands]
        for number, result in enumerate(plane.results):
            self._expressions.write(result, self._exchanged(plane, values, number))

    def _exchanged(self, plane: Plane, values: list[Value], number: int) -> Value:
        match plane.op:
            case "elect":
                return self._builder.constant("i1", True)
            case "ballot":
                is_set = values[0].convert("zext", "i32")
                return is_set if number == 0 else is_set.same(0)
            case "exclusive_sum":
                return values[0].same(0)
            case "exclusive_prod":
                return values[0].same(1)
            case _:
                return values[0]

    def _vector(self, access: VectorLoad | VectorStore) -> None:
        """Neighbors one by one: LLVM joins them again where that pays."""
        expressions = self._expressions
        first = expressions.index(access.index)
        if isinstance(access, VectorLoad):
            first = first * len(access.results)
            loaded = [
                expressions.load(access.buffer, first + lane) for lane in range(len(access.results))
            ]
            for result, value in zip(access.results, loaded, strict=True):
                expressions.write(result, value)
            return
        first = first * len(access.values)
        values = [expressions.value(value) for value in access.values]
        for lane, value in enumerate(values):
            expressions.store(access.buffer, first + lane, value)


class Trips:
    """The trips of a `for` loop: counted apart from its variable, which the body may set."""

    def __init__(self, loop: For, expressions: Expressions) -> None:
        builder = self._builder = expressions.builder
        self._step = int(loop.step.value)
        self._unsigned = loop.variable.type.kind == "uint"
        start, stop = expressions.value(loop.start), expressions.value(loop.stop)
        self._type = start.type
        self._stop = stop
        self._present = builder.slot(start.type, "trip")
        builder.store(start, self._present)
        self._left: Value | None = None
        if abs(self._step) != 1:
            self._left = builder.slot(start.type, "trips")
            builder.store(self._count(start, stop), self._left)

    def _count(self, start: Value, stop: Value) -> Value:
        """How many trips there are, so that no sum can overflow past `stop`."""
        low, high = (start, stop) if self._step > 0 else (stop, start)
        distance = (high - low - 1).binary("udiv", abs(self._step)) + 1
        return self._before(low, high).select(distance, 0)

    def _before(self, low: Value, high: Value) -> Value:
        return low.compare("ult" if self._unsigned else "slt", high)

    def remain(self) -> Value:
        """Whether there is another trip."""
        if self._left is not None:
            return self._builder.load(self._type, self._left).compare("ne", 0)
        present = self.present()
        if self._step > 0:
            return self._before(present, self._stop)
        return self._before(self._stop, present)

    def present(self) -> Value:
        """The value of this trip."""
        return self._builder.load(self._type, self._present)

    def advance(self) -> None:
        """Goes on to the next trip."""
        # One step does not pass `stop`; longer ones may, after the last trip.
        wraps = "" if self._left is not None else " nuw" if self._unsigned else " nsw"
        instruction = "add" if self._step > 0 else "sub"
        following = self.present().binary(f"{instruction}{wraps}", abs(self._step))
        self._builder.store(following, self._present)
        if self._left is not None:
            left = self._builder.load(self._type, self._left)
            self._builder.store(left - 1, self._left)
