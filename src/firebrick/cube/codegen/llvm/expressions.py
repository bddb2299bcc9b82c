"""Expressions of the IR as LLVM values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm import arithmetic, conversions, mathematics
from firebrick.cube.codegen.llvm.affine import growth
from firebrick.cube.codegen.llvm.types import memory_type, register_type, size_bytes
from firebrick.cube.ir.nodes import (
    Argument,
    Binary,
    Buffer,
    Call,
    Cast,
    Compare,
    Constant,
    Expression,
    Extent,
    Length,
    Load,
    LocalArray,
    Logical,
    Memory,
    Read,
    Reinterpret,
    Select,
    Topology,
    Unary,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.cube.codegen.llvm.affine import Growth
    from firebrick.cube.codegen.llvm.arguments import Arguments
    from firebrick.cube.codegen.llvm.text import Builder, Value
    from firebrick.cube.ir.nodes import SharedArray, TopologyName


@dataclass(frozen=True, slots=True)
class Row:
    """Neighboring units along x."""

    unit: Value
    """The number of the unit in the row, in the index type."""
    topology: Callable[[TopologyName], Value]
    """Positions of the first unit of the row."""
    growths: Mapping[Variable, Growth]
    bases: Mapping[Variable, Value]
    """For variables that grow: the address of what the first unit would have in them."""
    largest_factor: int
    """Growths up to this may be split off; see `affine.py`."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What expressions mean where they stand: for one unit, or for a whole cube."""

    topology: Callable[[TopologyName], Value]
    slots: Mapping[Variable, Value]
    """Addresses of the variables."""
    place: Callable[[SharedArray | LocalArray, Value], Value]
    """The address of an element, given its index as `i64`."""
    row: Row | None = None
    """The neighbors that may become a vector."""


class Expressions:
    """Writes expressions."""

    def __init__(self, builder: Builder, arguments: Arguments, around: Surroundings) -> None:
        self.builder = builder
        self.arguments = arguments
        self.around = around

    def value(self, expression: Expression) -> Value:
        """The value of an expression, computed here."""
        match expression:
            case Constant():
                return self._constant(expression)
            case Read(variable):
                return self.read(variable)
            case Topology(name=name):
                return self.around.topology(name)
            case Argument(parameter):
                return self.arguments.scalar(parameter)
            case Length(buffer=buffer):
                return self.arguments.length(buffer)
            case Extent():
                return self._extent(expression)
            case Load(memory, index):
                return self.load(memory, self.index(index))
            case Logical():
                return self._logical(expression)
            case Select():
                return self._select(expression)
            case _:
                return self._operation(expression)

    def _constant(self, constant: Constant) -> Value:
        value = self.builder.constant(register_type(constant.type), constant.value)
        return conversions.round_to(constant.type, value)

    def _operation(self, expression: Unary | Binary | Compare | Cast | Reinterpret | Call) -> Value:
        match expression:
            case Unary(op, value):
                return arithmetic.unary(op, self.value(value))
            case Binary(op, left, right):
                values = self.value(left), self.value(right)
                return arithmetic.binary(op, *values, expression.type, right)
            case Compare():
                return self._compare(expression)
            case Cast(type, value):
                return conversions.cast(self.value(value), value.type, type)
            case Reinterpret(type, value):
                return conversions.reinterpret(self.value(value), value.type, type)
            case Call(name=name, arguments=arguments):
                values = [self.value(argument) for argument in arguments]
                return mathematics.call(name, values, arguments[0].type, arguments)

    def _compare(self, expression: Compare) -> Value:
        left, right = self.value(expression.left), self.value(expression.right)
        return arithmetic.compare(expression.op, left, right, expression.left.type)

    def _extent(self, extent: Extent) -> Value:
        if isinstance(extent.dim, Constant):
            return self.arguments.extent(extent, int(extent.dim.value))
        return self.arguments.extent_at(extent, self.value(extent.dim))

    # ---- choices ------------------------------------------------------------------------------

    def _logical(self, expression: Logical) -> Value:
        decided = self.builder.constant("i1", expression.op == "or")
        left = self.value(expression.left)
        if expression.op == "and":
            return self._choose(left, lambda: self.value(expression.right), lambda: decided)
        return self._choose(left, lambda: decided, lambda: self.value(expression.right))

    def _select(self, expression: Select) -> Value:
        condition = self.value(expression.condition)
        if expression.lazy:
            return self._choose(
                condition,
                lambda: self.value(expression.if_true),
                lambda: self.value(expression.if_false),
            )
        return condition.select(self.value(expression.if_true), self.value(expression.if_false))

    def _choose(
        self, condition: Value, if_true: Callable[[], Value], if_false: Callable[[], Value]
    ) -> Value:
        """Evaluates one of two sides."""
        builder = self.builder
        yes, no, after = (builder.fresh(stem) for stem in ("yes", "no", "chosen"))
        builder.branch(condition, yes, no)
        sources: list[tuple[Value, str]] = []
        for label, side in ((yes, if_true), (no, if_false)):
            builder.place(label)
            value = side()
            sources.append((value, builder.block))
            builder.jump(after)
        builder.place(after)
        return builder.phi(sources[0][0].type, sources)

    # ---- variables and memory -----------------------------------------------------------------

    def read(self, variable: Variable) -> Value:
        """The present value of a variable."""
        return self.builder.load(register_type(variable.type), self.around.slots[variable])

    def write(self, variable: Variable, value: Value) -> None:
        """Sets a variable."""
        self.builder.store(value, self.around.slots[variable])

    def assign(self, variable: Variable, expression: Expression) -> None:
        """Sets a variable to an expression."""
        row = self.around.row
        base = None if row is None else row.bases.get(variable)
        value = self.value(expression)
        if row is not None and base is not None:
            self.builder.store(self._base(expression, row), base)
        self.write(variable, value)

    def index(self, expression: Expression) -> Value:
        """A position in memory as `i64`."""
        row = self.around.row
        if row is not None:
            factor = growth(expression, row.growths)
            if factor is not None and 0 < factor <= row.largest_factor:
                offset = row.unit.convert("zext", "i64") * factor
                return self._base(expression, row).convert("sext", "i64") + offset
        return self.value(expression).convert("sext", "i64")

    def _base(self, expression: Expression, row: Row) -> Value:
        """What the first unit of the row has, of an expression whose growth is known."""
        match expression:
            case Topology(name=name):
                return row.topology(name)
            case Read(variable) if variable in row.bases:
                return self.builder.load(register_type(variable.type), row.bases[variable])
            case Cast(value=value) if growth(expression, row.growths) != 0:
                return self._base(value, row)
            case Binary(op, left, right) if growth(expression, row.growths) != 0:
                first, second = self._base(left, row), self._base(right, row)
                return arithmetic.binary(op, first, second, expression.type)
            case _:
                return self.value(expression)

    def address(self, memory: Memory, index: Value) -> Value:
        """Where an element is."""
        if not isinstance(memory, Buffer):
            return self.around.place(memory, index)
        return self.builder.element(self.arguments.pointer(memory), memory_type(memory.type), index)

    def load(self, memory: Memory, index: Value) -> Value:
        """Reads an element."""
        stored = self.builder.load(
            memory_type(memory.type), self.address(memory, index), self.marks(memory)
        )
        if not (isinstance(memory, Buffer) and not memory.mutable):
            stored = stored.frozen()
        return conversions.from_memory(memory.type, stored)

    def store(self, memory: Memory, index: Value, value: Value) -> None:
        """Writes an element."""
        stored = conversions.to_memory(memory.type, value)
        self.builder.store(stored, self.address(memory, index), self.marks(memory))

    def marks(self, memory: Memory) -> str:
        """What LLVM is told of accesses to some memory."""
        marks = f", align {size_bytes(memory.type)}"
        if isinstance(memory, LocalArray):
            return marks
        if isinstance(memory, Buffer) and not memory.mutable:
            marks += self.arguments.unchanging
        return marks + self.builder.group
