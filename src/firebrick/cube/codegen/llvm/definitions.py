"""Variables that are names for a number that never changes, such as `row = ABSOLUTE_POS_Y`.

Where such a value is needed after a barrier it is computed again rather than kept in memory: LLVM
has to see that the indices of neighboring units are neighbors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.flow import assigned, exposed
from firebrick.cube.ir.nodes import (
    Assign,
    Call,
    Load,
    Read,
    Variable,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import rewrite_expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.cube.ir.nodes import Expression, Function

_LARGEST = 24
"""Nodes of a value that is computed again."""


def find_definitions(function: Function) -> dict[Variable, Expression]:
    """What each such variable stands for, in terms of what a launch and a unit's place fix."""
    candidates: dict[Variable, Expression] = {}
    changing = set(exposed(function.body))
    for statement in walk(function.body):
        for variable in assigned(statement):
            if variable in candidates or not isinstance(statement, Assign):
                changing.add(variable)
            else:
                candidates[variable] = statement.value
    found: dict[Variable, Expression] = {}
    for variable, value in candidates.items():
        if variable not in changing and not variable.type.is_float:
            _define(variable, value, found)
    return found


def _define(variable: Variable, value: Expression, found: dict[Variable, Expression]) -> None:
    """Adds a definition if everything that it reads is defined already, which comes before it."""
    resolved = resolve(value, found)
    parts = list(walk_expressions(resolved))
    if len(parts) <= _LARGEST and not any(isinstance(p, Load | Call | Read) for p in parts):
        found[variable] = resolved


def resolve(expression: Expression, definitions: Mapping[Variable, Expression]) -> Expression:
    """The expression with definitions put in for the variables."""
    if not definitions:
        return expression

    def change(part: Expression) -> Expression:
        return definitions.get(part.variable, part) if isinstance(part, Read) else part

    return rewrite_expression(expression, change)
