"""Expressions as C++ that NVRTC and HIP's clang both take.

Signed arithmetic is done on unsigned numbers, because signed overflow is undefined in C++.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.expressions import Expressions
from firebrick.cube.codegen.layout import stored_bytes
from firebrick.cube.codegen.literals import digits, float_bits, is_plain
from firebrick.cube.codegen.target import HALVES, registers_of
from firebrick.cube.ir.nodes import (
    BinaryOp,
    Constant,
    Expression,
    Memory,
    ScalarParameter,
    Select,
)
from firebrick.cube.ir.symbols import BINARY_SYMBOLS
from firebrick.cube.ir.types import BOOL, Type

if TYPE_CHECKING:
    from firebrick.cube.codegen.snippets import Words

REGISTERS: dict[str, str] = {
    "bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned", "u64": "unsigned long long",
    "f16": "float", "bf16": "float", "f32": "float", "f64": "double",
}  # fmt: skip
STORED: dict[str, str] = REGISTERS | {
    "bool": "unsigned char", "f16": "unsigned short", "bf16": "unsigned short",
}  # fmt: skip
_SUFFIXES = {"u8": "u", "u16": "u", "u32": "u", "i64": "ll", "u64": "ull", "f64": ""}


def literal(type: Type, value: float) -> str:
    """A number of a type."""
    if type == BOOL:
        return "true" if value else "false"
    if not type.is_float:
        return _integer(type, int(value))
    suffix = "" if type.scalar == "f64" else "f"
    if is_plain(type, value):
        text = digits(type, value)
        return f"({text}{suffix})" if text.startswith("-") else f"{text}{suffix}"
    bits = float_bits(type, value)
    if type.scalar == "f64":
        return f"__builtin_bit_cast(double, {bits:#018x}ull)"
    return f"__builtin_bit_cast(float, {bits:#010x}u)"


def _integer(type: Type, value: int) -> str:
    suffix = _SUFFIXES.get(type.scalar, "")
    if value == -(1 << (type.bits - 1)) and type.bits >= 32:
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def unsigned(type: Type) -> str:
    """The unsigned type of the same size."""
    return REGISTERS[f"u{type.bits}"]


def working(type: Type) -> str:
    """The unsigned type in which integers of a type are computed."""
    return REGISTERS["u64" if type.bits == 64 else "u32"]


def words(type: Type) -> Words:
    """The keys of snippets that only this family has."""
    filling = {"$U": unsigned(type), "$W": working(type)}
    if type.is_float:
        wide = registers_of(type).bits == 64
        inf = Type("f64" if wide else "f32")
        filling |= {
            "$B": REGISTERS["u64" if wide else "u32"],
            "$INF": f"{float_bits(inf, float('inf')):#x}" + ("ull" if wide else "u"),
            "$z": "" if wide else "f",
        }
    elif type.is_integer:
        low, high = _range(type)
        filling |= {"$MIN": _integer(type, low), "$MAX": _integer(type, high)}
        filling |= {"$LOW": repr(float(low)), "$TOP": repr(float(high + 1))}
    return filling


def _range(type: Type) -> tuple[int, int]:
    if type.kind == "uint":
        return 0, (1 << type.bits) - 1
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1


class CExpressions(Expressions):
    """Expressions of the C family."""

    def constant(self, constant: Constant) -> str:
        """A literal, or bits where digits would not do."""
        return literal(constant.type, constant.value)

    def word(self, index: str) -> str:
        """An element of the array of words."""
        return f"words[{index}]"

    def argument(self, parameter: ScalarParameter) -> str:
        """Read through a pointer of its type; numbers are aligned to their size."""
        size = stored_bytes(parameter.type)
        at = self.layout.scalar(parameter) // size
        if parameter.type.is_float:
            stored = registers_of(parameter.type)
        else:
            stored = Type("u64" if size == 8 else "u32")
        text = f"((const {REGISTERS[stored.scalar]}*)words)[{at}]"
        if parameter.type.is_float or parameter.type == stored:
            return text
        return self.cast(parameter.type, stored, text)

    def element(self, memory: Memory, index: str) -> str:
        """An element as it stands in memory."""
        return f"{self.names.memory(memory)}[{index}]"

    def load(self, memory: Memory, index: Expression) -> str:
        """An element in registers."""
        return self.unpacked(memory.type, self.element(memory, self.text(index)))

    def unpacked(self, type: Type, text: str) -> str:
        """What stands in memory as registers hold it."""
        if type == BOOL:
            return f"({text} != 0)"
        return f"f_unpack_{type}({text})" if type.scalar in HALVES else text

    def packed(self, type: Type, text: str) -> str:
        """What registers hold as it stands in memory."""
        return f"f_pack_{type}({text})" if type.scalar in HALVES else text

    def cast(self, to: Type, given: Type, text: str) -> str:
        """A cast where C++ means the same, else a call."""
        if to == BOOL:
            return f"({text} != 0)"
        if given.is_float and to.is_integer:
            return f"f_cast_{to}_{given}({text})"
        return f"(({REGISTERS[to.scalar]}){text})"

    def bits(self, to: Type, given: Type, text: str) -> str:
        """The same bits."""
        if to.is_integer and given.is_integer:
            return f"(({REGISTERS[to.scalar]}){text})"
        return f"__builtin_bit_cast({REGISTERS[to.scalar]}, {text})"

    def choose(self, select: Select) -> str:
        """C++ evaluates the chosen side only, which both kinds of selection allow."""
        condition, if_true, if_false = map(
            self.text, (select.condition, select.if_true, select.if_false)
        )
        return f"({condition} ? {if_true} : {if_false})"

    def wrapping(self, op: BinaryOp, type: Type, left: str, right: str) -> str:
        """On unsigned numbers; a right shift keeps the sign."""
        symbol, name, wide = BINARY_SYMBOLS[op], REGISTERS[type.scalar], working(type)
        if name == wide or op == "shr":
            return f"({left} {symbol} {right})"
        if op == "shl":
            return f"(({name})(({wide}){left} << {right}))"
        return f"(({name})(({wide}){left} {symbol} ({wide}){right}))"

    def negated(self, type: Type, text: str) -> str:
        """Floats change their sign bit, integers wrap."""
        if type.is_float:
            return f"(-{text})"
        return f"(({REGISTERS[type.scalar]})(0u - ({working(type)}){text}))"

    def inverted(self, type: Type, text: str) -> str:
        """All bits flipped, in a number of the type."""
        return f"(({REGISTERS[type.scalar]})~{text})"
