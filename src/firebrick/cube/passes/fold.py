"""Folding: constants are computed, known conditions decided, expressions put simply.

    TAKEN      an `if` whose condition is known is one of its bodies.
    EMPTY      an `if` without statements is nothing; one with an `else` only is turned around.
    NO TRIPS   a loop that surely makes no trip is nothing: its variable keeps what it held.
    ONE TRIP   `while c: ...; break` is `if c: ...`, where no other jump belongs to the loop.
    ITSELF     `x = x` is nothing.

`simplify.py` holds the rules for expressions, `propagate.py` those for variables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import Assign, Break, Constant, For, If, Read, Region, Unary, While
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import own_jumps
from firebrick.cube.passes.propagate import propagate
from firebrick.cube.passes.simplify import simplifier

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Statement

MAX_ROUNDS = 4
"""What one round decides may decide more in the next; what then is left is left."""


def fold(function: Function) -> Function:
    """The function, simpler and with the same effects."""
    function = _simplified(function)
    for _ in range(MAX_ROUNDS):
        folded = _simplified(propagate(function))
        if folded == function:
            break
        function = folded
    return function


def _simplified(function: Function) -> Function:
    body = rewrite_body(function.body, simplifier(function), _statement)
    return replace(function, body=body)


def _statement(statement: Statement) -> Body:
    match statement:
        case If(Constant(value=value), then, orelse):
            return then if value else orelse  # TAKEN
        case If(then=(), orelse=()) | While(Constant(value=False)) | Region(body=()):
            return ()  # EMPTY, NO TRIPS
        case If(condition, (), orelse):
            return (replace(statement, condition=Unary("not", condition), then=orelse, orelse=()),)
        case For(_, Constant(value=start), Constant(value=stop), Constant(value=step)):
            trips = range(int(start), int(stop), int(step))
            return (statement,) if trips else ()
        case While(condition, (*trip, Break())) if not any(own_jumps(tuple(trip))):
            return (If(condition, tuple(trip), (), statement.location),)  # ONE TRIP
        case Assign(variable, Read(source)) if source == variable:
            return ()  # ITSELF
        case _:
            return (statement,)
