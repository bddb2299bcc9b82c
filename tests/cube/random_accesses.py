"""Kernels that access memory out of range, and the plainest guards against it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Literal

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Binary,
    Body,
    Buffer,
    Compare,
    Constant,
    Expression,
    Extent,
    Function,
    If,
    Length,
    Load,
    Logical,
    Memory,
    Select,
    Statement,
    Store,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.ir.types import BOOL, Type

OFFSETS = [-3, -1, 1, 2, 5, -(2**31), 2**31 - 1]
OPERATORS: list[Literal["add", "sub"]] = ["add", "sub"]


def shifted(random: Random, function: Function) -> Function:
    """The kernel with numbers added to some of its indices and dimensions."""

    def elsewhere(index: Expression) -> Expression:
        if random.random() < 0.5:
            return index
        offset = Constant(index.type, random.choice(OFFSETS))
        return Binary(random.choice(OPERATORS), index, offset)

    def change(expression: Expression) -> Expression:
        match expression:
            case Load(memory, index):
                return Load(memory, elsewhere(index))
            case Extent(dim=dim) if not isinstance(dim, Constant):
                return replace(expression, dim=elsewhere(dim))
            case _:
                return expression

    def expand(statement: Statement) -> Body:
        if isinstance(statement, Store | Atomic):
            return (replace(statement, index=elsewhere(statement.index)),)
        return (statement,)

    return replace(function, body=rewrite_body(function.body, change, expand))


def guarded_everywhere(function: Function) -> Function:
    """The kernel with two comparisons at each access, whatever is known of it."""

    def change(expression: Expression) -> Expression:
        match expression:
            case Load(memory, index):
                return _chosen(index, _size(memory, index.type), expression)
            case Extent(type, buffer, _, dim) if not isinstance(dim, Constant):
                return _chosen(dim, Constant(type, buffer.rank), expression)
            case _:
                return expression

    def expand(statement: Statement) -> Body:
        if not isinstance(statement, Store | Atomic):
            return (statement,)
        index = statement.index
        result = statement.result if isinstance(statement, Atomic) else None
        dropped = () if result is None else (Assign(result, _zero(result.type)),)
        return (If(_inside(index, _size(statement.memory, index.type)), (statement,), dropped),)

    return replace(function, body=rewrite_body(function.body, change, expand))


def _chosen(index: Expression, size: Expression, value: Expression) -> Expression:
    return Select(_inside(index, size), value, _zero(value.type), lazy=True)


def _inside(index: Expression, size: Expression) -> Expression:
    not_below = Compare("ge", index, _zero(index.type))
    return Logical("and", not_below, Compare("lt", index, size))


def _size(memory: Memory, type: Type) -> Expression:
    return Length(type, memory) if isinstance(memory, Buffer) else Constant(type, memory.size)


def _zero(type: Type) -> Constant:
    return Constant(type, False if type == BOOL else 0.0 if type.is_float else 0)
