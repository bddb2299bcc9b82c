"""Reads the text that `printer.py` writes: `parse_function(print_function(f)) == f`.

Meant for tests and for looking at what passes do. It resolves names; whether the function makes
sense is `verifier.py`'s affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_parser import ExpressionParser, Names, read_type
from firebrick.cube.ir.nodes import (
    Body,
    Buffer,
    Constant,
    For,
    Function,
    If,
    LocalArray,
    Region,
    ScalarParameter,
    SharedArray,
    Statement,
    Variable,
    While,
)
from firebrick.cube.ir.statement_parser import StatementParser
from firebrick.cube.ir.tokens import Cursor, Line, read_lines, text_error
from firebrick.cube.ir.types import I32, I64

if TYPE_CHECKING:
    from collections.abc import Callable


def parse_function(text: str) -> Function:
    """The function that a text describes; `KernelError` naming line and column if it cannot be."""
    return _Parser(read_lines(text)).function()


class _Parser:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._position = 0
        self._names = Names()
        self._cube_dim = (1, 1, 1)
        self._name = ""
        self._declarations: dict[str, Callable[[Cursor], None]] = {
            "kernel": self._kernel,
            "index": self._index_type,
            "cube_dim": self._dimensions,
            "buffer": self._buffer,
            "scalar": self._scalar,
            "shared": self._shared,
            "local": self._local,
            "variable": self._variable,
        }

    def function(self) -> Function:
        while not self._is_body():
            self._declaration()
        self._position += 1
        body = self._block(above=-1)
        if self._position < len(self._lines):
            line = self._lines[self._position]
            raise text_error(
                line.number, line.indent + 1, "this line is indented like none above it."
            )
        names = self._names
        return Function(
            self._name,
            tuple(names.buffers.values()),
            tuple(names.scalars.values()),
            tuple(names.shared.values()),
            tuple(names.locals.values()),
            tuple(names.variables.values()),
            body,
            names.index_type,
            self._cube_dim,
        )

    # ---- declarations -------------------------------------------------------------------------

    def _is_body(self) -> bool:
        if self._position == len(self._lines):
            last = self._lines[-1].number if self._lines else 0
            raise text_error(last + 1, 1, "expected `body:` before the end of the text.")
        return self._lines[self._position].tokens[0].text == "body"

    def _declaration(self) -> None:
        cursor = Cursor(self._lines[self._position])
        self._position += 1
        token = cursor.take()
        declare = self._declarations.get(token.text)
        if declare is None:
            raise cursor.error(
                f"expected `body:` or one of {', '.join(self._declarations)}; "
                f"found `{token.text}`.",
                token,
            )
        declare(cursor)
        cursor.end()

    def _kernel(self, cursor: Cursor) -> None:
        self._name = cursor.name("the kernel's name")

    def _index_type(self, cursor: Cursor) -> None:
        token = cursor.token
        self._names.index_type = read_type(cursor)
        if self._names.index_type not in (I32, I64):
            raise cursor.error("the index type is i32 or i64.", token)

    def _dimensions(self, cursor: Cursor) -> None:
        x = cursor.integer("units along x")
        cursor.expect(",")
        y = cursor.integer("units along y")
        cursor.expect(",")
        self._cube_dim = (x, y, cursor.integer("units along z"))

    def _declared_name(self, cursor: Cursor) -> str:
        token = cursor.token
        name = cursor.name("a name")
        names = self._names
        groups = (names.buffers, names.scalars, names.shared, names.locals, names.variables)
        if any(name in group for group in groups):
            raise cursor.error(f"`{name}` is declared already.", token)
        cursor.expect(":")
        return name

    def _buffer(self, cursor: Cursor) -> None:
        name = self._declared_name(cursor)
        mutable = cursor.accept("mut")
        type = read_type(cursor)
        cursor.expect(",")
        cursor.expect("rank")
        rank = cursor.integer("a rank")
        position = self._parameter_position(cursor)
        self._names.buffers[name] = Buffer(name, type, rank, mutable, position)

    def _scalar(self, cursor: Cursor) -> None:
        name = self._declared_name(cursor)
        type = read_type(cursor)
        self._names.scalars[name] = ScalarParameter(name, type, self._parameter_position(cursor))

    def _parameter_position(self, cursor: Cursor) -> int:
        cursor.expect(",")
        cursor.expect("position")
        return cursor.integer("a position")

    def _shared(self, cursor: Cursor) -> None:
        name = self._declared_name(cursor)
        self._names.shared[name] = SharedArray(name, read_type(cursor), self._size(cursor))

    def _local(self, cursor: Cursor) -> None:
        name = self._declared_name(cursor)
        self._names.locals[name] = LocalArray(name, read_type(cursor), self._size(cursor))

    def _size(self, cursor: Cursor) -> int:
        cursor.expect("[")
        size = cursor.integer("a size")
        cursor.expect("]")
        return size

    def _variable(self, cursor: Cursor) -> None:
        name = self._declared_name(cursor)
        self._names.variables[name] = Variable(name, read_type(cursor))

    # ---- blocks -------------------------------------------------------------------------------

    def _block(self, above: int) -> Body:
        """The lines that are indented more than `above`, all alike."""
        statements: list[Statement] = []
        first = self._next_indent()
        if first <= above:
            line = self._lines[self._position - 1]
            raise text_error(line.number, line.tokens[-1].column, "expected indented lines below.")
        while self._next_indent() == first:
            statements += self._statement(first)
        return tuple(statements)

    def _next_indent(self) -> int:
        if self._position == len(self._lines):
            return -1
        return self._lines[self._position].indent

    def _statement(self, indent: int) -> list[Statement]:
        cursor = Cursor(self._lines[self._position])
        self._position += 1
        if cursor.accept("if"):
            return [self._if(cursor, indent)]
        if cursor.token.text in ("for", "while"):
            return [self._loop(cursor, indent)]
        if cursor.token.text == "region" and cursor.line.tokens[1].kind == "name":
            cursor.take()
            label = cursor.name("a label")
            return [Region(label, self._body(cursor, indent))]
        is_empty = cursor.accept("pass")
        statements = [] if is_empty else [StatementParser(cursor, self._names).statement()]
        cursor.end()
        return statements

    def _body(self, cursor: Cursor, indent: int) -> Body:
        cursor.expect(":")
        cursor.end()
        return self._block(above=indent)

    def _if(self, cursor: Cursor, indent: int) -> If:
        condition = ExpressionParser(cursor, self._names).expression()
        then = self._body(cursor, indent)
        if self._next_indent() != indent:
            return If(condition, then)
        following = Cursor(self._lines[self._position])
        if following.accept("elif"):
            self._position += 1
            return If(condition, then, (self._if(following, indent),))
        if following.accept("else"):
            self._position += 1
            return If(condition, then, self._body(following, indent))
        return If(condition, then)

    def _loop(self, cursor: Cursor, indent: int) -> Statement:
        values = ExpressionParser(cursor, self._names)
        if cursor.take().text == "while":
            condition = values.expression()
            return While(condition, self._body(cursor, indent))
        variable = self._names.variable(cursor)
        cursor.expect("in")
        cursor.expect("range")
        cursor.expect("(")
        token = cursor.token
        bounds = values.expressions()
        cursor.expect(")")
        if len(bounds) != 3 or not isinstance(bounds[2], Constant):
            raise cursor.error("`range` takes start, stop and a constant step.", token)
        return For(variable, bounds[0], bounds[1], bounds[2], self._body(cursor, indent))
