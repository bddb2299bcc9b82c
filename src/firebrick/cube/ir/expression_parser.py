"""Expressions of the text form. Types of operators follow from their operands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

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
    ScalarParameter,
    Select,
    SharedArray,
    Topology,
    Unary,
    Variable,
)
from firebrick.cube.ir.symbols import (
    BINARY_OPS,
    COMPARE_OPS,
    MATH_NAMES,
    PRECEDENCE,
    PREDICATES,
    TOPOLOGY_NAMES,
    UNARY_PRECEDENCE,
)
from firebrick.cube.ir.types import BITS, BOOL, I32, Type, parse_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.ir.tokens import Cursor, Token

SPECIAL_FLOATS = {"inf": math.inf, "nan": math.nan}
D = TypeVar("D", Buffer, SharedArray, LocalArray, Variable, ScalarParameter)


@dataclass(slots=True)
class Names:
    """What the header of a function declares."""

    index_type: Type = I32
    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    scalars: dict[str, ScalarParameter] = field(default_factory=dict[str, ScalarParameter])
    shared: dict[str, SharedArray] = field(default_factory=dict[str, SharedArray])
    locals: dict[str, LocalArray] = field(default_factory=dict[str, LocalArray])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])

    def memory(self, cursor: Cursor) -> Memory:
        """The memory that the next word names."""
        token = cursor.token
        name = cursor.name("a memory")
        found = self.buffers.get(name) or self.shared.get(name) or self.locals.get(name)
        if found is None:
            raise cursor.error(f"there is no memory `{name}`.", token)
        return found

    def buffer(self, cursor: Cursor) -> Buffer:
        """The buffer that the next word names."""
        return _declared(self.buffers, cursor, "buffer")

    def variable(self, cursor: Cursor) -> Variable:
        """The variable that the next word names."""
        return _declared(self.variables, cursor, "variable")


def _declared(known: dict[str, D], cursor: Cursor, what: str) -> D:
    token = cursor.token
    name = cursor.name(f"a {what}")
    found = known.get(name)
    if found is None:
        raise cursor.error(f"there is no {what} `{name}`.", token)
    return found


class ExpressionParser:
    """Reads expressions from one line, by precedence."""

    def __init__(self, cursor: Cursor, names: Names) -> None:
        self._cursor = cursor
        self._names = names
        self._calls: dict[str, Callable[[], Expression]] = {
            "min": lambda: self._two("min"),
            "max": lambda: self._two("max"),
            "select": self._select,
            "reinterpret": self._reinterpret,
            "len": lambda: Length(names.index_type, names.buffer(cursor)),
        }

    def expression(self) -> Expression:
        """One expression; what comes behind it stays."""
        value = self._infix(PRECEDENCE["or"])
        if not self._cursor.accept("if"):
            return value
        condition = self._infix(PRECEDENCE["or"])
        self._cursor.expect("else")
        return Select(condition, value, self.expression(), lazy=True)

    def expressions(self) -> tuple[Expression, ...]:
        """One or more, between commas."""
        values = [self.expression()]
        while self._cursor.accept(","):
            values.append(self.expression())
        return tuple(values)

    def index(self) -> Expression:
        """An expression in brackets."""
        self._cursor.expect("[")
        value = self.expression()
        self._cursor.expect("]")
        return value

    # ---- operators ----------------------------------------------------------------------------

    def _infix(self, level: int) -> Expression:
        left = self._unary(level)
        while True:
            symbol = self._cursor.token.text
            precedence = PRECEDENCE.get(symbol, -1)
            if symbol in ("if", "not") or precedence < level:
                return left
            self._cursor.take()
            right = self._infix(precedence + 1)
            if symbol in COMPARE_OPS:
                self._no_chain()
            left = _apply(symbol, left, right)

    def _no_chain(self) -> None:
        if self._cursor.token.text in COMPARE_OPS:
            raise self._cursor.error("comparisons are not chained; write parentheses.")

    def _unary(self, level: int) -> Expression:
        cursor = self._cursor
        if level <= PRECEDENCE["not"] and cursor.accept("not"):
            return Unary("not", self._infix(PRECEDENCE["not"]))
        if cursor.accept("~"):
            return Unary("invert", self._unary(UNARY_PRECEDENCE))
        if cursor.accept("-"):
            if self._is_literal():
                return self._literal(sign=-1)
            return Unary("neg", self._unary(UNARY_PRECEDENCE))
        return self._atom()

    # ---- what stands by itself ----------------------------------------------------------------

    def _atom(self) -> Expression:
        cursor = self._cursor
        if cursor.accept("("):
            value = self.expression()
            cursor.expect(")")
            return value
        if self._is_literal():
            return self._literal(sign=1)
        token = cursor.token
        if token.text in ("True", "False"):
            return Constant(BOOL, cursor.take().text == "True")
        if token.kind != "name":
            raise cursor.error(f"expected a value, found `{token.text}`.")
        return self._named(token)

    def _named(self, token: Token) -> Expression:
        match self._cursor.ahead(1), self._cursor.ahead(2):
            case "(", _:
                return self._called(self._cursor.take())
            case "[", _:
                return Load(self._names.memory(self._cursor), self.index())
            case ".", "shape" | "stride" as what:
                return self._extent(what)
            case ".", name if token.text == "cube" and name in TOPOLOGY_NAMES:
                for _ in range(3):
                    self._cursor.take()
                return Topology(self._names.index_type, TOPOLOGY_NAMES[name])
            case _:
                return self._number(token)

    def _number(self, token: Token) -> Expression:
        variable = self._names.variables.get(token.text)
        scalar = self._names.scalars.get(token.text)
        if variable is None and scalar is None:
            raise self._cursor.error(f"there is no variable or scalar `{token.text}`.")
        self._cursor.take()
        if variable is not None:
            return Read(variable)
        assert scalar is not None  # one of the two is known
        return Argument(scalar)

    def _extent(self, what: Literal["shape", "stride"]) -> Expression:
        buffer = self._names.buffer(self._cursor)
        self._cursor.expect(".")
        self._cursor.take()
        return Extent(self._names.index_type, buffer, what, self.index())

    def _is_literal(self) -> bool:
        cursor = self._cursor
        is_special = cursor.ahead(1) == "." and cursor.ahead(2) in SPECIAL_FLOATS
        return cursor.token.kind == "number" or (cursor.token.text in BITS and is_special)

    def _literal(self, sign: int) -> Constant:
        token = self._cursor.take()
        if token.kind == "name":
            self._cursor.expect(".")
            value = SPECIAL_FLOATS[self._cursor.take().text]
            return Constant(parse_type(token.text), value if sign > 0 else -value)
        digits, _, name = token.text.partition("_")
        if name not in BITS:
            raise self._cursor.error(
                f"`{token.text}` needs a type behind it, such as `{digits}_i32`.", token
            )
        type = parse_type(name)
        if type.is_float:
            return Constant(type, sign * float(digits))
        if not digits.isdecimal() or type == BOOL:
            raise self._cursor.error(f"`{digits}` is no value of type {type}.", token)
        return Constant(type, sign * int(digits))

    # ---- calls --------------------------------------------------------------------------------

    def _called(self, token: Token) -> Expression:
        self._cursor.expect("(")
        if token.text in BITS:
            done: Expression = Cast(parse_type(token.text), self.expression())
        elif token.text in MATH_NAMES:
            values = self.expressions()
            type = BOOL if token.text in PREDICATES else values[0].type
            done = Call(type, MATH_NAMES[token.text], values)
        elif token.text in self._calls:
            done = self._calls[token.text]()
        else:
            raise self._cursor.error(f"there is no function `{token.text}`.", token)
        self._cursor.expect(")")
        return done

    def _two(self, op: Literal["min", "max"]) -> Expression:
        left = self.expression()
        self._cursor.expect(",")
        return Binary(op, left, self.expression())

    def _select(self) -> Expression:
        condition = self.expression()
        self._cursor.expect(",")
        if_true = self.expression()
        self._cursor.expect(",")
        return Select(condition, if_true, self.expression())

    def _reinterpret(self) -> Expression:
        value = self.expression()
        self._cursor.expect(",")
        return Reinterpret(read_type(self._cursor), value)


def _apply(symbol: str, left: Expression, right: Expression) -> Expression:
    if symbol in BINARY_OPS:
        return Binary(BINARY_OPS[symbol], left, right)
    if symbol in COMPARE_OPS:
        return Compare(COMPARE_OPS[symbol], left, right)
    return Logical("and" if symbol == "and" else "or", left, right)


def read_type(cursor: Cursor) -> Type:
    """The type that the next word names."""
    token = cursor.token
    name = cursor.name("a type")
    if name not in BITS:
        raise cursor.error(f"there is no type `{name}`; known are {', '.join(BITS)}.", token)
    return parse_type(name)
