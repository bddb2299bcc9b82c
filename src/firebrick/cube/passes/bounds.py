"""Guards for the mode "checked": a load out of range gives 0, stores and atomics are dropped.

The rules, named where they apply:

    LOAD       becomes `load if 0 <= index < length else 0`, lazily.
    STORE      stands in an `if`; so does an atomic, whose result is 0 otherwise.
    UNSIGNED   where neither bound is known, one comparison as unsigned numbers checks both.
    PROVEN     a bound that what is known implies is not checked: inside `if i < len(x)`, in
               `for i in range(len(x))`, behind `if i >= len(x): return`, for constants and
               positions in shared memory. `knowledge.py` says what is known.
    ONCE       an index that reads memory or is large is put into a variable first.
    SURELY     such a variable is set where the statement is surely reached, even if the load is
               not; what its own value loads is therefore guarded by what holds there.
    DIMENSION  a dimension that only a run knows is checked too; a size that does not exist is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Buffer,
    Cast,
    Compare,
    Constant,
    Expression,
    Extent,
    If,
    Length,
    Load,
    Logical,
    Read,
    Select,
    Statement,
    Store,
)
from firebrick.cube.ir.rewrite import map_expressions, map_parts
from firebrick.cube.ir.types import I32, U32, U64
from firebrick.cube.passes.effects import has_load, is_open_extent, node_count
from firebrick.cube.passes.evaluate import zero
from firebrick.cube.passes.names import Names
from firebrick.cube.passes.walker import Walker

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Memory
    from firebrick.cube.ir.types import Type
    from firebrick.cube.passes.knowledge import Knowledge

LARGEST_INDEX = 9
"""Nodes of an index that is written twice, in the guard and in the access."""


def insert_guards(function: Function) -> Function:
    """The function with a guard at each access that may be out of range."""
    work = _Guards(function)
    return work.names.declare(function, work.run())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands."""

    here: Knowledge
    """What holds where it is evaluated."""
    before: list[Statement]
    """The statements before its own."""
    surely: Knowledge
    """What holds there."""


class _Guards(Walker):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.names = Names(function)

    def expression(
        self, expression: Expression, known: Knowledge, before: list[Statement]
    ) -> Expression:
        return self._guarded(expression, _Place(known, before, known))

    def simple(self, statement: Statement, known: Knowledge) -> Body:
        before: list[Statement] = []
        place = _Place(known, before, known)
        match statement:
            case Store():
                last = self._store(statement, place)
            case Atomic():
                last = self._atomic(statement, place)
            case _:
                last = map_expressions(statement, lambda one: self._guarded(one, place))
        return *before, last

    # ---- statements ---------------------------------------------------------------------------

    def _store(self, store: Store, place: _Place) -> Statement:
        index, guard = self._index(store.memory, store.index, place)
        if guard is None:
            return replace(store, index=index, value=self._guarded(store.value, place))
        inside = self._inside(store.memory, index, place)
        value = self._guarded(store.value, inside)
        then = (*inside.before, replace(store, index=index, value=value))
        return If(guard, then, (), store.location)  # STORE

    def _atomic(self, atomic: Atomic, place: _Place) -> Statement:
        index, guard = self._index(atomic.memory, atomic.index, place)
        inside = place if guard is None else self._inside(atomic.memory, index, place)
        operands = tuple(self._guarded(operand, inside) for operand in atomic.operands)
        done = replace(atomic, index=index, operands=operands)
        if guard is None:
            return done
        result, location = atomic.result, atomic.location
        dropped = () if result is None else (Assign(result, zero(result.type), location),)
        return If(guard, (*inside.before, done), dropped, location)  # STORE

    def _inside(self, memory: Memory, index: Expression, place: _Place) -> _Place:
        """Where an index is known to be in range."""
        known = place.surely.copy()
        known.assume(Compare("ge", index, zero(index.type)))
        known.assume(Compare("lt", index, _length(memory, index.type)))
        return _Place(known, [], known)

    # ---- expressions --------------------------------------------------------------------------

    def _guarded(self, expression: Expression, place: _Place) -> Expression:
        match expression:
            case Load(memory, index):
                position, guard = self._index(memory, index, place)
                load = Load(memory, position)
                return load if guard is None else _chosen(guard, load)  # LOAD
            case Extent(dim=dim) if is_open_extent(expression):
                return self._extent(replace(expression, dim=self._guarded(dim, place)), place)
            case Select(condition, if_true, if_false, lazy=True):
                return Select(
                    self._guarded(condition, place),
                    self._guarded(if_true, _where(condition, place, holds=True)),
                    self._guarded(if_false, _where(condition, place, holds=False)),
                    lazy=True,
                )
            case Logical(op, left, right):
                there = _where(left, place, holds=op == "and")
                return Logical(op, self._guarded(left, place), self._guarded(right, there))
            case _:
                return map_parts(expression, lambda part: self._guarded(part, place))

    def _extent(self, extent: Extent, place: _Place) -> Expression:
        rank = Constant(extent.type, extent.buffer.rank)
        guard = _guard(extent.dim, rank, place.here)
        return extent if guard is None else _chosen(guard, extent)  # DIMENSION

    def _index(
        self, memory: Memory, index: Expression, place: _Place
    ) -> tuple[Expression, Expression | None]:
        """An index as it is to be written, and the guard that its access needs."""
        length = _length(memory, index.type)
        guard = _guard(index, length, place.here)
        if guard is None or not (has_load(index) or node_count(index) > LARGEST_INDEX):
            return self._guarded(index, place), guard
        surely = _Place(place.surely, place.before, place.surely)  # SURELY
        once = self.names.variable("index", index.type)  # ONCE
        place.before.append(Assign(once, self._guarded(index, surely)))
        for known in (place.surely, place.here):
            known.assign(once, index)
        return Read(once), _guard(Read(once), length, place.here)


def _where(condition: Expression, place: _Place, *, holds: bool) -> _Place:
    known = place.here.copy()
    known.assume(condition, holds=holds)
    return replace(place, here=known)


def _guard(index: Expression, length: Expression, known: Knowledge) -> Expression | None:
    """What makes sure that an index is in range; None where that is known."""
    is_nonnegative, is_less = known.is_nonnegative(index), known.is_less(index, length)
    if is_nonnegative and is_less:
        return None  # PROVEN
    if is_less:
        return Compare("ge", index, zero(index.type))
    if is_nonnegative:
        return Compare("lt", index, length)
    unsigned = U32 if index.type == I32 else U64
    return Compare("lt", Cast(unsigned, index), Cast(unsigned, length))  # UNSIGNED


def _chosen(guard: Expression, value: Expression) -> Expression:
    return Select(guard, value, zero(value.type), lazy=True)


def _length(memory: Memory, type: Type) -> Expression:
    if isinstance(memory, Buffer):
        return Length(type, memory)
    return Constant(type, memory.size)
