"""How long a launch takes, roughly: enough to tell those that are worth threads."""

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
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function, Statement

_STATEMENT_NS = 0.1
_OPERATION_NS = 0.02
_FUNCTION_NS = 0.3
_ELEMENT_NS = 0.3
_UNKNOWN_TRIPS = 16
"""Taken for a loop whose bounds only the launch knows."""


def launch_ns(function: Function, units: int, elements: int) -> float:
    """The time of a launch, in nanoseconds.

    Args:
        function: The kernel.
        units: Of the launch.
        elements: Of all its tensors; loops whose length is not known are taken to go over them.
    """
    total = units * _body_ns(function.body)
    if any(_is_open(statement) for statement in walk(function.body)):
        total += elements * _ELEMENT_NS
    return total


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
        case _:
            return _UNKNOWN_TRIPS if _is_open(statement) else 1


def _is_open(statement: Statement) -> bool:
    """Whether it is a loop whose length only the launch knows."""
    match statement:
        case For(start=Constant(), stop=Constant()):
            return False
        case _:
            return isinstance(statement, For | While)
