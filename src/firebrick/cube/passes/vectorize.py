"""A version of pointwise kernels in which each unit works on several neighbouring elements.

Loads and stores of 16 bytes reach the bandwidth of the memory, those of 4 do not. `pointwise.py`
says which kernels have such a version, and what a launch has to look at before it takes it.

The rules, named where they apply:

    VECTORS  a unit takes `VECTORS` vectors, one cube's width apart, so that neighbouring units read
             neighbouring vectors; it loads all of them before it computes.
    KEPT     elements live in variables between the loads and the stores.
    COPIES   each element has its own copy of the body's variables, which therefore start as zero;
             `return` leaves the element's copy.
    TAIL     units whose vectors are not all inside go through their elements one by one.
    WHOLE    nothing is computed beyond the end: the number of a vector is compared with how many
             there are, so that no position can leave the index type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from firebrick.cube.geometry import automatic_count
from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Buffer,
    Compare,
    Constant,
    Expression,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Read,
    Region,
    Return,
    Statement,
    Store,
    Topology,
    Variable,
    VectorLoad,
    VectorStore,
    walk,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import body_count
from firebrick.cube.passes.evaluate import zero
from firebrick.cube.passes.names import Names
from firebrick.cube.passes.pointwise import Pointwise, find_pointwise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Body
    from firebrick.cube.runtime.base import Properties, TensorArgument, Triple

VECTORS = (2, 1)
"""Vectors of a unit: as many of these as the size of the body allows."""
WIDTHS = (4, 2)
"""Elements of a vector."""
MAX_NODES = 2048
"""The size of all copies of the body."""


@dataclass(frozen=True, slots=True)
class Vectorized:
    """The version of a kernel by vectors, and what decides whether a launch may take it."""

    function: Function
    elements: int
    """Of each unit."""
    buffers: tuple[Buffer, ...]
    """Tensors that must be contiguous, equally long, and aligned to `alignment`."""
    alignment: int
    """Of the first element, in bytes."""

    def cube_count(
        self, cube_count: Triple, tensors: Sequence[TensorArgument], properties: Properties
    ) -> Triple | None:
        """The cubes to launch in place of `cube_count`; None if the plain kernel has to run.

        The caller makes sure of the alignment: memory that a runtime allocates has it.
        """
        used = [tensors[buffer.position] for buffer in self.buffers]
        length = used[0].length
        units = self.function.units
        covers = math.prod(cube_count) * units >= length
        if not covers or length == 0 or not all(_is_whole(t, length) for t in used):
            return None
        return automatic_count(length, units * self.elements, properties)


def _is_whole(tensor: TensorArgument, length: int) -> bool:
    """Whether a tensor is its memory in order, and of that length."""
    step = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if stride != step and size > 1:
            return False
        step *= size
    return tensor.length == length == step


def vectorize(function: Function, properties: Properties) -> Vectorized | None:
    """The version of a kernel by vectors, to be given to `prepare`; None if it has none."""
    pointwise = find_pointwise(function)
    if pointwise is None:
        return None
    largest = max(buffer.type.bits // 8 for buffer in pointwise.buffers)
    width = next((w for w in WIDTHS if w * largest <= properties.vector_bytes), None)
    size = body_count(pointwise.function.body)
    vectors = next((v for v in VECTORS if width and size * v * width <= MAX_NODES), None)
    if width is None or vectors is None:
        return None
    made = _Builder(pointwise, width, vectors).function()
    return Vectorized(made, width * vectors, pointwise.buffers, width * largest)


class _Builder:
    """Puts the version by vectors together."""

    def __init__(self, pointwise: Pointwise, width: int, vectors: int) -> None:
        self._pointwise = pointwise
        self._width = width
        self._vectors = vectors
        self._names = Names(pointwise.function)
        self._type = pointwise.function.index_type
        self._length = Length(self._type, pointwise.buffers[0])

    def function(self) -> Function:
        """All of it."""
        first, whole = self._variable("vector"), self._variable("vectors")
        units = self._pointwise.function.units
        numbers = [first, *(self._variable("vector") for _ in range(self._vectors - 1))]
        later = (
            Assign(number, _add(Read(first), trip * units))  # VECTORS
            for trip, number in enumerate(numbers)
            if trip
        )
        cube = Binary("mul", Topology(self._type, "CUBE_POS"), self._index(self._vectors * units))
        body = (
            Assign(first, Binary("add", cube, Topology(self._type, "UNIT_POS"))),
            *later,
            Assign(whole, Binary("floordiv", self._length, self._index(self._width))),
            If(
                Compare("lt", Read(numbers[-1]), Read(whole)),
                self._by_vectors(numbers),
                self._by_elements(first, whole),  # TAIL
            ),
        )
        return self._names.declare(self._pointwise.function, body)

    def _variable(self, stem: str) -> Variable:
        return self._names.variable(stem, self._type)

    def _index(self, value: int) -> Constant:
        return Constant(self._type, value)

    # ---- vectors ------------------------------------------------------------------------------

    def _by_vectors(self, numbers: list[Variable]) -> Body:
        pointwise, width = self._pointwise, self._width
        kept = [
            {b: self._names.variable(b.name, b.type) for b in pointwise.buffers}
            for _ in range(len(numbers) * width)
        ]
        loads: list[Statement] = []
        stores: list[Statement] = []
        for trip, number in enumerate(numbers):
            lanes = kept[trip * width : (trip + 1) * width]
            loads += (
                VectorLoad(b, Read(number), tuple(lane[b] for lane in lanes))
                for b in pointwise.loaded
            )
            stores += (
                VectorStore(b, Read(number), tuple(Read(lane[b]) for lane in lanes))
                for b in pointwise.stored
            )
        copies: list[Statement] = []
        for count, elements in enumerate(kept):
            start = Binary("mul", Read(numbers[count // width]), self._index(width))
            copies += self._copy(_add(start, count % width), elements)
        return *loads, *copies, *stores

    def _copy(self, position: Expression, kept: dict[Buffer, Variable]) -> Body:
        """What happens to one element whose values are kept in variables."""
        function = self._pointwise.function
        renamed = {v: self._names.variable(v.name, v.type) for v in function.variables}  # COPIES

        def change(part: Expression) -> Expression:
            match part:
                case Read(variable):
                    return Read(renamed[variable])
                case Load(Buffer() as buffer, index) if index == position and buffer in kept:
                    return Read(kept[buffer])  # KEPT
                case _:
                    return position if part == self._pointwise.position else part

        def expand(statement: Statement) -> Body:
            match statement:
                case Store(memory=Buffer() as buffer, value=value, location=location):
                    return (Assign(kept[buffer], value, location),)
                case Assign(variable=variable) | For(variable=variable):
                    return (replace(statement, variable=renamed[variable]),)
                case _:
                    return (statement,)

        return self._element(rewrite_body(function.body, change, expand))

    def _element(self, body: Body) -> Body:
        """A body that `return` leaves, and nothing else."""
        body = self._names.relabeled(body)
        if not any(isinstance(statement, Return) for statement in walk(body)):
            return body
        label = self._names.fresh("element")

        def expand(statement: Statement) -> Body:
            is_end = isinstance(statement, Return)
            return (Leave(label, statement.location),) if is_end else (statement,)

        return (Region(label, rewrite_body(body, expand=expand)),)

    # ---- the tail -----------------------------------------------------------------------------

    def _by_elements(self, first: Variable, whole: Variable) -> Body:
        trip, number, start = (self._variable(stem) for stem in ("trip", "vector", "start"))
        units = self._index(self._pointwise.function.units)
        rest = Binary("sub", self._length, Read(start))
        count = Binary("min", rest, self._index(self._width))
        here = Binary("add", Read(first), Binary("mul", Read(trip), units))
        inside: Body = (
            Assign(start, Binary("mul", Read(number), self._index(self._width))),
            self._range(self._variable("lane"), count, start),
        )
        body = (Assign(number, here), If(Compare("le", Read(number), Read(whole)), inside))  # WHOLE
        stop = self._index(self._vectors)
        return (For(trip, self._index(0), stop, self._index(1), body),)

    def _range(self, lane: Variable, count: Expression, start: Variable) -> Statement:
        """The elements of one vector that exist."""
        function = self._pointwise.function
        position = self._variable("position")

        def change(part: Expression) -> Expression:
            return Read(position) if part == self._pointwise.position else part

        body = (
            Assign(position, Binary("add", Read(start), Read(lane))),
            *(Assign(variable, zero(variable.type)) for variable in function.variables),  # COPIES
            *self._element(rewrite_body(function.body, change)),
        )
        return For(lane, self._index(0), count, self._index(1), body)


def _add(value: Expression, number: int) -> Expression:
    return value if number == 0 else Binary("add", value, Constant(value.type, number))
