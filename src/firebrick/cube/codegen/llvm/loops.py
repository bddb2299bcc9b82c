"""Loops without a barrier that the cube runs as a whole, so that its units are a vector inside.

LLVM makes vectors of innermost loops only. In `for k: total += a[row, k] * b[k, col]` that is the
loop over `k`, whose sum must not be reordered; the units, which are independent, are outside. Run
by the cube, the loop over `k` is outside and the units are inside. It pays where the units along x
touch neighboring elements, or all the same one; values that live through the loop then live in
memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.affine import Growths
from firebrick.cube.codegen.llvm.definitions import resolve
from firebrick.cube.codegen.llvm.flow import assigned_in, escapes
from firebrick.cube.codegen.llvm.hazards import loads_of, step_of, stores_of
from firebrick.cube.codegen.llvm.sharing import is_common
from firebrick.cube.ir.nodes import (
    Atomic,
    Body,
    Constant,
    Expression,
    For,
    Function,
    If,
    Region,
    Statement,
    Variable,
    While,
    expressions,
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_NARROWEST = 8
"""Units along x that are worth a vector."""
_UNROLLED_NODES = 256
"""LLVM unrolls a loop of known trips if all of them together have about so many expressions."""


def loops_of_cube(
    function: Function, definitions: Mapping[Variable, Expression], growths: Growths
) -> set[int]:
    """Identities of the loops that the cube should run, and of what is around them."""
    if function.cube_dim[0] < _NARROWEST:
        return set()
    return _Chooser(function, definitions, growths).choose()


class _Chooser:
    def __init__(
        self, function: Function, definitions: Mapping[Variable, Expression], growths: Growths
    ) -> None:
        self._function = function
        self._definitions = definitions
        self._growths = growths
        self._chosen: set[int] = set()

    def choose(self) -> set[int]:
        self._visit(self._function.body, frozenset())
        return self._chosen

    def _visit(self, body: Body, counters: frozenset[Variable]) -> bool:
        """Whether something in the body is chosen."""
        chosen = [self._is_chosen(statement, counters) for statement in body]
        return any(chosen)

    def _is_chosen(self, statement: Statement, counters: frozenset[Variable]) -> bool:
        match statement:
            case For(start=start, stop=stop) if self._agree((start, stop), counters):
                chosen = self._is_chosen_loop(statement, counters)
            case If(condition, then, orelse) if self._agree((condition,), counters):
                chosen_in = self._visit(then, counters), self._visit(orelse, counters)
                chosen = any(chosen_in)
            case Region(body=body):
                chosen = self._visit(body, counters)
            case _:
                return False
        if chosen:
            self._chosen.add(id(statement))
        return chosen

    def _is_chosen_loop(self, loop: For, counters: frozenset[Variable]) -> bool:
        if escapes(loop.body):  # some units might leave it earlier than others
            return False
        if loop.variable not in assigned_in(loop.body):
            counters |= {loop.variable}
        return self._visit(loop.body, counters) or self._is_worth_it(loop)

    def _agree(self, values: tuple[Expression, ...], counters: frozenset[Variable]) -> bool:
        """Whether all units of a cube find the same values."""
        return all(is_common(resolve(value, self._definitions), counters) for value in values)

    def _is_worth_it(self, loop: For) -> bool:
        if _is_unrolled(loop):
            return False
        inner = [s for s in walk(loop.body) if isinstance(s, For | While | Atomic)]
        if not all(isinstance(s, For) and _is_unrolled(s) for s in inner):
            return False
        steps = [
            step_of(memory, index, self._growths)
            for statement in walk(loop.body)
            for memory, index in (*loads_of(statement), *stores_of(statement))
        ]
        return set(steps) <= {0, 1} and 1 in steps


def _is_unrolled(loop: For) -> bool:
    match loop:
        case For(start=Constant(value=start), stop=Constant(value=stop), step=Constant(value=step)):
            trips = len(range(int(start), int(stop), int(step)))
            nodes = sum(
                len(list(walk_expressions(value)))
                for statement in walk(loop.body)
                for value in expressions(statement)
            )
            return trips * nodes <= _UNROLLED_NODES
        case _:
            return False
