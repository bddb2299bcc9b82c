"""Finds kernels in which each unit works on the elements at its own position, and nothing else.

The rules, named where they apply:

    POSITION   tensors that are written are accessed at `ABSOLUTE_POS` only. Others may be read
               anywhere, but only those read at the position are read in vectors.
    ALONE      no shared or local memory, no barriers, atomics or plane operations, and no position
               but `ABSOLUTE_POS`: how many units there are makes no difference.
    ONE LENGTH all tensors accessed at the position are as long as the first of them, which the
               launch has to check; a contiguous tensor of rank 1 is as long as its shape says.
    INSIDE     units beyond that length do nothing, so conditions that say so hold for all others.
               In a kernel without such a condition the guards of the mode "checked" would say it.
    NAMES      two tensors that are written may be one. What they hold is kept in variables, so with
               several of them all stores are certain, and no load follows a store to another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen.linearize import linearize
from firebrick.cube.ir.nodes import (
    Atomic,
    Buffer,
    Expression,
    Extent,
    Length,
    Load,
    Plane,
    Read,
    Store,
    Sync,
    Topology,
    VectorLoad,
    VectorStore,
    walk,
)
from firebrick.cube.ir.rewrite import map_expressions, rewrite_body, rewrite_expression
from firebrick.cube.passes.dead import remove_dead
from firebrick.cube.passes.effects import all_expressions, may_jump_out
from firebrick.cube.passes.fold import fold
from firebrick.cube.passes.knowledge import Knowledge
from firebrick.cube.passes.propagate import propagate
from firebrick.cube.passes.unroll import unroll
from firebrick.cube.passes.walker import Walker

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Statement


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A kernel whose body is what happens to one element, for units that have one."""

    function: Function
    buffers: tuple[Buffer, ...]
    """Accessed at the position."""
    stored: tuple[Buffer, ...]
    """Those of them that are written, in the order of the last stores."""
    loaded: tuple[Buffer, ...]
    """Those whose elements are needed at the start."""

    @property
    def position(self) -> Topology:
        """Where each unit works."""
        return position_of(self.function)


def position_of(function: Function) -> Topology:
    """The position of a unit among all units."""
    return Topology(function.index_type, "ABSOLUTE_POS")


def find_pointwise(function: Function) -> Pointwise | None:
    """The kernel by elements; None if it is not of that kind."""
    if not _is_alone(function):
        return None
    function = fold(unroll(fold(linearize(function, selects=False))))
    function = replace(function, body=_Positions(function).run())
    buffers = _buffers_at_position(function)
    if not buffers or not _has_one_position(function):
        return None
    function = remove_dead(fold(_inside(function, buffers)))
    written = _written(function.body)
    certain = _certain_stores(function.body)
    if not written or not _is_free_of_names(function):
        return None
    loads = _loads_at_position(function)
    uncertain = [buffer for buffer in written if buffer not in certain]
    loaded = tuple(b for b in buffers if b in loads or b in uncertain)
    return Pointwise(function, buffers, written, loaded)


class _Positions(Walker):
    """Puts `ABSOLUTE_POS` in place of variables that hold it."""

    def expression(
        self, expression: Expression, known: Knowledge, before: list[Statement]
    ) -> Expression:
        return self._direct(expression, known)

    def simple(self, statement: Statement, known: Knowledge) -> Body:
        return (map_expressions(statement, lambda one: self._direct(one, known)),)

    def _direct(self, expression: Expression, known: Knowledge) -> Expression:
        position = position_of(self.function)

        def change(part: Expression) -> Expression:
            is_position = isinstance(part, Read) and known.values.get(part.variable) == position
            return position if is_position else part

        return rewrite_expression(expression, change)


def _inside(function: Function, buffers: tuple[Buffer, ...]) -> Function:
    """The function for units that have an element."""
    length = Length(function.index_type, buffers[0])

    def change(part: Expression) -> Expression:
        match part:
            case Length(buffer=buffer) if buffer in buffers:
                return length  # ONE LENGTH
            case Extent(buffer=buffer, what="shape") if buffer in buffers and buffer.rank == 1:
                return length
            case _:
                return part

    body = rewrite_body(function.body, change)
    known = Knowledge.at_start(function)
    known.note(position_of(function), length, strict=True)  # INSIDE
    return propagate(replace(function, body=body), known)


# ---- conditions -------------------------------------------------------------------------------


def _is_alone(function: Function) -> bool:
    together = Atomic | Plane | Sync | VectorLoad | VectorStore
    is_private = not function.shared and not function.locals
    return is_private and not any(isinstance(s, together) for s in walk(function.body))  # ALONE


def _has_one_position(function: Function) -> bool:
    position = position_of(function)
    for expression in all_expressions(function.body):
        if isinstance(expression, Topology) and expression != position:
            return False  # ALONE
        if isinstance(expression, Load) and isinstance(expression.memory, Buffer):
            elsewhere = expression.index != position
            if expression.memory.mutable and elsewhere:
                return False  # POSITION
    stores = (s for s in walk(function.body) if isinstance(s, Store))
    return all(store.index == position for store in stores)


def _loads_at_position(function: Function) -> dict[Buffer, None]:
    position = position_of(function)
    return dict.fromkeys(
        e.memory
        for e in all_expressions(function.body)
        if isinstance(e, Load) and isinstance(e.memory, Buffer) and e.index == position
    )


def _buffers_at_position(function: Function) -> tuple[Buffer, ...]:
    loads = _loads_at_position(function)
    stores = {s.memory for s in walk(function.body) if isinstance(s, Store)}
    return tuple(b for b in function.buffers if b in loads or b in stores)


def _written(body: Body) -> tuple[Buffer, ...]:
    """The buffers that a body stores to, in the order of the last stores."""
    order: dict[Buffer, None] = {}
    for statement in walk(body):
        if isinstance(statement, Store) and isinstance(statement.memory, Buffer):
            order.pop(statement.memory, None)
            order[statement.memory] = None
    return tuple(order)


def _certain_stores(body: Body) -> dict[Buffer, None]:
    """The buffers to which every unit stores."""
    certain: dict[Buffer, None] = {}
    for statement in body:
        if may_jump_out((statement,)):
            break
        if isinstance(statement, Store) and isinstance(statement.memory, Buffer):
            certain[statement.memory] = None
    return certain


def _is_free_of_names(function: Function) -> bool:
    """Whether it makes no difference if two of the writable tensors are one."""
    writable = {buffer for buffer in function.buffers if buffer.mutable}
    if len(writable) == 1:
        return True
    stored: set[object] = set()
    for statement in function.body:
        inside = [s.memory for s in walk((statement,)) if isinstance(s, Store)]
        if inside and not isinstance(statement, Store):
            return False
        loads = {e.memory for e in all_expressions((statement,)) if isinstance(e, Load)}
        if any(stored - {memory} for memory in loads & writable):
            return False
        stored.update(inside)
    return not may_jump_out(function.body) or not stored  # NAMES
