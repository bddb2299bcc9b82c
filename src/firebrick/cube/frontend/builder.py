"""Collects what a kernel declares and does while it is lowered."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Assign,
    Buffer,
    Expression,
    LocalArray,
    Location,
    Read,
    ScalarParameter,
    SharedArray,
    Statement,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from firebrick.cube.ir.types import Type


class RestartError(Exception):
    """Inside the package only: a variable turned out to have a stronger type; lower again."""


@dataclass(slots=True)
class VariableType:
    """What is known of a variable's type so far; a weak one may still become another."""

    type: Type
    weak: bool


@dataclass(slots=True)
class Builder:
    """One kernel in the making."""

    index_type: Type
    cube_dim: tuple[int, int, int]
    variable_types: dict[str, VariableType]
    """By stable key; survives restarts."""
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    scalars: list[ScalarParameter] = field(default_factory=list[ScalarParameter])
    shared: list[SharedArray] = field(default_factory=list[SharedArray])
    locals: list[LocalArray] = field(default_factory=list[LocalArray])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    location: Location | None = None
    _names: set[str] = field(default_factory=set[str])
    _bodies: list[list[Statement]] = field(default_factory=lambda: [[]])

    @property
    def body(self) -> list[Statement]:
        """Where statements go now."""
        return self._bodies[-1]

    def emit(self, statement: Statement) -> None:
        """Appends a statement; it gets the present location unless it has one."""
        if statement.location is None:
            statement = replace(statement, location=self.location)
        self.body.append(statement)

    @contextmanager
    def nested(self) -> Generator[list[Statement]]:
        """Statements inside go to a body of their own."""
        self._bodies.append([])
        try:
            yield self._bodies[-1]
        finally:
            self._bodies.pop()

    def fresh(self, stem: str) -> str:
        """A name that nothing else has; readable, from the user's own."""
        stem = re.sub(r"\W", "_", stem) or "v"
        name, count = stem, 1
        while name in self._names:
            count += 1
            name = f"{stem}_{count}"
        self._names.add(name)
        return name

    def temporary(self, value: Expression, stem: str = "t") -> Read:
        """A new variable with a value."""
        variable = Variable(self.fresh(stem), value.type)
        self.variables[variable.name] = variable
        self.emit(Assign(variable, value))
        return Read(variable)

    def spill(self, mark: int, value: Expression) -> Read:
        """As `temporary`, set before the statements that were emitted since `mark`."""
        variable = Variable(self.fresh("t"), value.type)
        self.variables[variable.name] = variable
        self.body.insert(mark, Assign(variable, value, self.location))
        return Read(variable)

    def variable(self, key: str, stem: str, type: Type) -> Variable:
        """The variable of a stable key, declared at first use."""
        known = self.variables.get(key)
        if known is None:
            known = self.variables[key] = Variable(self.fresh(stem), type)
        return known
