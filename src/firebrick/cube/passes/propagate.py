"""Variables that hold a constant are replaced by it, and comparisons that are decided too.

The rules, named where they apply:

    CONSTANT   after `n = 4`, `n` is 4 until it is set again; a variable never set is 0.
    ONE VALUE  a range of a single value is that value.
    DECIDED    `cube.UNIT_POS < 64` in a cube of 64 units is true.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import Compare, Constant, Expression, Read
from firebrick.cube.ir.rewrite import rewrite_expression, rewrite_statement
from firebrick.cube.ir.types import BOOL
from firebrick.cube.passes.walker import Walker

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Statement
    from firebrick.cube.ir.rewrite import Change
    from firebrick.cube.passes.knowledge import Knowledge


def propagate(function: Function, known: Knowledge | None = None) -> Function:
    """The function with what is known put in place; `known` says what holds at its start."""
    return replace(function, body=_Propagator(function).run(known))


class _Propagator(Walker):
    def expression(
        self, expression: Expression, known: Knowledge, before: list[Statement]
    ) -> Expression:
        return rewrite_expression(expression, _by(known))

    def simple(self, statement: Statement, known: Knowledge) -> Body:
        return (rewrite_statement(statement, _by(known)),)


def _by(known: Knowledge) -> Change:
    def change(expression: Expression) -> Expression:
        match expression:
            case Read():
                return _read(expression, known)
            case Compare(left=left) if left.type.is_integer:
                holds = known.decide(expression)
                return expression if holds is None else Constant(BOOL, holds)  # DECIDED
            case _:
                return expression

    return change


def _read(read: Read, known: Knowledge) -> Expression:
    value = known.values.get(read.variable)
    if isinstance(value, Constant):  # CONSTANT
        return value
    interval = known.ranges.get(read.variable)
    if interval is not None and interval.low == interval.high:  # ONE VALUE
        return Constant(read.type, interval.low)
    return read
