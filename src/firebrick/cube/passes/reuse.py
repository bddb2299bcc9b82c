"""What several statements of a body compute alike is computed once, before the first of them.

The rules, named where they apply:

    ALIKE      integers and bools without loads; between two uses no variable in them is set. Memory
               changes, and floats have two zeros that compare equal.
    WORTH IT   more than one cheap operation: targets know their way with the rest.
    INSIDE     what a statement has in its bodies is looked at among the statements there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Expression,
    For,
    If,
    Read,
    Region,
    Statement,
    While,
    bodies,
    expressions,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import (
    all_expressions,
    assigned,
    has_float,
    has_load,
    node_count,
    read_variables,
)
from firebrick.cube.passes.hoist import CHEAP_OPERATIONS, operation_count
from firebrick.cube.passes.names import Names

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Variable


def reuse(function: Function) -> Function:
    """The function with common subexpressions in variables."""
    names = Names(function)
    return names.declare(function, _body(function.body, names))


def _body(body: Body, names: Names) -> Body:
    statements = list(body)
    counts = Counter(filter(_is_candidate, all_expressions(body)))
    repeated = {part for part, count in counts.items() if count > 1}
    position = 0
    while position < len(statements):
        common = _largest_common(statements[position:], repeated)
        if common is None:
            statements[position] = _inside(statements[position], names)
            position += 1
            continue
        expression, count = common
        variable = names.variable("common", expression.type)
        users = statements[position : position + count]
        statements[position : position + count] = [
            Assign(variable, expression, users[0].location),
            *_using(tuple(users), expression, variable),
        ]
    return tuple(statements)


def _inside(statement: Statement, names: Names) -> Statement:
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=_body(then, names), orelse=_body(orelse, names))
        case For(body=body) | While(body=body) | Region(body=body):
            return replace(statement, body=_body(body, names))
        case _:
            return statement


def _is_candidate(part: Expression) -> bool:
    is_worth_it = operation_count(part) > CHEAP_OPERATIONS  # WORTH IT
    return is_worth_it and not has_load(part) and not has_float(part)  # ALIKE


def _largest_common(
    statements: list[Statement], repeated: set[Expression]
) -> tuple[Expression, int] | None:
    """What the first statement computes and is computed again, and in how many it stays alike."""
    parts = [part for whole in expressions(statements[0]) for part in walk_expressions(whole)]
    candidates = dict.fromkeys(part for part in parts if part in repeated)
    for candidate in sorted(candidates, key=node_count, reverse=True):
        users = _alike(statements, candidate)
        if sum(part == candidate for part in all_expressions(tuple(users))) > 1:
            return candidate, len(users)
    return None


def _alike(statements: list[Statement], expression: Expression) -> list[Statement]:
    """The statements that find the variables of an expression as the first one does."""
    read = read_variables(expression)
    users: list[Statement] = []
    for statement in statements:
        if not read & assigned((statement,)).keys():
            users.append(statement)
        else:
            # A statement without bodies evaluates before it sets.
            return users if bodies(statement) else [*users, statement]
    return users


def _using(body: Body, expression: Expression, variable: Variable) -> Body:
    read = Read(variable)
    return rewrite_body(body, lambda part: read if part == expression else part)
