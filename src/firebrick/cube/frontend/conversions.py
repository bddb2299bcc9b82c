"""Conversions between number types, and arguments that name a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from firebrick.cube.frontend import numbers
from firebrick.cube.frontend.values import Comptime, Dynamic, Value, describe_value
from firebrick.cube.ir.nodes import Constant, Expression
from firebrick.cube.ir.types import BOOL, F32, Type
from firebrick.cube.lang.numbers import Numeric

if TYPE_CHECKING:
    import ast

    from firebrick.cube.frontend.expressions import Expressions


def number_type(lowering: Expressions, target: Any) -> Type | None:
    """The type that a class such as `cube.f32` or a bound type variable stands for."""
    if isinstance(target, TypeVar):
        return lowering.scope.types.get(target)
    if isinstance(target, type) and issubclass(target, Numeric) and target.scalar is not None:
        return Type(target.scalar)
    return None


def type_argument(lowering: Expressions, value: Value, node: ast.AST) -> Type:
    """The type that an argument such as `cube.f32`, `F` or `x.dtype` names."""
    known = value.value if isinstance(value, Comptime) else None
    if known is bool:
        return BOOL
    if known is int:
        return lowering.builder.index_type
    if known is float:
        return F32
    found = number_type(lowering, known)
    if found is None:
        lowering.scope.refuse(
            node, f"a number type such as `cube.f32` is due; got {describe_value(value)}."
        )
    return found


def cast(lowering: Expressions, value: Value, type: Type, node: ast.AST) -> Expression:
    """A number converted to a type."""
    if isinstance(value, Comptime) and isinstance(value.value, bool | int | float):
        known = value.value
        if type == BOOL:
            return Constant(BOOL, bool(known))
        number = int(known) if type.is_integer else float(known)
        return numbers.constant(number, type, lowering.refuser(node))
    if isinstance(value, Dynamic) and value.at is not None and type.is_float:
        return value.at(type)
    return numbers.convert(lowering.alone(value, node), type)
