"""Statements in place of what a target cannot write inside an expression.

- A lazy selection becomes an `If` that sets a variable, where the target's own selection evaluates
  both sides.
- An expression that is nested too deeply for a compiler's parser is cut: its inner parts are put
  into variables before the statement.

Whatever stood on a side that is evaluated only sometimes stays there: if it needs statements of its
own, the selection or the logical operator around it becomes an `If` too. Expressions have no side
effects, so evaluating a part earlier within its statement changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Body,
    Break,
    Constant,
    Expression,
    For,
    Function,
    If,
    Logical,
    Read,
    Region,
    Select,
    Statement,
    Unary,
    Variable,
    While,
    expressions,
    operands,
)
from firebrick.cube.ir.rewrite import rewrite_statement
from firebrick.cube.ir.types import BOOL

if TYPE_CHECKING:
    from firebrick.cube.ir.types import Type

DEEPEST = 48
"""Levels that an expression may have; clang's parser takes 256 brackets, others fewer."""


def linearize(function: Function, *, selects: bool) -> Function:
    """The function with statements for deep expressions and, with `selects`, lazy selections."""
    work = _Linearizer(function, selects=selects)
    body = work.body(function.body)
    return replace(function, body=body, variables=(*function.variables, *work.variables))


class _Linearizer:
    def __init__(self, function: Function, *, selects: bool) -> None:
        self.variables: list[Variable] = []
        self._selects = selects
        declared = (*function.buffers, *function.shared, *function.locals, *function.scalars)
        self._taken = {item.name for item in (*declared, *function.variables)}
        # Of expressions that are done: themselves (so that no other gets their identity), the
        # statements that they need first, and their levels.
        self._done: dict[int, tuple[Expression, Body, int]] = {}

    # ---- statements ---------------------------------------------------------------------------

    def body(self, body: Body) -> Body:
        return tuple(part for statement in body for part in self._statement(statement))

    def _statement(self, statement: Statement) -> Body:
        self._done.clear()
        flat = rewrite_statement(statement, self._expression)
        first = tuple(part for one in expressions(flat) for part in self._needed(one))
        match flat:
            case While() if first:
                return (self._endless(flat, first),)
            case If(then=then, orelse=orelse):
                return *first, replace(flat, then=self.body(then), orelse=self.body(orelse))
            case For(body=body) | While(body=body) | Region(body=body):
                return *first, replace(flat, body=self.body(body))
            case _:
                return *first, flat

    def _endless(self, loop: While, first: Body) -> Statement:
        """The condition is worked out anew on each trip, also after `continue`."""
        leave = If(Unary("not", loop.condition), (Break(),))
        return replace(
            loop, condition=Constant(BOOL, True), body=(*first, leave, *self.body(loop.body))
        )

    # ---- expressions --------------------------------------------------------------------------

    def _needed(self, expression: Expression) -> Body:
        return self._done[id(expression)][1] if id(expression) in self._done else ()

    def _levels(self, expression: Expression) -> int:
        return self._done[id(expression)][2] if id(expression) in self._done else 1

    def _keep(self, expression: Expression, first: Body, levels: int) -> Expression:
        self._done[id(expression)] = (expression, first, levels)
        return expression

    def _expression(self, expression: Expression) -> Expression:
        """An expression whose parts are done."""
        parts = operands(expression)
        if not parts:
            return expression
        match expression:
            case Select(condition, if_true, if_false, lazy=True):
                sides = (*self._needed(if_true), *self._needed(if_false))
                if self._selects or sides:
                    return self._chosen(condition, if_true, if_false)
            case Logical(op, left, right) if self._needed(right):
                constant = Constant(BOOL, op == "or")
                sides = (right, constant) if op == "and" else (constant, right)
                return self._chosen(left, *sides)
            case _:
                pass
        first = tuple(part for one in parts for part in self._needed(one))
        levels = 1 + max(map(self._levels, parts))
        if levels < DEEPEST:
            return self._keep(expression, first, levels)
        variable = self._variable(expression.type)
        return self._keep(Read(variable), (*first, Assign(variable, expression)), 1)

    def _chosen(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        variable = self._variable(yes.type)
        then, orelse = ((*self._needed(side), Assign(variable, side)) for side in (yes, no))
        choice = If(condition, then, orelse)
        return self._keep(Read(variable), (*self._needed(condition), choice), 1)

    def _variable(self, type: Type) -> Variable:
        count = len(self.variables) + 1
        while (name := f"chosen_{count}") in self._taken:
            count += 1
        self._taken.add(name)
        self.variables.append(Variable(name, type))
        return self.variables[-1]
