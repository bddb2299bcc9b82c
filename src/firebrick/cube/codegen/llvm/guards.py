"""Comparisons of positions that hold for almost all units, such as `ABSOLUTE_POS < len(out)`.

Where all positions are known to stay below all bounds, the code is written with the outcomes put
in. What remains has no branches and becomes vectors without masks; the last units, for which
nothing is known, run the code as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.flow import assigned
from firebrick.cube.ir.nodes import (
    Argument,
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Constant,
    Expression,
    Extent,
    Length,
    Read,
    Statement,
    Topology,
    TopologyName,
    Variable,
    bodies,
    expressions,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import map_expressions, map_parts, rewrite_body
from firebrick.cube.ir.types import BOOL
from firebrick.cube.passes.fold import fold

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import CompareOp, Function

POSITIONS: frozenset[TopologyName] = frozenset(
    {"ABSOLUTE_POS", "ABSOLUTE_POS_X", "ABSOLUTE_POS_Y", "ABSOLUTE_POS_Z"}
)
_TURNED: dict[CompareOp, CompareOp] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""The comparison with its sides exchanged."""
_BELOW: dict[CompareOp, bool] = {"lt": True, "le": True, "gt": False, "ge": False}
"""The outcomes for a position below the bound."""
_AT_LEAST_ZERO: dict[CompareOp, bool] = {"ge": True, "lt": False}
"""What a position, which is never negative, is in comparison with 0 or less."""
_DEEPEST = 8
"""Variables of variables that are looked through."""


@dataclass
class Guards:
    """Bounds of positions, and the outcomes of comparisons if all positions are below theirs."""

    bounds: dict[TopologyName, dict[Expression, None]] = field(
        default_factory=dict[TopologyName, "dict[Expression, None]"]
    )
    outcomes: dict[int, bool] = field(default_factory=dict[int, bool])
    """By identity of the comparison."""

    def applied(self, function: Function) -> Function:
        """The function where all positions are below their bounds."""

        def decide(expression: Expression) -> Expression:
            outcome = self.outcomes.get(id(expression))
            return map_parts(expression, decide) if outcome is None else Constant(BOOL, outcome)

        def rewrite(statement: Statement) -> Body:
            return (map_expressions(statement, decide),)

        return fold(replace(function, body=rewrite_body(function.body, expand=rewrite)))


def find_guards(function: Function) -> Guards:
    """The comparisons of a function that speak of positions and of what a launch fixes."""
    return _Finder(function).find()


class _Finder:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._guards = Guards()
        self._definitions: dict[Variable, Expression] = {}
        self._uncertain: set[int] = set()

    def find(self) -> Guards:
        body = self._function.body
        set_once = _set_once(body)
        for statement in body:
            self._look_into(statement)
            # Statements of the outermost body come before all that follow.
            if isinstance(statement, Assign) and statement.variable in set_once:
                self._definitions[statement.variable] = statement.value
        return self._guards

    def _look_into(self, statement: Statement) -> None:
        for value in expressions(statement):
            for part in walk_expressions(value):
                if isinstance(part, Compare):
                    self._consider(part)
        for body in bodies(statement):
            for inner in body:
                self._look_into(inner)

    def _consider(self, compare: Compare) -> None:
        turned = _TURNED.get(compare.op, compare.op)
        sides: list[tuple[Expression, Expression, CompareOp]] = [
            (compare.left, compare.right, compare.op),
            (compare.right, compare.left, turned),
        ]
        for side, other, op in sides:
            outcome = self._outcome(side, other, op)
            if outcome is not None and id(compare) not in self._uncertain:
                self._guards.outcomes[id(compare)] = outcome
                return
        self._uncertain.add(id(compare))

    def _outcome(self, side: Expression, other: Expression, op: CompareOp) -> bool | None:
        position, bound = self._position(side), self._bound(other)
        if position is None or bound is None:
            return None
        if isinstance(bound, Constant) and bound.value <= 0:
            return _AT_LEAST_ZERO.get(op)
        if op in _BELOW:
            self._guards.bounds.setdefault(position, {})[bound] = None
        return _BELOW.get(op)

    def _position(self, expression: Expression) -> TopologyName | None:
        match self._resolved(expression):
            case Topology(name=name) if name in POSITIONS:
                return name
            case Cast(type, value) if type.is_integer and type.bits >= value.type.bits:
                return self._position(value)  # no position is negative, so nothing changes
            case _:
                return None

    def _resolved(self, expression: Expression) -> Expression:
        for _ in range(_DEEPEST):
            if not isinstance(expression, Read) or expression.variable not in self._definitions:
                break
            expression = self._definitions[expression.variable]
        return expression

    def _bound(self, expression: Expression) -> Expression | None:
        """An expression that can be computed before the first unit runs; None if it cannot."""
        match self._resolved(expression):
            case Constant() | Argument() | Length() | Extent(dim=Constant()) as plain:
                return plain
            case Binary(op, left, right):
                low, high = self._bound(left), self._bound(right)
                return None if low is None or high is None else Binary(op, low, high)
            case Cast(type, value) if value.type.is_integer:
                inner = self._bound(value)
                return None if inner is None else Cast(type, inner)
            case _:
                return None


def _set_once(body: Body) -> set[Variable]:
    counts: dict[Variable, int] = {}
    for statement in walk(body):
        for variable in assigned(statement):
            counts[variable] = counts.get(variable, 0) + 1
    return {variable for variable, count in counts.items() if count == 1}
