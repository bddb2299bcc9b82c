"""Lowering the functions of the language: mathematics, memory, barriers, atomics, planes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from firebrick.cube.frontend import conversions, numbers
from firebrick.cube.frontend.expressions import Expressions
from firebrick.cube.frontend.values import (
    Comptime,
    Dynamic,
    MemoryValue,
    TupleValue,
    Value,
    describe_value,
)
from firebrick.cube.ir.nodes import (
    Atomic,
    Buffer,
    Call,
    Constant,
    Expression,
    LocalArray,
    Plane,
    Read,
    Reinterpret,
    Return,
    SharedArray,
    Sync,
    Variable,
)
from firebrick.cube.ir.types import BOOL, F32, I32, U32, Type

Lower = Callable[[Expressions, str, ast.Call, list[Value]], Value]
UNARY_FLOAT = frozenset({
    "exp", "log", "log1p", "sqrt", "inverse_sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "erf", "floor", "ceil", "round", "trunc", "recip", "degrees",
    "radians", "is_nan", "is_inf",
})  # fmt: skip
UNARY_INT = frozenset({"count_ones", "reverse_bits", "leading_zeros", "trailing_zeros"})
ATOMICS: dict[str, str] = {
    "load": "load", "store": "store", "exchange": "exchange", "fetch_add": "add",
    "fetch_sub": "sub", "fetch_max": "max", "fetch_min": "min", "fetch_and": "and",
    "fetch_or": "or", "fetch_xor": "xor", "compare_exchange": "compare_exchange",
}  # fmt: skip
PLANE_BITS = frozenset({"all", "any", "ballot"})
PLANE_UNIT = frozenset({"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"})


def lower(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    """The value of a call of a function of the language."""
    group, _, member = name.rpartition(".")
    if group == "atomic":
        return _atomic(lowering, member, node, arguments)
    if group == "plane":
        return _plane(lowering, member, node, arguments)
    if name in UNARY_FLOAT:
        return _float_function(lowering, name, node, arguments)
    if name in UNARY_INT:
        return _int_function(lowering, name, node, arguments)
    return TABLE[name](lowering, name, node, arguments)


def _float_function(
    lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]
) -> Value:
    (value,) = arguments
    boolean = name in ("is_nan", "is_inf")

    def at(type: Type) -> Expression:
        operand = lowering.coerce(value, type, node, f"`{name}`")
        result = BOOL if boolean else type
        return Call(result, name, (operand,))  # pyright: ignore[reportArgumentType] - in UNARY_FLOAT

    if numbers.is_weak(value):
        return Dynamic(at(F32)) if boolean else numbers.weak_float(at)
    expression = lowering.alone(value, node)
    if not expression.type.is_float:
        lowering.scope.refuse(
            node,
            f"`{name}` takes a float; got type {expression.type}. Convert it with `cube.cast`.",
        )
    return Dynamic(at(expression.type))


def _int_function(
    lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]
) -> Value:
    operand = lowering.alone(arguments[0], node)
    if not operand.type.is_integer:
        lowering.scope.refuse(node, f"`{name}` takes an integer; got type {operand.type}.")
    return Dynamic(Call(operand.type, name, (operand,)))  # pyright: ignore[reportArgumentType]


def _common(lowering: Expressions, node: ast.Call, values: list[Value]) -> Type:
    """The type that several numbers have together."""
    type = lowering.common(values[0], values[-1], node)
    for value in values:
        if isinstance(value, Dynamic) and not value.is_weak:
            return value.type
    return type


def _float_functions(
    lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]
) -> Value:
    type = _common(lowering, node, arguments)
    type = type if type.is_float else F32
    what = f"`{name}`"
    operands = tuple(lowering.coerce(value, type, node, what) for value in arguments)
    target: Any = "pow" if name == "powf" else name
    return Dynamic(Call(type, target, operands))


def _powi(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    return numbers.power(arguments[0], arguments[1], lowering.refuser(node))


def _clamp(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    value, low, high = arguments
    raised = lowering.binary("max", value, low, node)
    return lowering.binary("min", raised, high, node)


def _memory(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    builder = lowering.builder
    type = conversions.type_argument(lowering, arguments[0], node)
    size = arguments[1]
    known = size.value if isinstance(size, Comptime) else None
    if not isinstance(known, int) or isinstance(known, bool) or known < 1:
        lowering.scope.refuse(
            node, f"the size of `{name}` memory is a positive integer known when compiling; got "
            f"{describe_value(size)}."
        )  # fmt: skip
    made = (
        SharedArray(builder.fresh("shared"), type, known)
        if name == "shared"
        else LocalArray(builder.fresh("local"), type, known)
    )
    if isinstance(made, SharedArray):
        builder.shared.append(made)
    else:
        builder.locals.append(made)
    return MemoryValue(made)


def _cast(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    value, target = arguments
    type = conversions.type_argument(lowering, target, node)
    return Dynamic(conversions.cast(lowering, value, type, node))


def _reinterpret(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    operand = lowering.alone(arguments[0], node)
    type = conversions.type_argument(lowering, arguments[1], node)
    if type.bits != operand.type.bits or BOOL in (type, operand.type):
        lowering.scope.refuse(
            node, f"`reinterpret` keeps the bits; {operand.type} and {type} differ in size."
        )
    return Dynamic(operand if type == operand.type else Reinterpret(type, operand))


def _select(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    condition, yes, no = arguments
    test = lowering.truth(condition, node)
    if isinstance(test, bool):
        return yes if test else no
    return lowering.choose(test, yes, no, node, lazy=False)


def _sync(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    lowering.builder.emit(Sync(name.removeprefix("sync_")))  # pyright: ignore[reportArgumentType]
    return Comptime(None)


def _terminate(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    lowering.builder.emit(Return())
    return Comptime(None)


def _unroll(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    lowering.scope.refuse(node, "`unroll` stands in a `for` loop: `for i in cube.unroll(...)`.")


TABLE: dict[str, Lower] = {
    "atan2": _float_functions,
    "powf": _float_functions,
    "hypot": _float_functions,
    "fma": _float_functions,
    "powi": _powi,
    "clamp": _clamp,
    "local": _memory,
    "shared": _memory,
    "cast": _cast,
    "reinterpret": _reinterpret,
    "select": _select,
    "sync_cube": _sync,
    "sync_plane": _sync,
    "sync_storage": _sync,
    "terminate": _terminate,
    "unroll": _unroll,
}


def _atomic(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    target, index, *values = arguments
    memory = target.memory if isinstance(target, MemoryValue) else None
    if not isinstance(memory, Buffer | SharedArray):
        lowering.scope.refuse(node, "an atomic works on a `Mut` tensor or on shared memory.")
    if isinstance(memory, Buffer) and not memory.mutable and name != "load":
        lowering.scope.refuse(
            node, f"`{memory.name}` is read only; annotate it `cube.Mut[...]` to write."
        )
    if memory.type.is_float and name in ("fetch_and", "fetch_or", "fetch_xor"):
        lowering.scope.refuse(node, f"`atomic.{name}` works on integers; got {memory.type}.")
    if memory.type == BOOL:
        lowering.scope.refuse(node, "atomics work on numbers; use a u32 for a flag.")
    what = f"`atomic.{name}`"
    operands = tuple(lowering.coerce(value, memory.type, node, what) for value in values)
    position = lowering.index(index, node)
    result = None if name == "store" else _fresh(lowering, memory.type)
    op: Any = ATOMICS[name]
    lowering.builder.emit(Atomic(op, memory, position, operands, result))
    return Comptime(None) if result is None else Dynamic(Read(result))


def _plane(lowering: Expressions, name: str, node: ast.Call, arguments: list[Value]) -> Value:
    op: Any = name
    if name == "elect":
        result = _fresh(lowering, BOOL)
        lowering.builder.emit(Plane(op, (), (result,)))
        return Dynamic(Read(result))
    if name in PLANE_BITS:
        truth = lowering.truth(arguments[0], node)
        condition = Constant(BOOL, truth) if isinstance(truth, bool) else truth
        results = [_fresh(lowering, U32) for _ in range(4)] if name == "ballot" else []
        results = results or [_fresh(lowering, BOOL)]
        lowering.builder.emit(Plane(op, (condition,), tuple(results)))
        values = tuple(Dynamic(Read(result)) for result in results)
        return TupleValue(values) if name == "ballot" else values[0]
    value = lowering.alone(arguments[0], node)
    if value.type == BOOL:
        lowering.scope.refuse(
            node, f"`plane.{name}` takes a number; use `plane.all` or `plane.any`."
        )
    operands: tuple[Expression, ...] = (value,)
    if name in PLANE_UNIT:
        unit = lowering.coerce(arguments[1], U32, node, f"`plane.{name}`")
        operands = (value, unit)
    result = _fresh(lowering, value.type)
    lowering.builder.emit(Plane(op, operands, (result,)))
    weak = isinstance(arguments[0], Dynamic) and arguments[0].is_weak
    read = Read(result)
    return numbers.weak_int(read) if weak and value.type in (I32, Type("i64")) else Dynamic(read)


def _fresh(lowering: Expressions, type: Type) -> Variable:
    name = lowering.builder.fresh("t")
    variable = lowering.builder.variables[name] = Variable(name, type)
    return variable
