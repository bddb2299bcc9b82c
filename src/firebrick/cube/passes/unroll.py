"""Short loops with known bounds become their trips, one after the other.

The rules, named where they apply:

    SHORT     at most `MAX_TRIPS` trips, which together have at most `MAX_NODES` nodes.
    ONE TRIP  a single trip is unrolled however large it is.
    JUMPS     a loop with its own `break` or `continue` stays; `return` and `leave` may be inside.
    LAST      each trip sets the variable, so that after the loop it holds what it held in the last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import Assign, Constant, For
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import body_count, own_jumps
from firebrick.cube.passes.names import Names

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Statement

MAX_TRIPS = 16
MAX_NODES = 512
"""Code that is longer costs more in compiling and in instruction caches than a loop does."""


def unroll(function: Function) -> Function:
    """The function without its short loops."""
    names = Names(function)

    def expand(statement: Statement) -> Body:
        trips = _trips(statement)
        if trips is None or not isinstance(statement, For):
            return (statement,)
        unrolled: list[Statement] = []
        for trip, number in enumerate(trips):
            value = Constant(statement.variable.type, number)
            unrolled.append(Assign(statement.variable, value, statement.location))  # LAST
            unrolled += statement.body if trip == 0 else names.relabeled(statement.body)
        return tuple(unrolled)

    return replace(function, body=rewrite_body(function.body, expand=expand))


def _trips(statement: Statement) -> range | None:
    """The trips of a loop that is to be unrolled."""
    match statement:
        case For(_, Constant(value=start), Constant(value=stop), Constant(value=step), body):
            trips = range(int(start), int(stop), int(step))
        case _:
            return None
    if next(own_jumps(body), None) is not None:  # JUMPS
        return None
    if len(trips) > 1 and (len(trips) > MAX_TRIPS or len(trips) * body_count(body) > MAX_NODES):
        return None  # SHORT, ONE TRIP
    return trips
