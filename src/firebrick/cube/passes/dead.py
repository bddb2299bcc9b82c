"""Removes what has no effect.

The rules, named where they apply:

    ROOT         writing a buffer, a barrier, a jump, and `while`, which may not end, are wanted.
    WANTED       a statement is wanted if it is a root or sets what a wanted statement reads; so is
                 everything around it. All else goes.
    MEMORY       writing local or shared memory is wanted only if a wanted statement reads it.
    ENDS         a `for` surely ends: without a wanted statement inside it goes, its jumps too.
    UNREACHABLE  what follows `return`, `break`, `continue` or `leave` goes.
    TAIL         a jump to where the program goes anyway goes.
    REGION       a region that nothing leaves is its body.
    DECLARED     variables and arrays that nothing speaks of are not declared; buffers and scalars
                 stay, since the host gives them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Break,
    Buffer,
    Continue,
    For,
    If,
    Leave,
    Load,
    Plane,
    Region,
    Return,
    Statement,
    Store,
    VectorLoad,
    While,
    bodies,
    expressions,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.passes.effects import (
    all_expressions,
    left_labels,
    never_ends,
    read_variables,
    results,
)

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Body, Function, Memory, Variable


def remove_dead(function: Function) -> Function:
    """The function without statements and declarations that nobody notices."""
    while True:
        reached = _without_tail(_reached(function.body), Return)
        body = _Marker(reached).kept()
        if body == function.body:
            return _declared(replace(function, body=body))
        function = replace(function, body=body)


# ---- jumps ------------------------------------------------------------------------------------


def _reached(body: Body) -> Body:
    return _cut(rewrite_body(body, expand=_shortened))


def _cut(body: Body) -> Body:
    """A body up to its first jump."""
    for position in range(len(body)):
        if never_ends(body[: position + 1]):
            return body[: position + 1]  # UNREACHABLE
    return body


def _shortened(statement: Statement) -> Body:
    """A statement whose inner bodies are done."""
    match statement:
        case If(then=then, orelse=orelse):
            return (replace(statement, then=_cut(then), orelse=_cut(orelse)),)
        case For(body=body) | While(body=body):
            return (replace(statement, body=_without_tail(_cut(body), Continue)),)
        case Region(label=label, body=body):
            inner = _without_tail(_cut(body), label)
            return (replace(statement, body=inner),) if label in left_labels(inner) else inner
        case _:
            return (statement,)


def _without_tail(body: Body, jump: type[Continue | Return] | str) -> Body:
    """A body without the jumps, of a kind or to a label, that stand at its end."""
    if not body:
        return body
    *first, last = body
    match last:
        case Leave(label=label) if label == jump:  # TAIL
            return _without_tail(tuple(first), jump)
        case Continue() | Return() if jump is type(last):
            return _without_tail(tuple(first), jump)
        case If(then=then, orelse=orelse):
            then, orelse = _without_tail(then, jump), _without_tail(orelse, jump)
            return *first, replace(last, then=then, orelse=orelse)
        case Region(body=inner):
            return *first, replace(last, body=_without_tail(inner, jump))
        case _:
            return body


# ---- wanted -----------------------------------------------------------------------------------


_STRUCTURE = Break | Continue | If | Region
"""Wanted in a loop only for the sake of something else in it."""


class _Marker:
    """Finds what is wanted, growing until nothing is added."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._variables: set[Variable] = set()
        self._memory: set[Memory] = set()

    def kept(self) -> Body:
        """The body without what is not wanted."""
        size = -1
        while size != len(self._variables) + len(self._memory):
            size = len(self._variables) + len(self._memory)
            self._mark(self._body)
        return self._sweep(self._body)

    def _mark(self, body: Body) -> None:
        for statement in body:
            if not self._is_wanted(statement):
                continue
            if isinstance(statement, Atomic):
                self._memory.add(statement.memory)
            for expression in expressions(statement):
                self._variables |= read_variables(expression)
                parts = walk_expressions(expression)
                self._memory |= {part.memory for part in parts if isinstance(part, Load)}
            for inner in bodies(statement):
                self._mark(inner)

    def _is_wanted(self, statement: Statement) -> bool:
        match statement:
            case Store(memory=memory):
                return self._is_noticed(memory)  # MEMORY
            case Assign() | VectorLoad() | Plane():
                return self._sets_wanted(statement)
            case Atomic(op=op, memory=memory):
                return self._sets_wanted(statement) or (op != "load" and self._is_noticed(memory))
            case For(body=body):
                inside = (s for s in walk(body) if not isinstance(s, _STRUCTURE))  # ENDS
                return self._sets_wanted(statement) or any(map(self._is_wanted, inside))
            case If() | Region():
                return any(map(self._is_wanted, (s for b in bodies(statement) for s in b)))
            case _:
                return True  # ROOT

    def _is_noticed(self, memory: Memory) -> bool:
        return isinstance(memory, Buffer) or memory in self._memory

    def _sets_wanted(self, statement: Statement) -> bool:
        return any(variable in self._variables for variable in results(statement))

    def _sweep(self, body: Body) -> Body:
        kept: list[Statement] = []
        for statement in filter(self._is_wanted, body):
            match statement:
                case If(then=then, orelse=orelse):
                    swept = self._sweep(then), self._sweep(orelse)
                    kept.append(replace(statement, then=swept[0], orelse=swept[1]))
                case For(body=inner) | While(body=inner) | Region(body=inner):
                    kept.append(replace(statement, body=self._sweep(inner)))
                case Atomic() if not self._sets_wanted(statement):
                    kept.append(replace(statement, result=None))
                case _:
                    kept.append(statement)
        return tuple(kept)


def _declared(function: Function) -> Function:
    """The function with the declarations that its body needs."""
    named: set[Variable | Memory] = set()
    for statement in walk(function.body):
        named.update(results(statement))
        if isinstance(statement, Store | Atomic):
            named.add(statement.memory)
    for expression in all_expressions(function.body):
        named |= read_variables(expression)
        if isinstance(expression, Load):
            named.add(expression.memory)
    return replace(
        function,
        variables=tuple(variable for variable in function.variables if variable in named),
        shared=tuple(array for array in function.shared if array in named),
        locals=tuple(array for array in function.locals if array in named),
    )
