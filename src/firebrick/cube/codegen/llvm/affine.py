"""How integers grow from one unit to the next along x: by a known number, or in some other way.

Neighbors that access neighboring elements become one access of a vector. LLVM sees that only if the
address is a sum in 64 bits of something fixed and the unit's number. In the 32 bits of the language
the sum might wrap around in between, so the address is written as `fixed + factor * unit` with the
fixed part alone in 32 bits. For an index that is in range, and no other is ever accessed, that is
the same: where the sum of 32 bits wraps, the index is negative, since `factor * unit` is not
negative and small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.codegen.llvm.flow import assigned
from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Body,
    Buffer,
    Cast,
    Constant,
    Expression,
    For,
    Load,
    Read,
    Statement,
    Topology,
    TopologyName,
    Variable,
    bodies,
    expressions,
    operands,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Growth: TypeAlias = int | None
"""The difference between neighbors along x; None if they differ in no known way."""
Growths: TypeAlias = dict[Variable, Growth]

ADDRESS_BITS = 64
LARGEST_INDEX = (1 << 31) - 1
"""Of 32 bits."""

ALONG_X: frozenset[TopologyName] = frozenset(
    {"UNIT_POS", "UNIT_POS_X", "ABSOLUTE_POS", "ABSOLUTE_POS_X", "PLANE_POS"}
)
"""Positions that grow by one."""


def growth(expression: Expression, variables: Mapping[Variable, Growth]) -> Growth:
    """The growth of a value, given that of the variables."""
    match expression:
        case Topology(name=name):
            return int(name in ALONG_X)
        case Read(variable):
            return variables.get(variable, 0)
        case Load(memory, index):
            is_same = growth(index, variables) == 0 and isinstance(memory, Buffer)
            return 0 if is_same else None
        case Cast(type, value) if type.is_integer and type.bits == value.type.bits:
            return growth(value, variables)
        case Binary("add" | "sub" | "mul" as op, left, right) if expression.type.is_integer:
            return _combined(op, left, right, variables)
        case _:
            parts = [growth(part, variables) for part in operands(expression)]
            return 0 if all(part == 0 for part in parts) else None


def _combined(
    op: str, left: Expression, right: Expression, variables: Mapping[Variable, Growth]
) -> Growth:
    first, second = growth(left, variables), growth(right, variables)
    if first is None or second is None:
        return None
    if op == "add":
        return first + second
    if op == "sub":
        return first - second
    if first == second == 0:
        return 0
    for factor, other in ((left, second), (right, first)):
        if isinstance(factor, Constant):
            return int(factor.value) * other
    return None


def find_growths(body: Body) -> Growths:
    """The growth of every variable, as far as all its assignments agree."""
    found: Growths = {}
    while True:
        before = dict(found)
        _update(body, found, apart=False)
        if found == before:
            return found


def _update(body: Body, found: Growths, *, apart: bool) -> None:
    """One pass; `apart` where only some of the neighbors may come."""
    for statement in body:
        for variable in assigned(statement):
            grows = _assigned_growth(statement, found)
            if apart or found.get(variable, grows) != grows:
                grows = None
            found[variable] = grows
        differs = any(growth(value, found) != 0 for value in expressions(statement))
        for inner in bodies(statement):
            _update(inner, found, apart=apart or differs)


def _assigned_growth(statement: Statement, found: Mapping[Variable, Growth]) -> Growth:
    match statement:
        case Assign(value=value):
            return growth(value, found)
        case For(start=start, stop=stop):
            return 0 if growth(start, found) == growth(stop, found) == 0 else None
        case _:
            return None
