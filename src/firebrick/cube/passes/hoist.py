"""What is the same in all trips of a loop is computed once, before it.

The rules, named where they apply:

    INVARIANT  an expression is moved if nothing that it reads changes in the loop. Nothing else in
               an expression can fail or have an effect, so it may also be computed for no trip.
    WORTH IT   it is moved only if it is more than one cheap operation.
    LOAD       memory is read before the loop only if the first trip surely reads it, and no trip
               writes it, a barrier between units included. Writing one buffer may write all that
               can be written, since two names may mean one memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Buffer,
    Call,
    Constant,
    Expression,
    For,
    If,
    Load,
    LocalArray,
    Logical,
    Read,
    Region,
    Select,
    Statement,
    Sync,
    Variable,
    While,
    operands,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import map_expressions, map_parts
from firebrick.cube.passes.effects import assigned, has_load, may_jump_out, signs_of_zeros, written
from firebrick.cube.passes.names import Names

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.ir.nodes import Body, Function, Memory

CHEAP_OPERATIONS = 1
"""So many are left where they are, unless one is a division or a function."""


def hoist(function: Function) -> Function:
    """The function with invariant expressions before their loops."""
    names = Names(function)
    return names.declare(function, _body(function.body, names))


def operation_count(expression: Expression) -> int:
    """How much work an expression is; divisions and functions count for several operations."""
    return sum(map(_work, walk_expressions(expression)))


def _work(expression: Expression) -> int:
    match expression:
        case Call() | Load() | Binary("div" | "floordiv" | "mod"):
            return 1 + CHEAP_OPERATIONS
        case _:
            return 1 if operands(expression) else 0


def _body(body: Body, names: Names) -> Body:
    done: list[Statement] = []
    for statement in body:
        match statement:
            case For() | While():
                before, loop = _Loop(statement, names).hoisted()
                done += *before, replace(loop, body=_body(loop.body, names))
            case If(then=then, orelse=orelse):
                done.append(
                    replace(statement, then=_body(then, names), orelse=_body(orelse, names))
                )
            case Region(body=inner):
                done.append(replace(statement, body=_body(inner, names)))
            case _:
                done.append(statement)
    return tuple(done)


class _Loop:
    """One loop whose invariant expressions are moved out, those of loops inside it too."""

    def __init__(self, loop: For | While, names: Names) -> None:
        self._loop = loop
        self._names = names
        self._changed = assigned((loop,)).keys()
        self._memory = _changing_memory(loop)
        self._moved: dict[tuple[Expression, tuple[str, ...]], Variable] = {}
        self._before: list[Statement] = []

    def hoisted(self) -> tuple[Body, For | While]:
        """The statements before the loop, and the loop."""
        loop = self._loop
        if isinstance(loop, While):
            loop = replace(loop, condition=self._moved_out(loop.condition, surely=True))
        body = self._body(loop.body, surely=_surely_runs(loop))
        return tuple(self._before), replace(loop, body=body)

    def _body(self, body: Body, *, surely: bool) -> Body:
        done: list[Statement] = []
        for statement in body:
            done.append(self._statement(statement, surely=surely))
            surely = surely and not may_jump_out((statement,))
        return tuple(done)

    def _statement(self, statement: Statement, *, surely: bool) -> Statement:
        changed = map_expressions(statement, lambda one: self._moved_out(one, surely=surely))
        match changed:
            case If(then=then, orelse=orelse):
                sides = self._body(then, surely=False), self._body(orelse, surely=False)
                return replace(changed, then=sides[0], orelse=sides[1])
            case For(body=body) | While(body=body):
                return replace(changed, body=self._body(body, surely=False))
            case Region(body=body):
                return replace(changed, body=self._body(body, surely=surely))
            case _:
                return changed

    def _moved_out(self, expression: Expression, *, surely: bool) -> Expression:
        if self._is_movable(expression, surely=surely):
            return Read(self._variable(expression))
        match expression:
            case Select(condition, if_true, if_false, lazy=True):
                return Select(
                    self._moved_out(condition, surely=surely),
                    self._moved_out(if_true, surely=False),
                    self._moved_out(if_false, surely=False),
                    lazy=True,
                )
            case Logical(op, left, right):
                sides = self._moved_out(left, surely=surely), self._moved_out(right, surely=False)
                return Logical(op, *sides)
            case _:
                return map_parts(expression, lambda part: self._moved_out(part, surely=surely))

    def _is_movable(self, expression: Expression, *, surely: bool) -> bool:
        if operation_count(expression) <= CHEAP_OPERATIONS:  # WORTH IT
            return False
        if has_load(expression) and not surely:  # LOAD
            return False
        return all(map(self._is_invariant, walk_expressions(expression)))

    def _is_invariant(self, part: Expression) -> bool:
        match part:
            case Read(variable):
                return variable not in self._changed  # INVARIANT
            case Load(memory):
                return not self._memory(memory)
            case _:
                return True

    def _variable(self, expression: Expression) -> Variable:
        key = (expression, tuple(signs_of_zeros(expression)))
        variable = self._moved.get(key)
        if variable is None:
            variable = self._moved[key] = self._names.variable("invariant", expression.type)
            self._before.append(Assign(variable, expression, self._loop.location))
        return variable


def _surely_runs(loop: For | While) -> bool:
    match loop:
        case For(_, Constant(value=start), Constant(value=stop), Constant(value=step)):
            return bool(range(int(start), int(stop), int(step)))
        case _:
            return False


def _changing_memory(loop: For | While) -> Callable[[Memory], bool]:
    """Whether some memory may change while a loop runs."""
    changed = written(loop.body)
    is_synchronized = any(isinstance(statement, Sync) for statement in walk(loop.body))
    writes_buffer = any(isinstance(memory, Buffer) for memory in changed)

    def may_change(memory: Memory) -> bool:
        if isinstance(memory, Buffer):
            return memory.mutable and (writes_buffer or is_synchronized)
        if isinstance(memory, LocalArray):
            return memory in changed
        return memory in changed or is_synchronized

    return may_change
