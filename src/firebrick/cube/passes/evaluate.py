"""Expressions of constants, evaluated when compiling.

The interpreter says what operators and functions give; nothing is defined here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firebrick.cube.interpreter import arithmetic
from firebrick.cube.ir.nodes import (
    Binary,
    Call,
    Cast,
    Compare,
    Constant,
    Expression,
    Reinterpret,
    Unary,
)
from firebrick.cube.ir.symbols import COMPARE_SYMBOLS
from firebrick.cube.ir.types import BOOL

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import CompareOp
    from firebrick.cube.ir.types import Type

Number = bool | int | float


def zero(type: Type) -> Constant:
    """What a variable holds that was never set, and what loads out of range give."""
    return Constant(type, False if type == BOOL else 0.0 if type.is_float else 0)


def evaluate(expression: Expression) -> Constant | None:
    """The value of an operator or function of constants; None for anything else."""
    match expression:
        case Unary(op, Constant(type) as value):
            return _run(arithmetic.unary(op, arithmetic.literal(value), type), type)
        case Binary(op, Constant(type) as left, Constant() as right):
            texts = arithmetic.literal(left), arithmetic.literal(right)
            return _run(arithmetic.binary(op, *texts, type), type)
        case Compare(op, Constant() as left, Constant() as right):
            return Constant(expression.type, evaluate_compare(op, left.value, right.value))
        case Cast(type, Constant() as value):
            return _run(arithmetic.cast(arithmetic.literal(value), value.type, type), type)
        case Reinterpret(type, Constant() as value):
            return _run(arithmetic.reinterpret(arithmetic.literal(value), value.type, type), type)
        case Call():
            return _call(expression)
        case _:
            return None


def evaluate_compare(op: CompareOp, left: Number, right: Number) -> bool:
    """Whether a comparison holds."""
    return bool(_value(f"{left!r} {COMPARE_SYMBOLS[op]} {right!r}"))


def _call(call: Call) -> Constant | None:
    known = [argument for argument in call.arguments if isinstance(argument, Constant)]
    if len(known) < len(call.arguments):
        return None
    texts = [arithmetic.literal(argument) for argument in known]
    return _run(arithmetic.call(call.name, texts, known[0].type), call.type)


def _run(text: str, type: Type) -> Constant:
    value = _value(text)
    return Constant(type, float(value) if type.is_float else value)


def _value(text: str) -> Number:
    with np.errstate(all="ignore"):
        return eval(text, dict(arithmetic.NAMES))
