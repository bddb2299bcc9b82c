"""Statements as lines of text: what the families have in common, loops above all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firebrick.cube.codegen.snippets import resolve
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Body,
    Break,
    Constant,
    Continue,
    Expression,
    For,
    Function,
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
from firebrick.cube.ir.types import Type

if TYPE_CHECKING:
    from collections.abc import Generator

    from firebrick.cube.codegen.expressions import Expressions
    from firebrick.cube.codegen.snippets import Words
    from firebrick.cube.codegen.target import Target

INDENT = "    "
_JUMPS = (Break, Continue, Return, Leave)


class Statements(ABC):
    """Turns a function's body into lines."""

    def __init__(self, function: Function, target: Target, expressions: Expressions) -> None:
        self.function = function
        self.target = target
        self.expressions = expressions
        self.names = expressions.names
        self.lines: list[str] = []
        self._depth = 1

    # ---- what a family spells -----------------------------------------------------------------

    @abstractmethod
    def constant_line(self, type: Type, name: str, text: str) -> str:
        """Declares a temporary that keeps its value."""

    @abstractmethod
    def variable_line(self, type: Type, name: str, text: str) -> str:
        """Declares a temporary that changes."""

    @abstractmethod
    def words(self, type: Type) -> Words:
        """The family's keys of snippets."""

    @abstractmethod
    def store(self, store: Store) -> None:
        """Writes an element."""

    @abstractmethod
    def vector_load(self, load: VectorLoad) -> None:
        """Reads neighbours."""

    @abstractmethod
    def vector_store(self, store: VectorStore) -> None:
        """Writes neighbours."""

    @abstractmethod
    def atomic(self, atomic: Atomic) -> None:
        """An indivisible access."""

    @abstractmethod
    def plane(self, plane: Plane) -> None:
        """An exchange."""

    @abstractmethod
    def region(self, region: Region) -> None:
        """A body that can be left."""

    @abstractmethod
    def leave(self, leave: Leave) -> None:
        """Leaves a region."""

    # ---- lines --------------------------------------------------------------------------------

    def add(self, line: str) -> None:
        """Appends a line at the present depth."""
        self.lines.append(f"{INDENT * self._depth}{line}")

    @contextmanager
    def block(self, head: str = "") -> Generator[None]:
        """Lines in braces."""
        self.add(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add("}")

    def text(self, expression: Expression) -> str:
        """An expression."""
        return self.expressions.text(expression)

    def temporary(self, type: Type, text: str) -> str:
        """The name of a new temporary that holds a value."""
        name = self.names.temporary()
        self.add(self.constant_line(type, name, text))
        return name

    def snippets(self, text: str) -> list[str]:
        """The functions that a text calls."""
        return resolve(text, self.target, self.words)

    # ---- statements ---------------------------------------------------------------------------

    def body(self, body: Body) -> None:
        """Statements, up to the first that goes elsewhere: what follows is never reached."""
        for statement in body:
            self._statement(statement)
            if isinstance(statement, _JUMPS):
                return

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Assign(variable=variable, value=value):
                self.add(f"{self.names.variable(variable)} = {self.text(value)};")
            case Store():
                self.store(statement)
            case VectorLoad():
                self.vector_load(statement)
            case VectorStore():
                self.vector_store(statement)
            case Atomic():
                self.atomic(statement)
            case Plane():
                self.plane(statement)
            case Sync(scope=scope):
                self.sync(scope)
            case _:
                self._flow(statement)

    def sync(self, scope: str) -> None:
        """A barrier."""
        for line in self.target.barriers[scope]:
            self.add(line)

    def _flow(
        self, statement: If | For | While | Break | Continue | Return | Region | Leave
    ) -> None:
        match statement:
            case If():
                self._if(statement)
            case For():
                self._for(statement)
            case While(condition=condition, body=body):
                with self.block(f"while ({self.text(condition)})"):
                    self.body(body)
            case Region():
                self.region(statement)
            case Leave():
                self.leave(statement)
            case Break():
                self.add("break;")
            case Continue():
                self.add("continue;")
            case Return():
                self.add("return;")

    def _if(self, statement: If) -> None:
        with self.block(f"if ({self.text(statement.condition)})"):
            self.body(statement.then)
        # A chain of conditions is walked, not descended: it may be hundreds long.
        orelse = statement.orelse
        while len(orelse) == 1 and isinstance(following := orelse[0], If):
            with self.otherwise(f"if ({self.text(following.condition)})"):
                self.body(following.then)
            orelse = following.orelse
        if orelse:
            with self.otherwise():
                self.body(orelse)

    @contextmanager
    def otherwise(self, condition: str = "") -> Generator[None]:
        """The block of an `else`, behind that of an `if`."""
        closing = self.lines.pop().strip()
        with self.block(f"{closing} else {condition}".rstrip()):
            yield

    # ---- loops over ranges --------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        with self.block():
            stop = self._bound(loop.stop)
            if abs(int(loop.step.value)) == 1 or _cannot_overflow(loop):
                self._simple_for(loop, stop)
            else:
                self._guarded_for(loop, stop)

    def _bound(self, bound: Expression) -> str:
        text = self.text(bound)
        return text if isinstance(bound, Constant) else self.temporary(bound.type, text)

    def _simple_for(self, loop: For, stop: str) -> None:
        """`for (i = start; i < stop; i = i + step)`, where the last sum does not overflow."""
        type, counter = loop.variable.type, self.names.temporary()
        start = self.variable_line(type, counter, self.text(loop.start))
        order = "<" if int(loop.step.value) > 0 else ">"
        following = self.expressions.combined("add", type, counter, self.text(loop.step))
        head = f"for ({start} {counter} {order} {stop}; {counter} = {following})"
        with self.block(head):
            self.add(f"{self.names.variable(loop.variable)} = {counter};")
            self.body(loop.body)

    def _guarded_for(self, loop: For, stop: str) -> None:
        """As above, but it asks before it adds whether there is a next trip.

        The distance to the stop is taken as unsigned, which holds any difference of two numbers.
        """
        type, step = loop.variable.type, int(loop.step.value)
        unsigned = Type(f"u{type.bits}")  # pyright: ignore[reportArgumentType] - as wide as an integer type
        following, more = self.names.temporary(), self.names.temporary()
        self.add(self.variable_line(type, following, self.text(loop.start)))
        order = "<" if step > 0 else ">"
        first = self.expressions.compared(order, type, following, stop)
        self.add(self.variable_line(Type("bool"), more, first))
        far, near = (stop, following) if step > 0 else (following, stop)
        ends = [self.expressions.converted(unsigned, type, text) for text in (far, near)]
        distance = self.expressions.combined("sub", unsigned, *ends)
        reach = self.expressions.constant(Constant(unsigned, abs(step)))
        with self.block(f"while ({more})"):
            self.add(f"{self.names.variable(loop.variable)} = {following};")
            self.add(f"{more} = {distance} > {reach};")
            added = self.expressions.combined("add", type, following, self.text(loop.step))
            self.add(f"{following} = {added};")
            self.body(loop.body)


def _cannot_overflow(loop: For) -> bool:
    if not isinstance(loop.stop, Constant):
        return False
    type, last = loop.variable.type, int(loop.stop.value) + int(loop.step.value)
    low, high = (0, (1 << type.bits) - 1)
    if type.kind == "int":
        low, high = -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
    return low <= last <= high
