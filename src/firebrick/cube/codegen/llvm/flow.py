"""Questions about control flow: where jumps go, which variables are read before they are set."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Body,
    Break,
    Continue,
    Expression,
    For,
    If,
    Leave,
    Plane,
    Read,
    Region,
    Return,
    Statement,
    Sync,
    Variable,
    VectorLoad,
    While,
    expressions,
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

RETURN, BREAK, CONTINUE = "return", "break", "continue"
Variables: TypeAlias = frozenset[Variable]
NONE: Variables = frozenset()


def leave_key(label: str) -> str:
    """The key of a jump behind a region."""
    return f"leave {label}"


def conditions(statement: If) -> tuple[list[tuple[Expression, Body]], Body]:
    """A chain of `if`, `elif`, ... and what comes last; chains may be hundreds long."""
    chain = [(statement.condition, statement.then)]
    otherwise = statement.orelse
    while len(otherwise) == 1 and isinstance(following := otherwise[0], If):
        chain.append((following.condition, following.then))
        otherwise = following.orelse
    return chain, otherwise


def is_barrier(statement: Statement) -> bool:
    """Whether the units of a cube wait for each other; those of a plane, which is one, need not."""
    return isinstance(statement, Sync) and statement.scope != "plane"


def has_barrier(body: Body) -> bool:
    """Whether a barrier is anywhere inside."""
    return any(is_barrier(statement) for statement in walk(body))


def escapes(body: Body) -> frozenset[str]:
    """Keys of the jumps that leave a body."""
    found: frozenset[str] = frozenset()
    for statement in body:
        match statement:
            case Break():
                found |= {BREAK}
            case Continue():
                found |= {CONTINUE}
            case Return():
                found |= {RETURN}
            case Leave(label=label):
                found |= {leave_key(label)}
            case For(body=inner) | While(body=inner):
                found |= escapes(inner) - {BREAK, CONTINUE}
            case Region(label=label, body=inner):
                found |= escapes(inner) - {leave_key(label)}
            case If():
                chain, otherwise = conditions(statement)
                for part in (*(then for _, then in chain), otherwise):
                    found |= escapes(part)
            case _:
                continue
    return found


def reads(*values: Expression) -> Variables:
    """The variables that expressions read."""
    return frozenset(
        part.variable
        for value in values
        for part in walk_expressions(value)
        if isinstance(part, Read)
    )


def read_in(body: Body) -> Variables:
    """The variables that statements read."""
    return NONE.union(*(reads(*expressions(statement)) for statement in walk(body)))


def assigned(statement: Statement) -> Variables:
    """The variables that a statement sets itself."""
    match statement:
        case Assign(variable=variable) | For(variable=variable):
            return frozenset({variable})
        case VectorLoad(results=results) | Plane(results=results):
            return frozenset(results)
        case Atomic(result=Variable() as result):
            return frozenset({result})
        case _:
            return NONE


def assigned_in(body: Body) -> Variables:
    """The variables that statements set."""
    return NONE.union(*(assigned(statement) for statement in walk(body)))


def exposed(body: Body) -> Variables:
    """The variables that may be read before the body sets them."""
    return _live(body, NONE, {})


def _live(body: Body, after: Variables, jumps: Mapping[str, Variables]) -> Variables:
    """The variables whose value at the start matters, if those in `after` matter at the end."""
    live = after
    for statement in reversed(body):
        live = _live_before(statement, live, jumps)
    return live


def _live_before(
    statement: Statement, after: Variables, jumps: Mapping[str, Variables]
) -> Variables:
    match statement:
        case If():
            return _live_before_choice(statement, after, jumps)
        case For() | While():
            return _live_before_loop(statement, after, jumps)
        case Region(label=label, body=body):
            return _live(body, after, {**jumps, leave_key(label): after})
        case Break():
            return jumps.get(BREAK, NONE)
        case Continue():
            return jumps.get(CONTINUE, NONE)
        case Return():
            return NONE
        case Leave(label=label):
            return jumps.get(leave_key(label), NONE)
        case _:
            return (after - assigned(statement)) | reads(*expressions(statement))


def _live_before_choice(
    statement: If, after: Variables, jumps: Mapping[str, Variables]
) -> Variables:
    chain, otherwise = conditions(statement)
    live = _live(otherwise, after, jumps)
    for condition, then in reversed(chain):
        live |= _live(then, after, jumps) | reads(condition)
    return live


def _live_before_loop(
    loop: For | While, after: Variables, jumps: Mapping[str, Variables]
) -> Variables:
    repeated = reads(loop.condition) if isinstance(loop, While) else NONE
    head = after | repeated
    while True:
        inner = _live(loop.body, head, {**jumps, BREAK: after, CONTINUE: head})
        if isinstance(loop, For):
            inner -= {loop.variable}
        if inner <= head:
            break
        head |= inner
    return head | reads(loop.start, loop.stop) if isinstance(loop, For) else head
