"""Statements of the IR without bodies, written as Python."""

from __future__ import annotations

from typing import TypeAlias

from firebrick.cube.interpreter.accesses import Accesses
from firebrick.cube.interpreter.expressions import ExpressionWriter
from firebrick.cube.ir.nodes import (
    Assign,
    Atomic,
    Expression,
    Function,
    LocalArray,
    Plane,
    Store,
    Sync,
    Variable,
    VectorLoad,
    VectorStore,
)

Simple: TypeAlias = Assign | Store | VectorLoad | VectorStore | Atomic | Plane | Sync
Barrier: TypeAlias = Sync | Plane


class StatementWriter:
    """Writes statements as lines of Python; barriers and plane operations get numbers."""

    def __init__(self, function: Function) -> None:
        self.accesses = Accesses(function)
        self.variables = {v: f"v{number}" for number, v in enumerate(function.variables)}
        self.barriers: list[Barrier] = []
        self._values = ExpressionWriter(self.accesses, self.variables)
        self._units = function.units

    def value(self, expression: Expression) -> str:
        """The text of an expression; what it needs comes with `take_definitions`."""
        return self._values.write(expression)

    def take_definitions(self) -> list[str]:
        """Lines that must stand before the texts written since the last call."""
        return self._values.take_definitions()

    def write(self, statement: Simple) -> list[str]:
        """The lines of a statement."""
        lines = self._lines(statement)
        return [*self.take_definitions(), *lines]

    def _lines(self, statement: Simple) -> list[str]:
        match statement:
            case Assign(variable, value):
                return [f"{self.variables[variable]} = {self.value(value)}"]
            case Store():
                return [self._store(statement)]
            case VectorLoad():
                return self._vector_load(statement)
            case VectorStore():
                return self._vector_store(statement)
            case Atomic():
                return [self._atomic(statement)]
            case Plane(operands=operands, results=results):
                names = ", ".join(self.variables[result] for result in results)
                return [f"{names} = yield {self._number(statement, operands)}"]
            case Sync(scope=scope):
                lines = [f"yield {self._number(statement, ())}"]
                # A tag counts the plane barriers that its unit has passed.
                return [*lines, f"tag += {self._units}"] if scope == "plane" else lines

    def _number(self, barrier: Barrier, operands: tuple[Expression, ...]) -> str:
        """What a unit yields: the number of the barrier and its operands."""
        self.barriers.append(barrier)
        parts = [str(len(self.barriers) - 1), *map(self.value, operands)]
        return f"({', '.join(parts)},)"

    def _store(self, store: Store) -> str:
        index, value = self.value(store.index), self.value(store.value)
        if isinstance(store.memory, LocalArray):
            name = self.accesses.local(store.memory)
            return f"write_local({name}, {index}, {value}, {store.memory.name!r})"
        return f"{self.accesses.writer(store.memory)}({index}, {value}, tag)"

    def _vector_load(self, load: VectorLoad) -> list[str]:
        read, width = self.accesses.reader(load.buffer), len(load.results)
        names = ", ".join(self.variables[result] for result in load.results)
        values = ", ".join(f"{read}(at + {offset}, tag)" for offset in range(width))
        return [f"at = {self.value(load.index)} * {width}", f"{names} = {values}"]

    def _vector_store(self, store: VectorStore) -> list[str]:
        write, width = self.accesses.writer(store.buffer), len(store.values)
        elements = [f"element{offset}" for offset in range(width)]
        values = ", ".join(map(self.value, store.values))
        return [
            f"at = {self.value(store.index)} * {width}",
            f"{', '.join(elements)} = {values}",
            *(f"{write}(at + {offset}, {name}, tag)" for offset, name in enumerate(elements)),
        ]

    def _atomic(self, atomic: Atomic) -> str:
        values = ", ".join(map(self.value, (atomic.index, *atomic.operands)))
        done = f"{self.accesses.atomic(atomic)}({values}, tag)"
        if atomic.result is None:
            return done
        name: Variable = atomic.result
        return f"{self.variables[name]} = known({done}, {atomic.memory.name!r})"
