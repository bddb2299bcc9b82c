"""Runs in which LLVM must not be told that units are independent, although they are.

The promise is about accesses of different units. LLVM 22 also reorders those of one unit then, where
it joins accesses at a stride (`x[2 * i]`, `x[2 * i + 1]`) to one of a vector: loads move up to the
first one, past a store in between that wrote what they read. Where a load follows a store and a stride
is involved, LLVM has to find out for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.codegen.llvm.affine import Growth, Growths, growth
from firebrick.cube.ir.nodes import (
    Buffer,
    Expression,
    Load,
    LocalArray,
    Memory,
    Statement,
    Store,
    VectorLoad,
    VectorStore,
    expressions,
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.cube.ir.nodes import Body

Access: TypeAlias = tuple[Memory, Expression]


def loads_of(statement: Statement) -> Iterator[Access]:
    """Memory and index of what a statement reads itself."""
    if isinstance(statement, VectorLoad):
        yield statement.buffer, statement.index
    for value in expressions(statement):
        for part in walk_expressions(value):
            if isinstance(part, Load):
                yield part.memory, part.index


def stores_of(statement: Statement) -> Iterator[Access]:
    """Memory and index of what a statement writes itself."""
    match statement:
        case Store(memory, index):
            yield memory, index
        case VectorStore(buffer, index):
            yield buffer, index
        case _:
            return


def may_be_reordered(body: Body, growths: Growths) -> bool:
    """Whether a load follows a store of the same memory, and one of its accesses has a stride."""
    stored: set[object] = set()
    read_back: set[object] = set()
    strided: set[object] = set()
    for statement in walk(body):
        loads, stores = list(loads_of(statement)), list(stores_of(statement))
        read_back |= {_place(memory) for memory, _ in loads} & stored
        stored |= {_place(memory) for memory, _ in stores}
        is_vector = isinstance(statement, VectorLoad | VectorStore)
        for memory, index in (*loads, *stores):
            if is_vector or step_of(memory, index, growths) not in (0, 1):
                strided.add(_place(memory))
    return bool(read_back & strided)


def step_of(memory: Memory, index: Expression, growths: Growths) -> Growth:
    """How far apart neighbors access memory."""
    step = growth(index, growths)
    if isinstance(memory, LocalArray):  # elements of the same index are side by side
        return 1 if step == 0 else None
    return step


def _place(memory: Memory) -> object:
    """What stands for a memory; buffers that are written may be the same one."""
    if isinstance(memory, Buffer):
        return "written" if memory.mutable else "read only"
    return memory
