"""What a function needs and its target lacks, found before any text is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.target import registers_of
from firebrick.cube.geometry import too_many
from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import (
    Atomic,
    Call,
    Expression,
    Plane,
    Statement,
    Sync,
    Topology,
    expressions,
    walk,
    walk_expressions,
)
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from firebrick.cube.codegen.target import Target
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.ir.types import Type

_PLANE_POSITIONS = frozenset({"PLANE_DIM", "PLANE_POS", "UNIT_POS_PLANE"})


def check(function: Function, target: Target) -> None:
    """Raises for the first thing that the target lacks.

    Raises:
        KernelCompileError: a type or an operation; the message names kernel, use and target.
        TooManyResourcesError: units, shared memory or buffers beyond the device's limits.
    """
    checker = _Checker(function, target)
    checker.declarations()
    checker.limits()
    for statement in walk(function.body):
        checker.statement(statement)


class _Checker:
    def __init__(self, function: Function, target: Target) -> None:
        self._function = function
        self._target = target
        self._statement: Statement | None = None

    def _refuse(self, what: str, remedy: str) -> KernelCompileError:
        message = (
            f"kernel `{self._function.name}` uses {what}, which target `{self._target.name}` does "
            f"not have: {remedy}."
        )
        place = None if self._statement is None else self._statement.location
        return KernelCompileError(message if place is None else describe(place, message))

    def _require_type(self, type: Type, use: str) -> None:
        if type.scalar in self._target.types:
            return
        others = ", ".join(self._target.types)
        known = (self._target.remedies or {}).get(type.scalar)
        remedy = f"{known}; " if known else ""
        raise self._refuse(f"{type} ({use})", f"{remedy}it has {others} here")

    # ---- declarations -------------------------------------------------------------------------

    def declarations(self) -> None:
        """Types of everything declared, and the index type."""
        function = self._function
        if function.index_type.scalar not in self._target.index_types:
            raise self._refuse(
                f"a tensor of 2**31 elements or more (positions of type {function.index_type})",
                "split the tensor",
            )
        for what, items in (
            ("tensor", function.buffers),
            ("number", function.scalars),
            ("shared array", function.shared),
            ("local array", function.locals),
            ("variable", function.variables),
        ):
            for item in items:
                self._require_type(item.type, f"{what} `{item.name}`")

    def limits(self) -> None:
        """Sizes that are known when compiling."""
        function, limits = self._function, self._target.properties
        shared = sum(array.size * array.type.bits // 8 for array in function.shared)
        for what, requested, maximum in (
            ("units in a cube", function.units, limits.max_units),
            ("bytes of shared memory", shared, limits.max_shared_bytes),
            ("tensors", len(function.buffers), limits.max_buffers),
        ):
            if maximum is not None and requested > maximum:
                raise too_many(function.name, what, requested, maximum)

    # ---- statements ---------------------------------------------------------------------------

    def statement(self, statement: Statement) -> None:
        """One statement without its bodies."""
        self._statement = statement
        for expression in expressions(statement):
            for part in walk_expressions(expression):
                self._expression(part)
        match statement:
            case Atomic(op=op, memory=memory):
                if memory.type.scalar not in self._target.atomics.get(op, ()):
                    raise self._refuse(
                        f"`atomic.{op}` on {memory.type} (`{memory.name}`)",
                        f"its atomics work on {self._names(self._target.atomics.get(op, ()))}",
                    )
            case Plane():
                self._plane(statement)
            case Sync(scope=scope):
                if scope not in self._target.barriers:
                    raise self._refuse(f"`sync_{scope}`", "the device has no planes")
            case _:
                pass

    def _plane(self, plane: Plane) -> None:
        types = self._target.plane_types
        if not types:
            raise self._refuse(f"`plane.{plane.op}`", "the device has no planes")
        for operand in plane.operands:
            if operand.type.scalar not in types:
                raise self._refuse(
                    f"`plane.{plane.op}` on {operand.type}",
                    f"its planes exchange {self._names(types)}",
                )

    def _expression(self, expression: Expression) -> None:
        match expression:
            case Topology(name=name):
                if name in _PLANE_POSITIONS and not self._target.plane_types:
                    raise self._refuse(f"`{name}`", "the device has no planes")
            case Call(name=name, arguments=arguments):
                registers = registers_of(arguments[0].type).scalar
                known = self._target.math.get(name, {})
                self._require_type(arguments[0].type, f"`{name}`")
                if registers not in known:
                    raise self._refuse(
                        f"`{name}` of {arguments[0].type}", f"it works on {self._names(known)}"
                    )
            case _:
                self._require_type(expression.type, "an expression")

    def _names(self, types: object) -> str:
        names = [scalar for scalar in self._target.types if scalar in types]  # pyright: ignore[reportOperatorIssue]
        return ", ".join(names) or "nothing"
