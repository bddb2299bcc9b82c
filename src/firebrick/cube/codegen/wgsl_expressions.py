"""Expressions as WGSL.

WGSL refuses constant expressions that overflow, divide by zero or are not finite, so an operator
on constants alone takes one of them through `f_hold_*`, a function that gives back what it gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.expressions import Expressions
from firebrick.cube.codegen.literals import digits, float_bits, is_plain
from firebrick.cube.codegen.topology import derived
from firebrick.cube.ir.nodes import (
    Atomic,
    BinaryOp,
    Buffer,
    Constant,
    Expression,
    Function,
    LocalArray,
    Memory,
    ScalarParameter,
    Select,
    Topology,
    walk,
)
from firebrick.cube.ir.symbols import BINARY_SYMBOLS
from firebrick.cube.ir.types import BOOL, F32, I32, I64, U32, U64, Type

if TYPE_CHECKING:
    from firebrick.cube.codegen.layout import Layout
    from firebrick.cube.codegen.names import Names
    from firebrick.cube.codegen.snippets import Words
    from firebrick.cube.codegen.target import Target

REGISTERS: dict[str, str] = {
    "bool": "bool", "i32": "i32", "u32": "u32", "f32": "f32",
    "i64": "i64", "u64": "u64", "f16": "f32", "f64": "f64",
}  # fmt: skip
STORED: dict[str, str] = REGISTERS | {"bool": "u32", "f16": "f16"}
_SUFFIXES = {"i32": "i", "u32": "u", "i64": "li", "u64": "lu", "f32": "f", "f64": "lf", "f16": "f"}


def literal(type: Type, value: float) -> str:
    """A number of a type."""
    if type == BOOL:
        return "true" if value else "false"
    suffix = _SUFFIXES[type.scalar]
    if type.is_float:
        if is_plain(type, value):
            text = digits(type, value)
            return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"
        return f"f_float_{'f64' if type.scalar == 'f64' else 'f32'}({_bits(type, value)})"
    if value == -(1 << (type.bits - 1)):
        return f"({int(value) + 1}{suffix} - 1{suffix})"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _bits(type: Type, value: float) -> str:
    suffix = "lu" if type.scalar == "f64" else "u"
    return f"{float_bits(type, value):#x}{suffix}"


def words(type: Type) -> Words:
    """The keys of snippets that only this family has."""
    suffix = _SUFFIXES.get(type.scalar, "")
    filling = {"$U": "u64" if type.bits == 64 else "u32", "$z": suffix}
    if type.is_integer:
        low, high = 0, (1 << type.bits) - 1
        if type.kind == "int":
            low, high = -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
        filling |= {"$MIN": literal(type, low), "$MAX": literal(type, high)}
        filling |= {"$LOW": repr(float(low)), "$TOP": repr(float(high + 1))}
        filling["$u"] = "lu" if type.bits == 64 else "u"
    return filling


class WgslExpressions(Expressions):
    """Expressions of WGSL."""

    def __init__(self, function: Function, target: Target, names: Names, layout: Layout) -> None:
        super().__init__(function, target, names, layout)
        self.atomics: set[Memory] = {
            statement.memory for statement in walk(function.body) if isinstance(statement, Atomic)
        }
        # Bools stand four in a word; writing one changes its word in place.
        self.atomics.update(b for b in function.buffers if b.type == BOOL and b.mutable)

    # ---- numbers ------------------------------------------------------------------------------

    def constant(self, constant: Constant) -> str:
        """A literal, or bits where digits would not do."""
        return literal(constant.type, constant.value)

    def operand(self, expression: Expression, partner: Expression) -> str:
        """Held if both are constants."""
        text = self.text(expression)
        if self._constant_of(expression) is None or self._constant_of(partner) is None:
            return text
        return f"f_hold_{REGISTERS[expression.type.scalar]}({text})"

    def _constant_of(self, expression: Expression) -> float | None:
        """What the compiler sees as a constant."""
        made = derived(self.function, expression.name) if isinstance(expression, Topology) else None
        found = expression if made is None else made
        return found.value if isinstance(found, Constant) else None

    def word(self, index: str) -> str:
        """An element of the array of words."""
        return f"words[{index}]"

    def argument(self, parameter: ScalarParameter) -> str:
        """Out of one word or two."""
        at = self.layout.scalar(parameter) // 4
        type, low = parameter.type, self.word(str(at))
        if type == BOOL:
            return f"({low} != 0i)"
        if type.bits < 64:
            return low if type == I32 else f"bitcast<{REGISTERS[type.scalar]}>({low})"
        parts = [f"u64(bitcast<u32>({self.word(str(word))}))" for word in (at, at + 1)]
        whole = f"({parts[0]} | ({parts[1]} << 32u))"
        return whole if type == U64 else f"bitcast<{type}>({whole})"

    # ---- memory -------------------------------------------------------------------------------

    def element(self, memory: Memory, index: Expression) -> str:
        """The place of an element; an index out of range is no constant for the compiler."""
        number = self._constant_of(index)
        size = None if isinstance(memory, Buffer) else memory.size
        is_outside = number is not None and (number < 0 or (size is not None and number >= size))
        text = self.operand(index, index) if is_outside else self.text(index)
        return f"{self.names.memory(memory)}[{text}]"

    def load(self, memory: Memory, index: Expression) -> str:
        """An element in registers."""
        if memory.type == BOOL and isinstance(memory, Buffer):
            return self._packed_bool(memory, index)
        place = self.element(memory, index)
        if memory in self.atomics:
            return self.from_atomic(memory.type, f"atomicLoad(&{place})")
        is_half = memory.type.scalar == "f16" and not isinstance(memory, LocalArray)
        return f"f32({place})" if is_half else place

    def bool_place(self, memory: Buffer, index: Expression) -> tuple[str, str]:
        """The word that a bool stands in, and how far it is shifted."""
        at = self.converted(U32, self.function.index_type, self.operand(index, index))
        return f"{self.names.memory(memory)}[{at} >> 2u]", f"(({at} & 3u) << 3u)"

    def _packed_bool(self, memory: Buffer, index: Expression) -> str:
        word, shift = self.bool_place(memory, index)
        if memory in self.atomics:
            word = f"atomicLoad(&{word})"
        return f"((({word} >> {shift}) & 0xffu) != 0u)"

    def from_atomic(self, type: Type, text: str) -> str:
        """What an atomic holds, in registers: floats are kept as their bits."""
        return f"bitcast<f32>({text})" if type == F32 else text

    def to_atomic(self, type: Type, text: str) -> str:
        """What registers hold, for an atomic."""
        return f"bitcast<u32>({text})" if type == F32 else text

    # ---- conversions and operators ------------------------------------------------------------

    def cast(self, to: Type, given: Type, text: str) -> str:
        """A conversion of WGSL where it means the same, else a call."""
        zero = "" if given == BOOL else literal(given, 0)
        if to == BOOL:
            return f"(!({text} == {zero}))"
        if given == BOOL:
            return f"select({literal(to, 0)}, {literal(to, 1)}, {text})"
        if given.is_float and to.is_integer:
            return f"f_cast_{to}_{given}({text})"
        if to == U64 and given == I32:
            return f"u64(i64({text}))"
        if to == I64 and given == U32:  # naga would extend the sign
            return f"bitcast<i64>(u64({text}))"
        return f"{REGISTERS[to.scalar]}({text})"

    def bits(self, to: Type, given: Type, text: str) -> str:
        """The same bits."""
        return f"bitcast<{REGISTERS[to.scalar]}>({text})"

    def choose(self, select: Select) -> str:
        """Evaluates both sides; lazy selections are gone by now."""
        if_false, if_true, condition = map(
            self.text, (select.if_false, select.if_true, select.condition)
        )
        return f"select({if_false}, {if_true}, {condition})"

    def compared(self, op: str, type: Type, left: str, right: str) -> str:
        """Drivers take NaN for equal to itself unless they are asked like this."""
        if op == "!=" and type.is_float:
            return f"(!({left} == {right}))"
        return f"({left} {op} {right})"

    def wrapping(self, op: BinaryOp, type: Type, left: str, right: str) -> str:
        """WGSL's operators wrap; a count of shifts is a u32."""
        suffix = "u" if op in ("shl", "shr") else ""
        return f"({left} {BINARY_SYMBOLS[op]} {right}{suffix})"

    def negated(self, type: Type, text: str) -> str:
        """WGSL's minus wraps, and is for signed numbers."""
        return f"({literal(type, 0)} - {text})" if type.kind == "uint" else f"(-{text})"

    def inverted(self, type: Type, text: str) -> str:
        """WGSL's."""
        return f"(~{text})"
