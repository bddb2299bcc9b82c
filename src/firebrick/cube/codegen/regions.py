"""Regions made of conditions and loops, for targets without jumps.

- What follows an `If` whose branch leaves goes into the other branch.
- Elsewhere leaving sets a flag; what follows is guarded by it, and a loop on the way is broken out
  of. No loop is added: some drivers count the trips of all loops together.

    region r:                       if x < 0:
        if x < 0:                       y = 1
            y = 1            ->     else:
            leave r                     y = 2
        y = 2
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

from firebrick.cube.ir.nodes import (
    Assign,
    Body,
    Break,
    Constant,
    Continue,
    Expression,
    For,
    Function,
    If,
    Leave,
    Logical,
    Read,
    Region,
    Return,
    Statement,
    Unary,
    Variable,
    While,
    expressions,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.rewrite import rewrite_body
from firebrick.cube.ir.types import BOOL

Flags = frozenset[Variable]
_NONE: Flags = frozenset()


def without_regions(function: Function) -> Function:
    """The function without `Region` and `Leave`."""
    work = _Remover(function)
    body, _ = work.body(function.body)
    read = {
        part.variable
        for statement in walk(body)
        for expression in expressions(statement)
        for part in walk_expressions(expression)
        if isinstance(part, Read)
    }
    unread = {flag for flag in work.flags if flag not in read}

    def without_unread(statement: Statement) -> Body:
        is_idle = isinstance(statement, Assign) and statement.variable in unread
        return () if is_idle else (statement,)

    flags = tuple(flag for flag in work.flags if flag in read)
    return replace(
        function,
        body=rewrite_body(body, expand=without_unread),
        variables=(*function.variables, *flags),
    )


@dataclass(slots=True)
class _Frame:
    """A region, or a loop with the flags of the regions that are left out of it."""

    label: str | None
    flag: Variable | None
    left: set[Variable] = field(default_factory=set[Variable])


class _Remover:
    """Each method gives statements and the flags that may be set when they end."""

    def __init__(self, function: Function) -> None:
        self.flags: list[Variable] = []
        declared = (*function.buffers, *function.shared, *function.locals, *function.scalars)
        self._taken = {item.name for item in (*declared, *function.variables)}
        self._frames: list[_Frame] = []

    def body(self, body: Body) -> tuple[Body, Flags]:
        done: list[Statement] = []
        for position, statement in enumerate(body):
            rest = body[position + 1 :]
            if isinstance(statement, If) and rest:
                parts, left = self._if_before(statement, rest)
                if left is not None:
                    return (*done, *parts), left
            else:
                parts, left = self._statement(statement)
                if left and rest:
                    guarded, more = self._guarded(left, rest)
                    return (*done, *parts, guarded), left | more
                if left or isinstance(statement, Break | Continue | Return | Leave):
                    return (*done, *parts), left
            done += parts
        return tuple(done), _NONE

    def _guarded(self, left: Flags, rest: Body) -> tuple[Statement, Flags]:
        body, more = self.body(rest)
        ordered = [flag for flag in self.flags if flag in left]
        conditions: list[Expression] = [Unary("not", Read(flag)) for flag in ordered]
        return If(reduce(lambda a, b: Logical("and", a, b), conditions), body), more

    def _if_before(self, statement: If, rest: Body) -> tuple[Body, Flags | None]:
        """An `If` and what follows; None for flags if what follows is still to be done."""
        then, left_then = self.body(statement.then)
        orelse, left_else = self.body(statement.orelse)
        left = left_then | left_else
        flat = replace(statement, then=then, orelse=orelse)
        if not left:
            return (flat,), None
        if not left_else and isinstance(statement.then[-1], Leave):
            following, more = self.body(rest)
            return (replace(flat, orelse=(*orelse, *following)),), left | more
        if not left_then and isinstance(statement.orelse[-1], Leave):
            following, more = self.body(rest)
            return (replace(flat, then=(*then, *following)),), left | more
        guarded, more = self._guarded(left, rest)
        return (flat, guarded), left | more

    def _statement(self, statement: Statement) -> tuple[Body, Flags]:
        match statement:
            case If(then=then, orelse=orelse):
                yes, left_yes = self.body(then)
                no, left_no = self.body(orelse)
                return (replace(statement, then=yes, orelse=no),), left_yes | left_no
            case For() | While():
                return self._loop(statement)
            case Region():
                return self._region(statement)
            case Leave(label=label):
                return self._leave(label)
            case _:
                return (statement,), _NONE

    def _loop(self, loop: For | While) -> tuple[Body, Flags]:
        frame = _Frame(None, None)
        self._frames.append(frame)
        body, _ = self.body(loop.body)
        self._frames.pop()
        flat = replace(loop, body=body)
        outer = [flag for flag in self.flags if flag in frame.left and self._is_in_loop(flag)]
        if not outer:
            return (flat,), frozenset(frame.left)
        self._innermost_loop().left.update(outer)
        conditions: list[Expression] = [Read(flag) for flag in outer]
        leave = If(reduce(lambda a, b: Logical("or", a, b), conditions), (Break(),))
        return (flat, leave), frozenset(frame.left) - frozenset(outer)

    def _region(self, region: Region) -> tuple[Body, Flags]:
        flag = self._new_flag()
        self._frames.append(_Frame(region.label, flag))
        body, left = self.body(region.body)
        self._frames.pop()
        return (Assign(flag, Constant(BOOL, False)), *body), left - {flag}

    def _leave(self, label: str) -> tuple[Body, Flags]:
        flag = next(f.flag for f in reversed(self._frames) if f.label == label)
        assert flag is not None  # frames with a label have one
        left = Assign(flag, Constant(BOOL, True))
        if not self._is_in_loop(flag):
            return (left,), frozenset({flag})
        self._innermost_loop().left.add(flag)
        return (left, Break()), _NONE

    def _is_in_loop(self, flag: Variable) -> bool:
        """Whether there is a loop here inside the region of that flag."""
        at = next(i for i, frame in enumerate(self._frames) if frame.flag == flag)
        return any(frame.label is None for frame in self._frames[at:])

    def _innermost_loop(self) -> _Frame:
        return next(frame for frame in reversed(self._frames) if frame.label is None)

    def _new_flag(self) -> Variable:
        count = len(self.flags) + 1
        while (name := f"left_{count}") in self._taken:
            count += 1
        self._taken.add(name)
        self.flags.append(Variable(name, BOOL))
        return self.flags[-1]
