"""Rewriting programs: every expression or statement passed through a function, bottom up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Binary,
    Body,
    Buffer,
    Call,
    Cast,
    Compare,
    Expression,
    Extent,
    For,
    Function,
    If,
    Length,
    Load,
    Logical,
    Plane,
    Region,
    Reinterpret,
    Select,
    Statement,
    Store,
    Unary,
    VectorLoad,
    VectorStore,
    While,
)

Change = Callable[[Expression], Expression]
Expand = Callable[[Statement], Body]


def rewrite_expression(expression: Expression, change: Change) -> Expression:
    """An expression whose parts, then itself, went through `change`."""
    match expression:
        case Load(memory, index):
            rebuilt: Expression = Load(memory, rewrite_expression(index, change))
        case Extent(type, buffer, what, dim):
            rebuilt = Extent(type, buffer, what, rewrite_expression(dim, change))
        case Unary(op, value):
            rebuilt = Unary(op, rewrite_expression(value, change))
        case Cast(type, value):
            rebuilt = Cast(type, rewrite_expression(value, change))
        case Reinterpret(type, value):
            rebuilt = Reinterpret(type, rewrite_expression(value, change))
        case Call(type, name, arguments):
            rebuilt = Call(type, name, tuple(rewrite_expression(a, change) for a in arguments))
        case _:
            rebuilt = _rewrite_pair(expression, change)
    return change(rebuilt)


def _rewrite_pair(expression: Expression, change: Change) -> Expression:
    match expression:
        case Binary(op, left, right):
            return Binary(op, rewrite_expression(left, change), rewrite_expression(right, change))
        case Compare(op, left, right):
            return Compare(op, rewrite_expression(left, change), rewrite_expression(right, change))
        case Logical(op, left, right):
            return Logical(op, rewrite_expression(left, change), rewrite_expression(right, change))
        case Select(condition, if_true, if_false, lazy):
            return Select(
                rewrite_expression(condition, change),
                rewrite_expression(if_true, change),
                rewrite_expression(if_false, change),
                lazy,
            )
        case _:
            return expression


def rewrite_statement(statement: Statement, change: Change) -> Statement:
    """A statement whose own expressions went through `change`; bodies are left alone."""

    def one(expression: Expression) -> Expression:
        return rewrite_expression(expression, change)

    match statement:
        case Assign(value=value):
            return replace(statement, value=one(value))
        case Store(index=index, value=value):
            return replace(statement, index=one(index), value=one(value))
        case VectorLoad(index=index):
            return replace(statement, index=one(index))
        case VectorStore(index=index, values=values):
            return replace(statement, index=one(index), values=tuple(map(one, values)))
        case Atomic(index=index, operands=operands):
            return replace(statement, index=one(index), operands=tuple(map(one, operands)))
        case Plane(operands=operands):
            return replace(statement, operands=tuple(map(one, operands)))
        case If(condition=condition) | While(condition=condition):
            return replace(statement, condition=one(condition))
        case For(start=start, stop=stop):
            return replace(statement, start=one(start), stop=one(stop))
        case _:
            return statement


def rewrite_body(body: Body, change: Change | None = None, expand: Expand | None = None) -> Body:
    """A body whose expressions went through `change`, then each statement through `expand`.

    `expand` sees a statement after its inner bodies and gives what takes its place.
    """
    done: list[Statement] = []
    for statement in body:
        one = statement if change is None else rewrite_statement(statement, change)
        one = _with_bodies(one, change, expand)
        done += (one,) if expand is None else expand(one)
    return tuple(done)


def _with_bodies(statement: Statement, change: Change | None, expand: Expand | None) -> Statement:
    match statement:
        case If(then=then, orelse=orelse):
            return replace(
                statement,
                then=rewrite_body(then, change, expand),
                orelse=rewrite_body(orelse, change, expand),
            )
        case For(body=body) | While(body=body) | Region(body=body):
            return replace(statement, body=rewrite_body(body, change, expand))
        case _:
            return statement


def replace_buffers(function: Function, new: Mapping[Buffer, Buffer]) -> Function:
    """The function with buffers exchanged wherever they stand."""

    def change(expression: Expression) -> Expression:
        match expression:
            case Load(Buffer() as memory, index):
                return Load(new.get(memory, memory), index)
            case Length(type, buffer):
                return Length(type, new.get(buffer, buffer))
            case Extent(type, buffer, what, dim):
                return Extent(type, new.get(buffer, buffer), what, dim)
            case _:
                return expression

    def expand(statement: Statement) -> Body:
        match statement:
            case Store(Buffer() as memory) | Atomic(memory=Buffer() as memory):
                return (replace(statement, memory=new.get(memory, memory)),)
            case VectorLoad(buffer) | VectorStore(buffer):
                return (replace(statement, buffer=new.get(buffer, buffer)),)
            case _:
                return (statement,)

    return replace(
        function,
        buffers=tuple(new.get(buffer, buffer) for buffer in function.buffers),
        body=rewrite_body(function.body, change, expand),
    )
