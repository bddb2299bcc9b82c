"""Lowering calls: conversions, Python's own functions, inlined functions, the language's."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firebrick.cube.frontend import conversions, intrinsics, numbers
from firebrick.cube.frontend.expressions import Expressions
from firebrick.cube.frontend.values import (
    Comptime,
    Dynamic,
    MemoryValue,
    MethodValue,
    ShapeValue,
    TupleValue,
    Value,
    describe_value,
    is_number,
)
from firebrick.cube.ir.nodes import Buffer, Call, Length, LocalArray, SharedArray
from firebrick.cube.ir.types import BOOL
from firebrick.cube.lang.intrinsic import NAMES
from firebrick.errors import KernelSyntaxError

if TYPE_CHECKING:
    from firebrick.cube.frontend.functions import Inliner


class Calls:
    """Lowers calls in the scope of one function."""

    def __init__(self, inliner: Inliner) -> None:
        self._inliner = inliner

    def __call__(self, lowering: Expressions, node: ast.Call) -> Value:
        """The value of a call."""
        callee = lowering.lower(node.func)
        if isinstance(callee, MethodValue):
            (dim,) = self._arguments(lowering, node, ("dim",))
            return lowering.extent(callee.memory, "stride", dim, node)
        if not isinstance(callee, Comptime):
            lowering.scope.refuse(node, f"{describe_value(callee)} cannot be called.")
        target = callee.value
        if self._inliner.is_function(target):
            return self._inliner.inline(lowering, target, node)
        name = NAMES.get(target) if inspect.isfunction(target) else None
        if name == "comptime":
            return self._comptime(lowering, node)
        if name is not None:
            return intrinsics.lower(lowering, name, node, self._positional(lowering, node, target))
        type = conversions.number_type(lowering, target)
        if type is not None:
            (value,) = self._arguments(lowering, node, ("value",))
            return Dynamic(conversions.cast(lowering, value, type, node))
        builtin = BUILTINS.get(target) if callable(target) else None
        if builtin is not None:
            if node.keywords:
                lowering.scope.refuse(node, f"`{target.__name__}` takes no names in kernels.")
            return builtin(self, lowering, lowering.in_order(node.args), node)
        return self._unknown(lowering, target, node)

    def _unknown(self, lowering: Expressions, target: Any, node: ast.Call) -> Value:
        name = getattr(target, "__name__", repr(target))
        lowering.scope.refuse(
            node,
            f"`{name}` is a Python function, which a device cannot call; decorate it with "
            "`@cube.func`, or evaluate it when compiling with `cube.comptime(...)`.",
            KernelSyntaxError,
        )

    def _arguments(
        self, lowering: Expressions, node: ast.Call, names: tuple[str, ...]
    ) -> list[Value]:
        if len(node.args) != len(names) or node.keywords:
            lowering.scope.refuse(node, f"this takes {len(names)} argument: {', '.join(names)}.")
        return lowering.in_order(node.args)

    def _positional(self, lowering: Expressions, node: ast.Call, target: Any) -> list[Value]:
        """Arguments in the order of the declaration of a function of the language."""
        signature = inspect.signature(target)
        values = lowering.in_order([*node.args, *(k.value for k in node.keywords)])
        named = {
            k.arg or "": v for k, v in zip(node.keywords, values[len(node.args) :], strict=True)
        }
        try:
            bound = signature.bind(*values[: len(node.args)], **named)
        except TypeError as reason:
            lowering.scope.refuse(node, f"`{ast.unparse(node.func)}`: {reason}.")
        return list(bound.arguments.values())

    def _comptime(self, lowering: Expressions, node: ast.Call) -> Value:
        """Evaluates an expression with Python, all of whose names are known."""
        if len(node.args) != 1 or node.keywords:
            lowering.scope.refuse(node, "`comptime` takes one expression.")
        expression = node.args[0]
        names: dict[str, Any] = {}
        for name in {n.id: n for n in ast.walk(expression) if isinstance(n, ast.Name)}.values():
            value = lowering.scope.read(name)
            if isinstance(value, MemoryValue | Dynamic | ShapeValue):
                lowering.scope.refuse(
                    name, f"`{name.id}` is {describe_value(value)}, which compiling does not know."
                )
            names[name.id] = _host(value)
        text = ast.unparse(expression)
        try:
            return Comptime(eval(compile(text, "<comptime>", "eval"), {}, names))
        except Exception as reason:  # whatever the user's expression raises is the finding
            lowering.scope.refuse(node, f"`{text}` failed when compiling: {reason!r}.")


def _host(value: Value) -> Any:
    if isinstance(value, TupleValue):
        return tuple(_host(item) for item in value.items)
    return value.value if isinstance(value, Comptime) else value


Builtin = Callable[[Calls, Expressions, list[Value], ast.Call], Value]


def _extreme(op: str) -> Builtin:
    def lower(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
        if len(values) == 1 and isinstance(values[0], TupleValue):
            values = list(values[0].items)
        if len(values) < 2:
            lowering.scope.refuse(node, f"`{op}` takes at least two numbers.")
        result = values[0]
        for value in values[1:]:
            result = lowering.binary(op, result, value, node)
        return result

    return lower


def _abs(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    if len(values) != 1 or not is_number(values[0]):
        lowering.scope.refuse(node, "`abs` takes one number.")
    value = values[0]
    if isinstance(value, Comptime):
        return Comptime(abs(value.value))
    expression = lowering.alone(value, node)
    if expression.type == BOOL:
        lowering.scope.refuse(node, "`abs` is not defined for bools.")
    done = Call(expression.type, "abs", (expression,))
    weak = isinstance(value, Dynamic) and value.is_weak
    return numbers.weak_int(done) if weak and expression.type.is_integer else Dynamic(done)


def _len(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    match values:
        case [MemoryValue(Buffer() as buffer)]:
            return numbers.weak_int(Length(lowering.builder.index_type, buffer))
        case [MemoryValue(SharedArray() | LocalArray() as memory)]:
            return Comptime(memory.size)
        case [ShapeValue(buffer)]:
            return Comptime(buffer.rank)
        case [TupleValue(items)]:
            return Comptime(len(items))
        case [Comptime(known)] if hasattr(known, "__len__"):
            return Comptime(len(known))
        case _:
            return lowering.scope.refuse(node, "`len` takes a tensor, memory or a tuple.")


def _int(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    if len(values) != 1:
        lowering.scope.refuse(node, "`int` takes one number.")
    if isinstance(values[0], Comptime):
        return Comptime(int(values[0].value))
    return numbers.weak_int(
        conversions.cast(lowering, values[0], lowering.builder.index_type, node)
    )


def _float(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    if len(values) != 1:
        lowering.scope.refuse(node, "`float` takes one number.")
    value = values[0]
    if isinstance(value, Comptime):
        return Comptime(float(value.value))
    return numbers.weak_float(lambda type: conversions.cast(lowering, value, type, node))


def _bool(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    if len(values) != 1:
        lowering.scope.refuse(node, "`bool` takes one number.")
    truth = lowering.truth(values[0], node)
    return Comptime(truth) if isinstance(truth, bool) else Dynamic(truth)


def _range(calls: Calls, lowering: Expressions, values: list[Value], node: ast.Call) -> Value:
    known = [value.value for value in values if isinstance(value, Comptime)]
    if len(known) != len(values):
        lowering.scope.refuse(node, "`range` stands in a `for` loop.")
    return Comptime(range(*known))


BUILTINS: dict[Any, Builtin] = {
    builtins.min: _extreme("min"),
    builtins.max: _extreme("max"),
    builtins.abs: _abs,
    builtins.len: _len,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.range: _range,
}
