"""Statements of the IR written as a Python generator function, one per kernel.

A unit is a generator: it yields the number of a barrier or plane operation with the operands, and
gets the results sent. Every line is noted with the statement it comes from, so that a traceback
leads back to the user's source.

Python has no labels. A region is a loop of one trip; leaving it from inside other loops sets a flag
which each of them looks at when it ends. CPython nests 20 loops at most, so deeper ones go into
generator functions of their own.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firebrick.cube.interpreter import arithmetic
from firebrick.cube.interpreter.accesses import UNIT_POSITIONS, Accesses
from firebrick.cube.interpreter.expressions import ExpressionWriter
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Body,
    Break,
    Continue,
    Expression,
    For,
    Function,
    If,
    Leave,
    LocalArray,
    Plane,
    Region,
    Return,
    Statement,
    Store,
    Sync,
    Variable,
    VectorLoad,
    VectorStore,
    While,
    bodies,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST_LOOPS = 12
"""Loops and regions inside each other in one Python function."""


@dataclass(slots=True)
class Source:
    """The Python text of a kernel."""

    text: str
    statements: list[Statement | None]
    """What each line comes from."""
    barriers: list[Sync | Plane]
    accesses: Accesses


def write_source(function: Function) -> Source:
    """The Python text of a function."""
    return _Writer(function).source()


@dataclass(slots=True)
class _Section:
    """Lines of one Python function."""

    lines: list[str] = field(default_factory=list[str])
    statements: list[Statement | None] = field(default_factory=list["Statement | None"])


class _Writer:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._accesses = Accesses(function)
        self._variables = {v: f"v{number}" for number, v in enumerate(function.variables)}
        self._values = ExpressionWriter(self._accesses, self._variables)
        self._barriers: list[Sync | Plane] = []
        self._flags: dict[str, str] = {}
        """Python names by label."""
        self._section = _Section()
        self._outsourced: list[_Section] = []
        self._statement: Statement | None = None
        self._indent = 2
        self._loops: list[str | None] = []
        """Around the present statement in this Python function: labels of regions, None for loops."""
        self._in_part = False

    def source(self) -> Source:
        self._body(self._function.body)
        main = self._section
        sections = [self._prologue(), *self._outsourced, main]
        lines = [line for section in sections for line in section.lines]
        statements = [s for section in sections for s in section.statements]
        return Source("\n".join(lines) + "\n", statements, self._barriers, self._accesses)

    def _prologue(self) -> _Section:
        function = self._function
        lines = [f"def unit(tag, {', '.join(UNIT_POSITIONS)}):", " steps = limit"]
        lines += [f" {self._variables[v]} = {arithmetic.zero(v.type)}" for v in function.variables]
        lines += [f" {flag} = False" for flag in self._flags.values()]
        for local in function.locals:
            name = self._accesses.local(local)
            lines.append(f" {name} = [{arithmetic.zero(local.type)}] * {local.size}")
        lines.append(" if False: yield")
        return _Section(lines, [None] * len(lines))

    # ---- lines --------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._section.lines.append(" " * self._indent + text)
        self._section.statements.append(self._statement)

    def _value(self, expression: Expression) -> str:
        """An expression's text; the definitions that it needs become lines."""
        text = self._values.write(expression)
        for definition in self._values.take_definitions():
            self._line(definition)
        return text

    @contextmanager
    def _indented(self) -> Iterator[None]:
        self._indent += 1
        yield
        self._indent -= 1

    # ---- statements ---------------------------------------------------------------------------

    def _body(self, body: Body) -> None:
        self._indent -= 1
        with self._indented():
            for statement in body:
                self._write(statement)
            if not body:
                self._line("pass")

    def _write(self, statement: Statement) -> None:
        self._statement = statement
        match statement:
            case Assign(variable=variable, value=value):
                self._line(f"{self._variables[variable]} = {self._value(value)}")
            case Store() | VectorLoad() | VectorStore() | Atomic():
                self._access(statement)
            case Plane() | Sync():
                self._barrier(statement)
            case If():
                self._if(statement)
            case For() | While() | Region():
                self._loop_or_part(statement)
            case Break() | Continue() | Return() | Leave():
                self._jump(statement)
