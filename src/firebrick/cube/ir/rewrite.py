"""Rewriting programs: every expression or statement passed through a function, bottom up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    operands,
)

Change = Callable[[Expression], Expression]
Expand = Callable[[Statement], Body]


def rewrite_expression(expression: Expression, change: Change) -> Expression:
    """An expression whose parts, then itself, went through `change`.

    Without recursion: expressions may be deeper than Python's stack.
    """
    done: list[Expression] = []
    pending = [(expression, False)]
    while pending:
        one, has_parts = pending.pop()
        parts = operands(one)
        if parts and not has_parts:
            pending.append((one, True))
            pending += [(part, False) for part in reversed(parts)]
            continue
        if parts:
            one = with_parts(one, done[-len(parts) :])
            del done[-len(parts) :]
        done.append(change(one))
    return done[0]


def map_parts(expression: Expression, change: Change) -> Expression:
    """An expression whose direct parts went through `change`."""
    return with_parts(expression, [change(part) for part in operands(expression)])


def with_parts(expression: Expression, parts: Sequence[Expression]) -> Expression:
    """An expression with other direct parts, given in the order of `operands`."""
    if all(new is old for new, old in zip(parts, operands(expression), strict=True)):
        return expression
    match expression:
        case Load(memory):
            return Load(memory, *parts)
        case Extent(type, buffer, what):
            return Extent(type, buffer, what, *parts)
        case Cast(type):
            return Cast(type, *parts)
        case Reinterpret(type):
            return Reinterpret(type, *parts)
        case Call(type, name):
            return Call(type, name, tuple(parts))
        case _:
            return _with_sides(expression, parts)


def _with_sides(expression: Expression, parts: Sequence[Expression]) -> Expression:
    match expression:
        case Unary(op):
            return Unary(op, *parts)
        case Binary(op):
            return Binary(op, *parts)
        case Compare(op):
            return Compare(op, *parts)
        case Logical(op):
            return Logical(op, *parts)
        case Select(lazy=lazy):
            return Select(*parts, lazy=lazy)
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
        case Atomic(index=index, operands=values):
            return replace(statement, index=change(index), operands=tuple(map(change, values)))
        case Plane(operands=values):
            return replace(statement, operands=tuple(map(change, values)))
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
