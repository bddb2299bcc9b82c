"""Functions of mathematics on values: which code stands for which name and type.

float32 and the half types use straight-line code of our own, which becomes vectors; float64 calls
the C library, which is exact and makes no vectors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm import elementary, trigonometry
from firebrick.cube.codegen.llvm.conversions import round_to
from firebrick.cube.ir.nodes import Constant, Expression, MathName

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.codegen.llvm.text import Value
    from firebrick.cube.ir.types import Type

EXACT: dict[str, Callable[[Value], Value]] = {
    "floor": lambda x: x.call("floor"),
    "ceil": lambda x: x.call("ceil"),
    "trunc": lambda x: x.call("trunc"),
    "round": lambda x: x.call("roundeven"),
    "abs": lambda x: x.call("fabs"),
    "is_nan": lambda x: x.compare("uno", 0.0),
    "is_inf": lambda x: x.call("fabs").compare("oeq", math.inf),
}
"""Functions whose result needs no rounding."""

ARITHMETIC: dict[str, Callable[[Value], Value]] = {
    "sqrt": lambda x: x.call("sqrt"),
    "inverse_sqrt": lambda x: 1.0 / x.call("sqrt"),
    "recip": lambda x: 1.0 / x,
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
}
"""Functions that are written alike for float and double."""

SINGLE: dict[str, Callable[..., Value]] = {
    "exp": elementary.exp, "log": elementary.log, "log1p": elementary.log1p,
    "sinh": elementary.sinh, "cosh": elementary.cosh, "tanh": elementary.tanh,
    "erf": elementary.erf, "sin": trigonometry.sin, "cos": trigonometry.cos,
    "tan": trigonometry.tan, "asin": trigonometry.asin, "acos": trigonometry.acos,
    "atan": trigonometry.atan, "atan2": trigonometry.atan2, "hypot": trigonometry.hypot,
    "pow": trigonometry.pow,
}  # fmt: skip
"""Code for float; the C library has the same names for double."""

INTEGER: dict[str, Callable[[Value], Value]] = {
    "count_ones": lambda x: x.call("ctpop"),
    "reverse_bits": lambda x: x.call("bitreverse"),
    "leading_zeros": lambda x: _zeros(x, "ctlz"),
    "trailing_zeros": lambda x: _zeros(x, "cttz"),
}

LIBRARY_ATTRIBUTES = " nounwind willreturn memory(none)"
_UNROLLED_POWER = 64
"""Known exponents up to this become a chain of products."""


def _zeros(x: Value, name: str) -> Value:
    defined_at_zero = x.builder.constant("i1", False)
    return x.builder.call(f"llvm.{name}.{x.type}", x.type, [x, defined_at_zero])


def call(
    name: MathName, values: list[Value], type: Type, arguments: tuple[Expression, ...]
) -> Value:
    """A function of values whose first one has a type; `arguments` is what they come from."""
    first = values[0]
    if type.is_integer:
        if name == "abs":
            return _integer_abs(first, type)
        return INTEGER[name](first)
    if name in EXACT:
        return EXACT[name](first)
    if name == "powi":
        return round_to(type, _integer_power(first, values[1], arguments[1]))
    if name in ARITHMETIC:
        return round_to(type, ARITHMETIC[name](first))
    if name == "fma":
        return round_to(type, first.call("fma", *values[1:]))
    if first.type == "double":
        return first.builder.call(name, "double", values, LIBRARY_ATTRIBUTES)
    return round_to(type, SINGLE[name](*values))


def _integer_abs(value: Value, type: Type) -> Value:
    if type.kind == "uint":
        return value
    wraps = value.builder.constant("i1", False)
    return value.builder.call(f"llvm.abs.{value.type}", value.type, [value, wraps])


# ---- integer powers ---------------------------------------------------------------------------


def _integer_power(base: Value, exponent: Value, source: Expression) -> Value:
    """By repeated squaring; 1 over it for a negative exponent."""
    if isinstance(source, Constant) and abs(int(source.value)) <= _UNROLLED_POWER:
        return _known_power(base, int(source.value))
    is_negative = exponent.compare("slt", 0)
    size = is_negative.select(-exponent, exponent)
    power = _power_loop(base, size)
    return is_negative.select(1.0 / power, power)


def _known_power(base: Value, exponent: int) -> Value:
    power, square, left = base.same(1.0), base, abs(exponent)
    while left:
        if left & 1:
            power = power * square
        left >>= 1
        if left:
            square = square * square
    return power if exponent >= 0 else 1.0 / power


def _power_loop(base: Value, exponent: Value) -> Value:
    """For an exponent that is known at run time; `exponent` counts as unsigned."""
    builder = base.builder
    power, square, left = (builder.slot(v.type) for v in (base, base, exponent))
    builder.store(base.same(1.0), power)
    builder.store(base, square)
    builder.store(exponent, left)
    head, body, done = (builder.fresh(stem) for stem in ("power", "square", "raised"))
    builder.place(head)
    remaining = builder.load(exponent.type, left)
    builder.branch(remaining.compare("ne", 0), body, done)
    builder.place(body)
    factor = builder.load(base.type, square)
    product = builder.load(base.type, power)
    is_set = (remaining & 1).compare("ne", 0)
    builder.store(is_set.select(product * factor, product), power)
    builder.store(factor * factor, square)
    builder.store(remaining.binary("lshr", 1), left)
    builder.jump(head)
    builder.place(done)
    return builder.load(base.type, power)
