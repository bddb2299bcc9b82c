"""Loops whose trips do what several trips did, for devices that count trips.

The rules, named where they apply:

    COUNTED    `for i in range(start, stop, step)` becomes a loop over chunks of trips, numbered
               from 0, in which each trip after the first of a chunk is guarded. The number of trips
               is computed once, as an unsigned number, so that nothing overflows.
    CONDITION  `while` evaluates its condition before each of its trips still.
    JUMPS      `continue` leaves a region around its trip; a `break` in it one around the loop.
    INNERMOST  only loops without loops inside: the trips of the others count little.
    BARRIER    a loop with a barrier stays: waiting costs more than a trip, so that trips are few.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Break,
    Cast,
    Compare,
    Constant,
    Continue,
    Expression,
    For,
    If,
    Leave,
    Read,
    Region,
    Select,
    Statement,
    Sync,
    Unary,
    While,
    walk,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.ir.types import U32, U64
from firebrick.cube.passes.effects import body_count, own_jumps
from firebrick.cube.passes.names import Names

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function
    from firebrick.cube.ir.types import Type

LARGEST_FACTOR = 16
MAX_NODES = 1024
"""The size of an unrolled loop, as far as the device compiles in sensible time."""


def unroll_partially(function: Function) -> Function:
    """The function with innermost loops that make up to `LARGEST_FACTOR` times fewer trips."""
    names = Names(function)

    def expand(statement: Statement) -> Body:
        if not isinstance(statement, For | While) or not _is_plain(statement.body):
            return (statement,)
        factor = _factor(statement.body)
        if factor == 1:
            return (statement,)
        if isinstance(statement, For):
            return _unroll_for(statement, factor, names)
        return _unroll_while(statement, factor, names)

    return names.declare(function, rewrite_body(function.body, expand=expand))


def _is_plain(body: Body) -> bool:
    outside = For | While | Sync  # INNERMOST, BARRIER
    return not any(isinstance(statement, outside) for statement in walk(body))


def _factor(body: Body) -> int:
    """A power of two, as large as sizes allow."""
    factor = LARGEST_FACTOR
    while factor > 1 and factor * body_count(body) > MAX_NODES:
        factor //= 2
    return factor


class _Trips:
    """Makes copies of a loop's body, and puts together what they need."""

    def __init__(self, loop: For | While, names: Names) -> None:
        self._body = loop.body
        self._names = names
        self._continues = any(isinstance(jump, Continue) for jump in own_jumps(loop.body))
        self._label = names.fresh("loop") if self._continues else ""

    def copy(self) -> Body:
        """A body in which `continue` goes on behind it."""
        body = self._names.relabeled(self._body)
        if not self._continues:
            return body
        label = self._names.fresh("trip")
        return (Region(label, self._leaving(body, label)),)  # JUMPS

    def _leaving(self, body: Body, label: str) -> Body:
        done: list[Statement] = []
        for statement in body:
            match statement:
                case Continue(location=location):
                    done.append(Leave(label, location))
                case Break(location=location):  # it cannot leave a region
                    done.append(Leave(self._label, location))
                case If(then=then, orelse=orelse):
                    sides = self._leaving(then, label), self._leaving(orelse, label)
                    done.append(replace(statement, then=sides[0], orelse=sides[1]))
                case _:
                    done.append(statement)
        return tuple(done)

    def around(self, loop: For | While) -> Statement:
        """The new loop, and around it the region that its `break`s leave."""
        return Region(self._label, (loop,)) if self._continues else loop


def _unroll_while(loop: While, factor: int, names: Names) -> Body:
    copies = _Trips(loop, names)
    trips = [*copies.copy()]
    for _ in range(factor - 1):
        leave = If(Unary("not", loop.condition), (Break(loop.location),), (), loop.location)
        trips += leave, *copies.copy()  # CONDITION
    return (copies.around(replace(loop, body=tuple(trips))),)


def _unroll_for(loop: For, factor: int, names: Names) -> Body:
    type = loop.variable.type
    unsigned = U32 if type.bits <= 32 else U64
    start = names.variable("first", type)
    count = names.variable("count", unsigned)
    chunk = names.variable("chunk", unsigned)
    before = (
        Assign(start, loop.start, loop.location),
        Assign(count, _count(loop, Read(start), unsigned), loop.location),
    )
    copies = _Trips(loop, names)
    trips: list[Statement] = []
    for trip in range(factor):
        number = _add(Binary("mul", Read(chunk), Constant(unsigned, factor)), trip)
        value = Binary("add", Read(start), Binary("mul", Cast(type, number), loop.step))
        body = (Assign(loop.variable, value, loop.location), *copies.copy())
        is_due = Compare("lt", number, Read(count))
        trips += body if trip == 0 else (If(is_due, body, (), loop.location),)
    chunks = _chunks(Read(count), factor, unsigned)
    zero, one = Constant(unsigned, 0), Constant(unsigned, 1)
    unrolled = For(chunk, zero, chunks, one, tuple(trips), loop.location)
    return *before, copies.around(unrolled)


def _count(loop: For, start: Expression, unsigned: Type) -> Expression:
    """How many trips a loop makes. The distance of two numbers fits the unsigned type."""
    step = int(loop.step.value)
    low, high = (start, loop.stop) if step > 0 else (loop.stop, start)
    distance = Binary("sub", Cast(unsigned, high), Cast(unsigned, low))
    last = Binary(
        "floordiv",
        Binary("sub", distance, Constant(unsigned, 1)),
        Constant(unsigned, abs(step)),
    )
    return Select(Compare("lt", low, high), _add(last, 1), Constant(unsigned, 0))


def _chunks(count: Expression, factor: int, unsigned: Type) -> Expression:
    size = Constant(unsigned, factor)
    has_rest = Compare("ne", Binary("mod", count, size), Constant(unsigned, 0))
    return Binary("add", Binary("floordiv", count, size), Cast(unsigned, has_rest))


def _add(value: Expression, number: int) -> Expression:
    return value if number == 0 else Binary("add", value, Constant(value.type, number))
