"""Bodies of the IR written as a Python generator function, one per kernel.

A unit is a generator: it yields the number of a barrier or plane operation with the operands, and
gets the results sent.

Python has no labels. A region is a loop of one trip; leaving it from inside other loops sets a flag
which each of them looks at when it ends. CPython nests 20 loops at most, so that deeper ones go
into generator functions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.interpreter import arithmetic
from firebrick.cube.interpreter.lines import Lines
from firebrick.cube.interpreter.statements import Barrier, StatementWriter
from firebrick.cube.ir.nodes import (
    Body,
    Break,
    Continue,
    For,
    Function,
    If,
    Leave,
    Region,
    Return,
    Statement,
    While,
    bodies,
    walk,
)

if TYPE_CHECKING:
    from firebrick.cube.interpreter.accesses import Accesses

DEEPEST_LOOPS = 12
"""Loops and regions inside each other in one Python function."""
Loop: TypeAlias = For | While | Region
_GENERATOR = "if False: yield"
"""Makes a function a generator, even one without barriers."""


@dataclass(frozen=True, slots=True)
class Source:
    """The Python of a kernel, which defines `unit`."""

    lines: Lines
    barriers: list[Barrier]
    """By number."""
    accesses: Accesses


def write_source(function: Function) -> Source:
    """The Python of a function."""
    return _FlowWriter(function).source()


class _FlowWriter:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._simple = StatementWriter(function)
        self._lines = Lines(indent=1)
        self._outsourced: list[tuple[str, Lines]] = []
        self._flags: dict[str, str] = {}
        """By label: whether its region is being left."""
        self._loops: list[str | None] = []
        """Around the present place in its Python function: labels of regions, None for loops."""
        self._return = "return"

    def source(self) -> Source:
        self._body(self._function.body)
        whole = self._prologue()
        shared = [*self._simple.variables.values(), *self._flags.values(), "steps", "tag"]
        for name, lines in self._outsourced:
            whole.add_all([f"def {name}():", f" nonlocal {', '.join(shared)}"])
            whole.extend(lines)
        whole.extend(self._lines)
        return Source(whole, self._simple.barriers, self._simple.accesses)

    def _prologue(self) -> Lines:
        function, accesses = self._function, self._simple.accesses
        lines = Lines()
        lines.add(f"def unit({', '.join(['tag', *accesses.unit_positions])}):")
        lines.indent = 1
        lines.add(_GENERATOR)
        lines.add("steps = limit")
        for variable, name in self._simple.variables.items():
            lines.add(f"{name} = {arithmetic.zero(variable.type)}")
        for local in function.locals:
            lines.add(f"{accesses.local(local)} = [{arithmetic.zero(local.type)}] * {local.size}")
        lines.add_all([f"{flag} = False" for flag in self._flags.values()])
        return lines

    # ---- bodies -------------------------------------------------------------------------------

    def _body(self, body: Body) -> None:
        for statement in body:
            self._statement(statement)
        if not body:
            self._lines.add("pass")

    def _nested(self, body: Body) -> None:
        with self._lines.indented():
            self._body(body)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case If():
                self._if(statement)
            case For() | While() | Region():
                self._loop(statement)
            case Break() | Continue() | Return() | Leave():
                self._lines.add_all(self._jump(statement), statement)
            case _:
                self._lines.add_all(self._simple.write(statement), statement)

    def _if(self, statement: If) -> None:
        # A chain of conditions is walked, not descended: Python indents 100 levels at most.
        chain = [statement]
        while len(chain[-1].orelse) == 1 and isinstance(following := chain[-1].orelse[0], If):
            chain.append(following)
        conditions: list[str] = []
        for branch in chain:
            conditions.append(self._simple.value(branch.condition))
            self._lines.add_all(self._simple.take_definitions(), branch)
        for word, branch, condition in zip(
            ["if", *["elif"] * (len(chain) - 1)], chain, conditions, strict=True
        ):
            self._lines.add(f"{word} {condition}:", branch)
            self._nested(branch.then)
        if chain[-1].orelse:
            self._lines.add("else:")
            self._nested(chain[-1].orelse)

    # ---- loops --------------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> None:
        if len(self._loops) < DEEPEST_LOOPS:
            self._write_loop(loop)
        else:
            self._outsource(loop)
        for label in sorted(_left_from(loop)):
            self._lines.add(f"if {self._flags[label]}: break", loop)

    def _outsource(self, loop: Loop) -> None:
        """Writes a loop as a function of its own, which says whether the unit has ended."""
        name = f"loop{len(self._outsourced)}"
        around = self._lines, self._loops, self._return
        self._lines, self._loops, self._return = Lines(indent=2), [], "return True"
        self._outsourced.append((name, self._lines))
        self._lines.add(_GENERATOR)
        self._write_loop(loop)
        self._lines.add("return False")
        self._lines, self._loops, self._return = around
        self._lines.add(f"if (yield from {name}()): {self._return}", loop)

    def _write_loop(self, loop: Loop) -> None:
        head = self._head(loop)
        self._lines.add_all(self._simple.take_definitions(), loop)
        self._lines.add(head, loop)
        label = loop.label if isinstance(loop, Region) else None
        self._loops.append(label)
        with self._lines.indented():
            if label is None:
                self._lines.add(f"steps -= {_count(loop.body)}")
                self._lines.add("if steps < 0: run_away()", loop)
            self._body(loop.body)
            if label is not None:
                self._lines.add("break")
        self._loops.pop()

    def _head(self, loop: Loop) -> str:
        match loop:
            case For(variable, start, stop, step):
                bounds = ", ".join(self._simple.value(bound) for bound in (start, stop, step))
                return f"for {self._simple.variables[variable]} in range({bounds}):"
            case While(condition):
                return f"while {self._simple.value(condition)}:"
            case Region(label=label, body=body):
                if any(label in _left_from(s) for s in walk(body) if isinstance(s, Loop)):
                    flag = self._flags.setdefault(label, f"leaves{len(self._flags)}")
                    self._lines.add(f"{flag} = False", loop)
                return "while True:"

    def _jump(self, statement: Break | Continue | Return | Leave) -> list[str]:
        match statement:
            case Break():
                return ["break"]
            case Continue():
                return ["continue"]
            case Return():
                return [self._return]
            case Leave(label=label):
                is_innermost = bool(self._loops) and self._loops[-1] == label
                return ["break"] if is_innermost else [f"{self._flags[label]} = True", "break"]


def _left_from(loop: Loop) -> set[str]:
    """The labels of the regions around a loop that are left from inside it."""
    labels = {s.label for s in walk(loop.body) if isinstance(s, Leave)}
    own = {s.label for s in walk((loop,)) if isinstance(s, Region)}
    return labels - own


def _count(body: Body) -> int:
    """How many statements a trip executes at most, loops inside left out."""
    count = 0
    for statement in body:
        count += 1
        if not isinstance(statement, For | While):
            count += sum(_count(inner) for inner in bodies(statement))
    return max(count, 1)
