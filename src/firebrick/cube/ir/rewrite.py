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
    return change(map_parts(expression, lambda part: rewrite_expression(part, change)))


def map_parts(expression: Expression, change: Change) -> Expression:
    """An expression whose direct parts went through `change`."""
    match expression:
        case Load(memory, index):
            return Load(memory, change(index))
        case Extent(type, buffer, what, dim):
            return Extent(type, buffer, what, change(dim))
        case Unary(op, value):
            return Unary(op, change(value))
        case Cast(type, value):
            return Cast(type, change(value))
        case Reinterpret(type, value):
            return Reinterpret(type, change(value))
        case Call(type, name, arguments):
            return Call(type, name, tuple(map(change, arguments)))
        case _:
            return _map_sides(expression, change)


def _map_sides(expression: Expression, change: Change) -> Expression:
    match expression:
        case Binary(op, left, right):
            return Binary(op, change(left), change(right))
        case Compare(op, left, right):
            return Compare(op, change(left), change(right))
        case Logical(op, left, right):
            return Logical(op, change(left), change(right))
        case Select(condition, if_true, if_false, lazy):
            return Select(change(condition), change(if_true), change(if_false), lazy)
        case _:
            return expression


def rewrite_statement(statement: Statement, change: Change) -> Statement:
    """A statement whose own expressions went through `change`; bodies are left alone."""
    return map_expressions(statement, lambda one: rewrite_expression(one, change))


def map_expressions(statement: Statement, change: Change) -> Statement:
    """A statement with each of its own expressions, as a whole, replaced by what `change` gives."""
    match statement:
        case Assign(value=value):
            return replace(statement, value=change(value))
        case Store(index=index, value=value):
            return replace(statement, index=change(index), value=change(value))
        case VectorLoad(index=index):
            return replace(statement, index=change(index))
        case VectorStore(index=index, values=values):
            return replace(statement, index=change(index), values=tuple(map(change, values)))
        case Atomic(index=index, operands=operands):
            return replace(statement, index=change(index), operands=tuple(map(change, operands)))
        case Plane(operands=operands):
            return replace(statement, operands=tuple(map(change, operands)))
        case If(condition=condition) | While(condition=condition):
            return replace(statement, condition=change(condition))
        case For(start=start, stop=stop):
            return replace(statement, start=change(start), stop=change(stop))
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
