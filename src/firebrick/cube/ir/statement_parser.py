"""Statements of the text form that take one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.ir.expression_parser import ExpressionParser
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Break,
    Continue,
    Leave,
    LocalArray,
    Plane,
    Return,
    Store,
    Sync,
    VectorLoad,
    VectorStore,
)
from firebrick.cube.ir.symbols import ATOMIC_OPS, PLANE_OPS

if TYPE_CHECKING:
    from firebrick.cube.ir.expression_parser import Names
    from firebrick.cube.ir.nodes import Buffer, Expression, Statement, Variable
    from firebrick.cube.ir.tokens import Cursor


class StatementParser:
    """Reads a statement that takes one line."""

    def __init__(self, cursor: Cursor, names: Names) -> None:
        self._cursor = cursor
        self._names = names
        self._values = ExpressionParser(cursor, names)

    def statement(self) -> Statement:
        """The statement; what comes behind it stays."""
        cursor = self._cursor
        match cursor.ahead(1), cursor.ahead(2):
            case "=" | ",", _:
                return self._set()
            case "[", _:
                return self._store()
            case ".", "vector":
                return self._vector_store()
            case ".", _ if cursor.token.text == "atomic":
                return self._atomic(None)
            case _:
                return self._jump()

    def _jump(self) -> Statement:
        token = self._cursor.take()
        match token.text:
            case "break":
                return Break()
            case "continue":
                return Continue()
            case "return":
                return Return()
            case "leave":
                return Leave(self._cursor.name("a label"))
            case "sync":
                return self._sync()
            case _:
                raise self._cursor.error(f"`{token.text}` begins no statement.", token)

    def _sync(self) -> Sync:
        token = self._cursor.token
        match self._cursor.name("what is synchronized"):
            case "cube" | "plane" | "storage" as scope:
                return Sync(scope)
            case _:
                raise self._cursor.error("`sync` is followed by cube, plane or storage.", token)

    def _store(self) -> Store:
        memory = self._names.memory(self._cursor)
        index = self._values.index()
        self._cursor.expect("=")
        return Store(memory, index, self._values.expression())

    def _vector_store(self) -> VectorStore:
        buffer, index = self._vector()
        self._cursor.expect("=")
        return VectorStore(buffer, index, self._values.expressions())

    def _set(self) -> Statement:
        cursor = self._cursor
        first = cursor.token
        targets = [self._names.variable(cursor)]
        while cursor.accept(","):
            targets.append(self._names.variable(cursor))
        cursor.expect("=")
        match cursor.token.text, cursor.ahead(1), cursor.ahead(2):
            case _, ".", "vector":
                return VectorLoad(*self._vector(), tuple(targets))
            case "plane", ".", op if op in PLANE_OPS:
                return self._plane(tuple(targets))
            case _ if len(targets) > 1:
                raise cursor.error(
                    "several variables are set by `.vector[...]` or `plane` only.", first
                )
            case "atomic", ".", op if op in ATOMIC_OPS:
                return self._atomic(targets[0])
            case _:
                return Assign(targets[0], self._values.expression())

    def _vector(self) -> tuple[Buffer, Expression]:
        buffer = self._names.buffer(self._cursor)
        self._cursor.expect(".")
        self._cursor.expect("vector")
        return buffer, self._values.index()

    def _plane(self, results: tuple[Variable, ...]) -> Plane:
        op = PLANE_OPS[self._operation()]
        self._cursor.expect("(")
        values = () if self._cursor.token.text == ")" else self._values.expressions()
        self._cursor.expect(")")
        return Plane(op, values, results)

    def _atomic(self, result: Variable | None) -> Atomic:
        token = self._cursor.token
        op = ATOMIC_OPS.get(self._operation())
        if op is None:
            raise self._cursor.error(f"`atomic` has {', '.join(ATOMIC_OPS)}.", token)
        self._cursor.expect("(")
        token = self._cursor.token
        memory = self._names.memory(self._cursor)
        if isinstance(memory, LocalArray):
            raise self._cursor.error("atomics work on buffers and shared memory.", token)
        index = self._values.index()
        values = self._values.expressions() if self._cursor.accept(",") else ()
        self._cursor.expect(")")
        return Atomic(op, memory, index, values, result)

    def _operation(self) -> str:
        """The name behind `plane.` or `atomic.`."""
        self._cursor.take()
        self._cursor.expect(".")
        return self._cursor.name("an operation")
