"""Expressions as text: what the families have in common.

Whatever an operator of the target does differently from the kernel language is a call of a snippet
(`f_floordiv_i32`); plain operators stand where they mean the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from firebrick.cube.codegen.target import EXACT, HALVES, Target, registers_of
from firebrick.cube.codegen.topology import derived
from firebrick.cube.ir.nodes import (
    Argument,
    Binary,
    BinaryOp,
    Call,
    Cast,
    Compare,
    Constant,
    Expression,
    Extent,
    Function,
    Length,
    Load,
    Logical,
    Memory,
    Read,
    Reinterpret,
    ScalarParameter,
    Select,
    Topology,
    TopologyName,
    Unary,
)
from firebrick.cube.ir.symbols import BINARY_SYMBOLS, COMPARE_SYMBOLS
from firebrick.cube.ir.types import BOOL, U32, Type

if TYPE_CHECKING:
    from firebrick.cube.codegen.layout import Layout
    from firebrick.cube.codegen.names import Names

_ROUNDED: frozenset[BinaryOp] = frozenset({"add", "sub", "mul", "div", "floordiv", "mod"})


class Expressions(ABC):
    """Turns expressions into text; remembers the positions that they speak of."""

    def __init__(self, function: Function, target: Target, names: Names, layout: Layout) -> None:
        self.function = function
        self.target = target
        self.names = names
        self.layout = layout
        self._positions: dict[TopologyName, str] = {}

    # ---- what a family spells -----------------------------------------------------------------

    @abstractmethod
    def constant(self, constant: Constant) -> str:
        """A literal."""

    @abstractmethod
    def word(self, index: str) -> str:
        """A word of the metadata, in the index type."""

    @abstractmethod
    def argument(self, parameter: ScalarParameter) -> str:
        """A number out of the metadata."""

    @abstractmethod
    def load(self, memory: Memory, index: Expression) -> str:
        """An element of memory in registers."""

    @abstractmethod
    def cast(self, to: Type, given: Type, text: str) -> str:
        """A conversion, neither of whose types is a half type or equal to the other."""

    @abstractmethod
    def bits(self, to: Type, given: Type, text: str) -> str:
        """The bits of a value as another type."""

    @abstractmethod
    def choose(self, select: Select) -> str:
        """One of two values."""

    @abstractmethod
    def wrapping(self, op: BinaryOp, type: Type, left: str, right: str) -> str:
        """Integer addition, subtraction or multiplication, and shifts by less than the bits."""

    @abstractmethod
    def negated(self, type: Type, text: str) -> str:
        """A number with the other sign."""

    @abstractmethod
    def inverted(self, type: Type, text: str) -> str:
        """An integer with all bits flipped."""

    def compared(self, op: str, type: Type, left: str, right: str) -> str:
        """A comparison of two values of a type."""
        return f"({left} {op} {right})"

    def operand(self, expression: Expression, partner: Expression) -> str:
        """An operand; `partner` is the other one."""
        return self.text(expression)

    # ---- the same everywhere ------------------------------------------------------------------

    def text(self, expression: Expression) -> str:
        """An expression; it is in parentheses if it is not a name, a literal or a call."""
        match expression:
            case Constant():
                return self.constant(expression)
            case Read(variable):
                return self.names.variable(variable)
            case Argument(parameter):
                return self.argument(parameter)
            case Load(memory, index):
                return self.load(memory, index)
            case Topology(name=name):
                return self.position(name)
            case Length(buffer=buffer):
                return self.word(str(self.layout.length(buffer)))
            case Extent():
                return self._extent(expression)
            case _:
                return self._operator(expression)

    def _operator(
        self,
        expression: Unary | Binary | Compare | Logical | Select | Cast | Reinterpret | Call,
    ) -> str:
        match expression:
            case Unary():
                return self._unary(expression)
            case Binary(op, left, right):
                return self._binary(op, left, right)
            case Compare(op, left, right):
                sides = self.operand(left, right), self.text(right)
                return self.compared(COMPARE_SYMBOLS[op], left.type, *sides)
            case Logical(op, left, right):
                symbol = "&&" if op == "and" else "||"
                return f"({self.text(left)} {symbol} {self.text(right)})"
            case Select():
                return self.choose(expression)
            case Cast(type, value):
                return self.converted(type, value.type, self.operand(value, value))
            case Reinterpret(type, value):
                return self._reinterpreted(type, value.type, self.operand(value, value))
            case Call():
                return self._call(expression)

    def _extent(self, extent: Extent) -> str:
        first = self.layout.extent(extent)
        if isinstance(extent.dim, Constant):
            return self.word(str(first + int(extent.dim.value)))
        offset = Constant(self.function.index_type, first)
        return self.word(self.text(Binary("add", offset, extent.dim)))

    # ---- positions ----------------------------------------------------------------------------

    def position(self, name: TopologyName) -> str:
        """A position; `position_lines` declares it."""
        made = derived(self.function, name)
        if isinstance(made, Constant):
            return self.constant(made)
        if name not in self._positions:
            definition = self._spelled(name) if made is None else self.text(made)
            self._positions[name] = definition
        return f"p_{name}"

    def _spelled(self, name: TopologyName) -> str:
        x, y, z = self.function.cube_dim
        spelling = self.target.positions[name]
        flat = ""
        if "{UNIT_POS}" in spelling:
            flat = self.converted(U32, self.function.index_type, self.position("UNIT_POS"))
        text = spelling.format(UNIT_POS=flat, dim_x=x, dim_y=y, dim_z=z)
        return self.converted(self.function.index_type, U32, text)

    def positions(self) -> dict[str, str]:
        """Identifiers of the positions in use and their definitions, in an order that works."""
        return {f"p_{name}": text for name, text in self._positions.items()}

    # ---- conversions --------------------------------------------------------------------------

    def rounded(self, type: Type, text: str) -> str:
        """A result in f32 as a number of a half type; any other result as it is."""
        return f"f_round_{type}({text})" if type.scalar in HALVES else text

    def converted(self, to: Type, given: Type, text: str) -> str:
        """A conversion between numbers and bools."""
        if to == given:
            return text
        registers, source = registers_of(to), registers_of(given)
        if to.scalar in HALVES and given.scalar == "f64":
            return self.rounded(to, f"f_odd_f64({text})")
        through = text if registers == source else self.cast(registers, source, text)
        # A bool and a half type's own number need no rounding.
        return through if given == BOOL else self.rounded(to, through)

    def _reinterpreted(self, to: Type, given: Type, text: str) -> str:
        if to == given:
            return text
        if given.scalar in HALVES:
            text, given = f"f_pack_{given}({text})", Type("u16")
        if to.scalar in HALVES:
            return f"f_unpack_{to}({self.bits(Type('u16'), given, text)})"
        return self.bits(to, given, text)

    # ---- operators ----------------------------------------------------------------------------

    def _unary(self, unary: Unary) -> str:
        text = self.operand(unary.value, unary.value)
        match unary.op:
            case "not":
                return f"(!{text})"
            case "neg":
                return self.negated(unary.type, text)
            case "invert":
                return self.inverted(unary.type, text)

    def _binary(self, op: BinaryOp, left: Expression, right: Expression) -> str:
        type = left.type
        if op in ("shl", "shr") and isinstance(right, Constant) and 0 <= right.value < type.bits:
            return self.wrapping(op, type, self.operand(left, right), str(right.value))
        return self.combined(op, type, self.operand(left, right), self.text(right))

    def combined(self, op: BinaryOp, type: Type, left: str, right: str) -> str:
        """A binary operator on the texts of its operands."""
        registers = registers_of(type)
        if type == BOOL and op == "xor":
            return f"({left} != {right})"
        if op in ("and", "or", "xor") or (op in BINARY_SYMBOLS and self._is_plain(op, type)):
            text = f"({left} {BINARY_SYMBOLS[op]} {right})"
        elif op in ("add", "sub", "mul"):
            text = self.wrapping(op, type, left, right)
        else:
            text = f"f_{op}_{registers}({left}, {right})"
        return self.rounded(type, text) if op in _ROUNDED else text

    def _is_plain(self, op: BinaryOp, type: Type) -> bool:
        return type.is_float and op in ("add", "sub", "mul", "div")

    def _call(self, call: Call) -> str:
        first = call.arguments[0].type
        function = self.target.math[call.name][registers_of(first).scalar]
        arguments = [self.text(argument) for argument in call.arguments]
        if all(isinstance(argument, Constant) for argument in call.arguments):
            arguments[0] = self.operand(call.arguments[0], call.arguments[0])
        text = f"{function}({', '.join(arguments)})"
        return text if call.name in EXACT or call.type == BOOL else self.rounded(call.type, text)
