"""What holds at a place in a function: values and ranges of variables, and how integers compare.

    VALUE   `n = len(x)` makes `n` known as `len(x)` until one of its variables is set again.
    RANGE   `step = 32` makes `step` 32 to 32; a loop widens it to what all trips leave.
    FACT    inside `if i < n:` it is known that `i < n`, and behind `if i >= n: return` too.

Expressions that load memory or contain floats are not remembered: memory changes, and floats have
two zeros that compare equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Binary,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
    Extent,
    Function,
    Length,
    Logical,
    Read,
    Select,
    Topology,
    Unary,
    Variable,
)
from firebrick.cube.ir.rewrite import rewrite_expression
from firebrick.cube.ir.types import BOOL
from firebrick.cube.passes.effects import (
    has_float,
    has_load,
    is_identical,
    node_count,
    read_variables,
)
from firebrick.cube.passes.evaluate import zero
from firebrick.cube.passes.intervals import (
    Interval,
    binary_interval,
    cast_interval,
    full,
    point,
    unary_interval,
)
from firebrick.cube.passes.positions import position_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NODES = 24
"""The size of expressions that are remembered."""
DEPTH = 2
"""How often a range may be looked up through what it is compared with."""
NEGATED: dict[CompareOp, CompareOp] = {
    "eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt",
}  # fmt: skip
_BIT_COUNTS = frozenset({"count_ones", "leading_zeros", "trailing_zeros"})


@dataclass(slots=True)
class Knowledge:
    """What is known at one place; a pass changes its copy as it walks on."""

    function: Function
    values: dict[Variable, Expression] = field(default_factory=dict[Variable, Expression])
    ranges: dict[Variable, Interval] = field(default_factory=dict[Variable, Interval])
    facts: dict[tuple[Expression, Expression], bool] = field(
        default_factory=dict[tuple[Expression, Expression], bool]
    )
    """Pairs of which the first is at most the second; True where it is less."""

    @classmethod
    def at_start(cls, function: Function) -> Knowledge:
        """Every variable is zero."""
        known = cls(function)
        for variable in function.variables:
            known.assign(variable, zero(variable.type))
        return known

    def copy(self) -> Knowledge:
        """For another path."""
        return Knowledge(self.function, dict(self.values), dict(self.ranges), dict(self.facts))

    # ---- learning -----------------------------------------------------------------------------

    def assign(self, variable: Variable, value: Expression) -> None:
        """After `variable = value`."""
        full_value = self.canonical(value)
        interval = self.interval(full_value) if variable.type.is_integer else None
        self.forget((variable,))
        if interval is not None:
            self.ranges[variable] = interval
        is_constant = isinstance(full_value, Constant)
        if is_constant or (
            _is_memorable(full_value) and variable not in read_variables(full_value)
        ):
            self.values[variable] = full_value

    def forget(self, variables: Iterable[Variable]) -> None:
        """After the variables were set to something unknown."""
        gone = set(variables)
        for variable in gone:
            self.values.pop(variable, None)
            self.ranges.pop(variable, None)
        if not gone:
            return
        self.values = {
            known: value for known, value in self.values.items() if not gone & read_variables(value)
        }
        self.facts = {
            pair: strict
            for pair, strict in self.facts.items()
            if not gone & (read_variables(pair[0]) | read_variables(pair[1]))
        }

    def assume(self, condition: Expression, *, holds: bool = True) -> None:
        """Where a condition holds, or does not."""
        self._assume(self.canonical(condition), holds)

    def _assume(self, condition: Expression, holds: bool) -> None:
        match condition:
            case Unary("not", value):
                self._assume(value, not holds)
            case Logical(op, left, right) | Binary("and" | "or" as op, left, right):
                if condition.type == BOOL and (op == "and") is holds:
                    self._assume(left, holds)
                    self._assume(right, holds)
            case Compare(op, left, right) if left.type.is_integer:
                self._compare(op if holds else NEGATED[op], left, right)
            case _:
                pass

    def _compare(self, op: CompareOp, left: Expression, right: Expression) -> None:
        match op:
            case "lt" | "le":
                self.note(left, right, strict=op == "lt")
            case "gt" | "ge":
                self.note(right, left, strict=op == "gt")
            case "eq":
                self.note(left, right, strict=False)
                self.note(right, left, strict=False)
            case "ne":
                pass

    def note(self, left: Expression, right: Expression, *, strict: bool) -> None:
        """`left < right` or `left <= right`, of canonical expressions, and what follows."""
        if not (_is_memorable(left) and _is_memorable(right)):
            return
        self.facts[left, right] = strict or self.facts.get((left, right), False)
        for side in (left, right):
            if isinstance(side, Read):
                self.ranges[side.variable] = self.interval(side)
        self._note_parts(left, right, strict)

    def _note_parts(self, left: Expression, right: Expression, strict: bool) -> None:
        type = left.type
        low, high = integer_range(type)
        match right:
            case Binary("min", first, second):
                self.note(left, first, strict=strict)
                self.note(left, second, strict=strict)
            case Binary("sub", whole, Constant(value=part)):
                # `left <= whole - 1` is `left < whole`, unless the difference wraps.
                if part > 0 and self.interval(whole).low - part >= low:
                    self.note(left, whole, strict=True)
            case Cast(_, number) if type.kind == "uint" and isinstance(left, Cast):
                self._note_unsigned(left.value, number, strict)
            case _:
                pass
        match left:
            case Binary("max", first, second):
                self.note(first, right, strict=strict)
                self.note(second, right, strict=strict)
            case Binary("add", whole, Constant(value=part)):
                if part > 0 and self.interval(whole).high + part <= high:
                    self.note(whole, right, strict=True)
            case _:
                pass

    def _note_unsigned(self, left: Expression, right: Expression, strict: bool) -> None:
        """Below a number that is not negative as an unsigned one: both bounds at once."""
        if left.type == right.type and left.type.kind == "int" and self.interval(right).low >= 0:
            self.note(left, right, strict=strict)
            self.note(Constant(left.type, 0), left, strict=False)

    # ---- asking -------------------------------------------------------------------------------

    def canonical(self, expression: Expression) -> Expression:
        """An expression with known variables replaced by their values."""
        return rewrite_expression(expression, self._value)

    def _value(self, expression: Expression) -> Expression:
        if isinstance(expression, Read):
            return self.values.get(expression.variable, expression)
        return expression

    def interval(self, expression: Expression) -> Interval:
        """The range of an integer."""
        return self._interval(self.canonical(expression), DEPTH)

    def _interval(self, expression: Expression, depth: int) -> Interval:
        found = self._structural(expression, depth)
        if depth == 0:
            return found
        low, high = found.low, found.high
        for (left, right), strict in self.facts.items():
            if left == expression:
                high = min(high, self._structural(right, depth - 1).high - strict)
            if right == expression:
                low = max(low, self._structural(left, depth - 1).low + strict)
        return Interval(low, high) if low <= high else found  # no unit comes here

    def _structural(self, expression: Expression, depth: int) -> Interval:
        """The range by the form of an expression."""
        type = expression.type
        match expression:
            case Constant(value=value):
                return point(int(value))
            case Read(variable):
                return self.ranges.get(variable, full(type))
            case Topology(name=name):
                return position_interval(name, self.function, type)
            case Length() | Extent(what="shape"):
                return Interval(0, full(type).high)
            case Unary(op, value):
                return unary_interval(op, type, self._interval(value, depth))
            case Binary(op, left, right):
                sides = self._interval(left, depth), self._interval(right, depth)
                return binary_interval(op, type, *sides)
            case Select(_, if_true, if_false):
                return self._interval(if_true, depth).hull(self._interval(if_false, depth))
            case Cast(_, value):
                inner = self._interval(value, depth) if value.type.is_integer else None
                return cast_interval(value.type, type, inner)
            case Call(name=name) if name in _BIT_COUNTS:
                return Interval(0, type.bits)
            case _:
                return full(type)

    def is_nonnegative(self, expression: Expression) -> bool:
        """Whether an integer is surely 0 or more."""
        return self.interval(expression).low >= 0

    def is_less(self, left: Expression, right: Expression) -> bool:
        """Whether `left < right` surely holds."""
        return self._is_less(self.canonical(left), self.canonical(right))

    def _is_less(self, left: Expression, right: Expression) -> bool:
        if self._interval(left, DEPTH).high < self._interval(right, DEPTH).low:
            return True
        if self.facts.get((left, right), False) or self._is_between(left, right):
            return True
        match left:
            case Binary("min", first, second):
                return self._is_less(first, right) or self._is_less(second, right)
            case Binary("floordiv" | "shr" | "mod" | "and", whole, part):
                # Not more than `whole`, if that is not negative and the divisor is none below 0.
                signs = self._interval(whole, DEPTH).low, self._interval(part, DEPTH).low
                return min(signs) >= 0 and self._is_less(whole, right)
            case Binary("sub", whole, Constant(value=part)):
                stays = self._interval(whole, DEPTH).low - part >= integer_range(left.type)[0]
                return part >= 0 and stays and self._is_less(whole, right)
            case Binary("add", whole, Constant(value=part)):
                return part > 0 and self._is_ahead(whole, int(part), right)
            case _:
                return False

    def _is_between(self, left: Expression, right: Expression) -> bool:
        """Whether there is something that `left` is below and `right` above, one strictly."""
        return any(
            small == left and (strict or self.facts.get((middle, right), False))
            for (small, middle), strict in self.facts.items()
            if (middle, right) in self.facts
        )

    def _is_ahead(self, whole: Expression, part: int, right: Expression) -> bool:
        """Whether `whole + part < right`, from `whole < right - at_least_part`."""
        if self._interval(right, DEPTH).low < 0:
            return False
        return any(
            strict
            and small == whole
            and isinstance(large, Binary)
            and (large.op, large.left) == ("sub", right)
            and isinstance(large.right, Constant)
            and large.right.value >= part
            for (small, large), strict in self.facts.items()
        )

    def decide(self, compare: Compare) -> bool | None:
        """Whether a comparison of integers surely holds, or surely does not; else None."""
        left, right = self.canonical(compare.left), self.canonical(compare.right)
        if compare.op in ("eq", "ne"):
            apart = self._is_less(left, right) or self._is_less(right, left)
            return (compare.op == "ne") if apart else self._decide_equal(compare.op, left, right)
        if compare.op in ("gt", "ge"):
            left, right = right, left
        first, second = (left, right) if compare.op in ("lt", "gt") else (right, left)
        is_strict = compare.op in ("lt", "gt")
        if self._is_less(first, second):
            return is_strict
        return (not is_strict) if self._is_at_most(second, first) else None

    def _decide_equal(self, op: CompareOp, left: Expression, right: Expression) -> bool | None:
        first, second = self._interval(left, DEPTH), self._interval(right, DEPTH)
        same = first == second and first.low == first.high
        return (op == "eq") if same else None

    def _is_at_most(self, left: Expression, right: Expression) -> bool:
        if (left, right) in self.facts or self._is_less(left, right):
            return True
        return self._interval(left, DEPTH).high <= self._interval(right, DEPTH).low

    # ---- paths --------------------------------------------------------------------------------

    def widened(self, wider: Knowledge, marks: Iterable[int]) -> Knowledge:
        """`wider`, with ranges that grew since going on to the next of some marks."""
        ranges = dict(wider.ranges)
        for variable, interval in wider.ranges.items():
            before, limits = self.ranges[variable], full(variable.type)
            known = [mark for mark in marks if limits.low <= mark <= limits.high]
            low, high = interval.low, interval.high
            if low < before.low:
                low = max((mark for mark in known if mark <= low), default=limits.low)
            if high > before.high:
                high = min((mark for mark in known if mark >= high), default=limits.high)
            ranges[variable] = Interval(low, high)
        return Knowledge(self.function, wider.values, ranges, wider.facts)


def join(paths: Iterable[Knowledge | None]) -> Knowledge | None:
    """What holds where several paths meet; None are paths that do not get there."""
    joined: Knowledge | None = None
    for path in paths:
        if path is not None:
            joined = path if joined is None else _join(joined, path)
    return joined


def _join(left: Knowledge, right: Knowledge) -> Knowledge:
    values = {
        variable: value
        for variable, value in left.values.items()
        if variable in right.values and is_identical(value, right.values[variable])
    }
    ranges = {
        variable: interval.hull(right.ranges[variable])
        for variable, interval in left.ranges.items()
        if variable in right.ranges
    }
    facts = {
        pair: strict and right.facts[pair]
        for pair, strict in left.facts.items()
        if pair in right.facts
    }
    return Knowledge(left.function, values, ranges, facts)


def _is_memorable(expression: Expression) -> bool:
    is_small = node_count(expression) <= MAX_NODES
    return is_small and not has_load(expression) and not has_float(expression)
