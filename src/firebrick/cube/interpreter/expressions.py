"""Expressions of the IR written as Python expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.interpreter import arithmetic
from firebrick.cube.ir.nodes import (
    Argument,
    Binary,
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
    operands,
)
from firebrick.cube.ir.symbols import COMPARE_SYMBOLS

if TYPE_CHECKING:
    from firebrick.cube.interpreter.accesses import Accesses

DEEPEST = 15
"""Levels of one Python expression; CPython's parser takes 200 parentheses, a level up to six."""


class ExpressionWriter:
    """Writes expressions; `variables` are their Python names.

    Texts bind like a name. Parts of a deep expression are written as functions that are called in
    their place; their definitions collect in `definitions`.
    """

    def __init__(self, accesses: Accesses, variables: dict[Variable, str]) -> None:
        self._accesses = accesses
        self._variables = variables
        self._defined = 0
        self.definitions: list[str] = []

    def take_definitions(self) -> list[str]:
        """Those that the expressions written since the last call need."""
        taken, self.definitions = self.definitions, []
        return taken

    def write(self, expression: Expression) -> str:
        """The Python text of an expression."""
        return self._write(expression)[0]

    def _write(self, expression: Expression) -> tuple[str, int]:
        """The text, and how many levels it has."""
        parts = [self._write(part) for part in operands(expression)]
        texts = [text for text, _ in parts]
        depth = 1 + max((levels for _, levels in parts), default=0)
        text = self._compound(expression, texts) if parts else self._leaf(expression)
        if depth < DEEPEST:
            return text, depth
        self._defined += 1
        name = f"part{self._defined}"
        self.definitions.append(f"{name} = lambda: {text}")
        return f"{name}()", 1

    def _leaf(self, expression: Expression) -> str:
        match expression:
            case Constant():
                return arithmetic.literal(expression)
            case Read(variable):
                return self._variables[variable]
            case Argument(parameter):
                return self._accesses.scalar(parameter)
            case Topology(name=name):
                return self._accesses.position(name)
            case Length(buffer=buffer):
                return self._accesses.length(buffer)
            case _:
                raise TypeError(f"{type(expression).__name__} has parts.")

    def _compound(self, expression: Expression, parts: list[str]) -> str:
        match expression:
            case Load(memory):
                return self._load(memory, parts[0])
            case Extent(buffer=buffer, what=what):
                sizes = self._accesses.sizes(buffer, what)
                return f"extent({sizes}, {parts[0]}, {buffer.name!r})"
            case Cast(type, value):
                return arithmetic.cast(parts[0], value.type, type)
            case Reinterpret(type, value):
                return arithmetic.reinterpret(parts[0], value.type, type)
            case Call(name=name, arguments=arguments):
                return arithmetic.call(name, parts, arguments[0].type)
            case _:
                return _operator(expression, parts)

    def _load(self, memory: Memory, index: str) -> str:
        if isinstance(memory, LocalArray):
            return f"read_local({self._accesses.local(memory)}, {index}, {memory.name!r})"
        return f"{self._accesses.reader(memory)}({index}, tag)"


def _operator(expression: Expression, parts: list[str]) -> str:
    match expression:
        case Unary(op, value):
            return arithmetic.unary(op, parts[0], value.type)
        case Binary(op):
            return arithmetic.binary(op, parts[0], parts[1], expression.type)
        case Compare(op):
            return f"({parts[0]} {COMPARE_SYMBOLS[op]} {parts[1]})"
        case Logical(op):
            return f"({parts[0]} {op} {parts[1]})"
        case Select(lazy=True):
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        case Select():  # both sides are evaluated, so that their faults show
            return f"({parts[2]}, {parts[1]})[{parts[0]}]"
        case _:
            raise TypeError(f"{type(expression).__name__} is no operator.")
