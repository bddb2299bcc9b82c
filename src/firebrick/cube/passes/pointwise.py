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
    NAMES      two tensors that are written may be one. What one of them holds is kept in variables,
               so no load may follow a store to another; and with several, all stores are certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Buffer,
    Constant,
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
    expressions,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import rewrite_body, rewrite_expression, rewrite_statement
from firebrick.cube.passes.dead import remove_dead
from firebrick.cube.passes.effects import all_expressions, assigned, may_jump_out
from firebrick.cube.passes.fold import fold
from firebrick.cube.passes.knowledge import Knowledge
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
    """Those of them that are written, in the order of their first store."""
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
    function = fold(unroll(fold(function)))
    function = replace(function, body=_Positions(function).run())
    buffers = _buffers_at_position(function)
    if not buffers or not _has_one_position(function):
        return None
    function = remove_dead(fold(_inside(function, buffers)))
    stored = dict.fromkeys(s.memory for s in walk(function.body) if isinstance(s, Store))
    written = tuple(memory for memory in stored if isinstance(memory, Buffer))
    certain = _certain_stores(function.body)
    if not written or not _is_free_of_names(function, written, certain):
        return None
    at_position = _loads_at_position(function)
    loaded = tuple(
        buffer
        for buffer in buffers
        if buffer in at_position or (buffer in written and buffer not in certain)
    )
    return Pointwise(function, buffers, written, loaded)


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
            if expression.memory.mutable and expression.index != position:
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


def _certain_stores(body: Body) -> dict[Buffer, None]:
    """The buffers to which every unit stores."""
    certain: dict[Buffer, None] = {}
    for statement in body:
        if may_jump_out((statement,)):
            break
        if isinstance(statement, Store) and isinstance(statement.memory, Buffer):
            certain[statement.memory] = None
    return certain


def _is_free_of_names(
    function: Function, written: tuple[Buffer, ...], certain: dict[Buffer, None]
) -> bool:
    """Whether it makes no difference if two of the writable tensors are one."""
    others = [buffer for buffer in function.buffers if buffer.mutable]
    if len(others) == 1:
        return True
    if any(buffer not in certain for buffer in written):
        return False
    stored: set[object] = set()
    for statement in function.body:
        for part in (statement, *walk((statement,))):
            for whole in expressions(part):
                loads = (e.memory for e in walk_expressions(whole) if isinstance(e, Load))
                if any(m in others and stored - {m} for m in loads):
                    return False
        stored |= {part.memory for part in walk((statement,)) if isinstance(part, Store)}
    return True  # NAMES
