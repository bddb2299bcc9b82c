"""How long a unit of a kernel takes, roughly: enough to tell launches that are worth threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Body,
    Call,
    Constant,
    For,
    While,
    bodies,
    expressions,
    walk_expressions,
)

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function, Statement

_STATEMENT_NS = 0.1
_OPERATION_NS = 0.02
_FUNCTION_NS = 0.3
_UNKNOWN_TRIPS = 16
"""Taken for a loop whose bounds only the launch knows."""


def unit_ns(function: Function) -> float:
    """The time of one unit, in nanoseconds."""
    return _body_ns(function.body)


def _body_ns(body: Body) -> float:
    return sum(map(_statement_ns, body))


def _statement_ns(statement: Statement) -> float:
    parts = [part for value in expressions(statement) for part in walk_expressions(value)]
    calls = sum(isinstance(part, Call) for part in parts)
    own = _STATEMENT_NS + _OPERATION_NS * len(parts) + _FUNCTION_NS * calls
    inside = sum(map(_body_ns, bodies(statement)))
    return own + _trips(statement) * inside


def _trips(statement: Statement) -> int:
    match statement:
        case For(start=Constant(value=start), stop=Constant(value=stop), step=Constant(value=step)):
            return len(range(int(start), int(stop), int(step)))
        case For() | While():
            return _UNKNOWN_TRIPS
        case _:
            return 1
