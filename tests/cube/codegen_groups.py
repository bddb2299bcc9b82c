"""Everything that can be asked of a target: a group for each operator, function and conversion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import numpy as np
from tests.cube.codegen_cases import (
    DTYPES,
    FLOATS,
    INTS,
    Array,
    Case,
    Group,
    OfOne,
    OfTwo,
    One,
    Two,
    call_one,
    from_stored,
    one,
    pairs,
    special_values,
    to_stored,
    two,
)
from tests.cube.codegen_mathematics import mathematics_groups

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Constant,
    MathName,
    Reinterpret,
    Unary,
)
from firebrick.cube.ir.types import BITS, BOOL, ScalarName, Type

# ---- integers ---------------------------------------------------------------------------------


def wrapped(scalar: str, value: int) -> int:
    """An integer cut to the bits of a type."""
    bits = BITS[scalar]
    value &= (1 << bits) - 1
    return value - (1 << bits) if scalar[0] == "i" and value >> (bits - 1) else value


def _each(scalar: str, function: Callable[[int], int]) -> OfOne:
    return lambda x: np.array([wrapped(scalar, function(v)) for v in x.tolist()], DTYPES[scalar])


def _each_pair(scalar: str, function: Callable[[int, int], int]) -> OfTwo:
    def oracle(a: Array, b: Array) -> Array:
        rows = zip(a.tolist(), b.tolist(), strict=True)
        return np.array([wrapped(scalar, function(*row)) for row in rows], DTYPES[scalar])

    return oracle


def _shift_count(scalar: str, count: int) -> int:
    return min(count & ((1 << BITS[scalar]) - 1), 200)


def _integer_binary(scalar: str) -> dict[BinaryOp, Callable[[int, int], int]]:
    bits = BITS[scalar]

    def shl(a: int, b: int) -> int:
        count = _shift_count(scalar, b)
        return 0 if count >= bits else a << count

    return {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "floordiv": lambda a, b: a // b if b else 0, "mod": lambda a, b: a % b if b else 0,
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
        "shl": shl, "shr": lambda a, b: a >> _shift_count(scalar, b), "min": min, "max": max,
    }  # fmt: skip


def _unsigned(scalar: str, value: int) -> int:
    return value & ((1 << BITS[scalar]) - 1)


def _integer_unary(scalar: str) -> dict[MathName, Callable[[int], int]]:
    bits = BITS[scalar]

    def digits(value: int) -> str:
        return f"{_unsigned(scalar, value):0{bits}b}"

    return {
        "abs": abs,
        "count_ones": lambda x: digits(x).count("1"),
        "reverse_bits": lambda x: int(digits(x)[::-1], 2),
        "leading_zeros": lambda x: bits - len(digits(x).lstrip("0")),
        "trailing_zeros": lambda x: bits - len(digits(x).rstrip("0")),
    }


def _binary(op: BinaryOp) -> Two:
    return lambda a, b: Binary(op, a, b)


def _by_constant(scalar: ScalarName, op: BinaryOp, constant: int) -> Case:
    """Code for constants may differ."""
    type, function = Type(scalar), _integer_binary(scalar)[op]
    return two(
        f"{op} by {constant}",
        lambda a, _: Binary(op, a, Constant(type, constant)),
        _each_pair(scalar, lambda a, _: function(a, constant)),
    )


def integer_groups(scalar: ScalarName) -> Iterator[Group]:
    """Arithmetic and bits of an integer type."""
    type, values = Type(scalar), special_values(scalar)
    cases = [
        two(op, _binary(op), _each_pair(scalar, function))
        for op, function in _integer_binary(scalar).items()
    ]
    ops: tuple[BinaryOp, ...] = ("shl", "shr", "floordiv", "mod")
    constants = (0, 3, BITS[scalar] - 1)
    cases += [_by_constant(scalar, op, constant) for constant in constants for op in ops]
    low, high = integer_range(type)
    cases.append(
        two(
            "constants that overflow",
            lambda _, __: Binary("add", Constant(type, high), Constant(type, 1)),
            lambda a, _: np.full(len(a), low, DTYPES[scalar]),
        )
    )
    yield Group(f"{scalar} binary", (scalar, scalar), scalar, tuple(cases), pairs(values, values))
    unary = [
        one(name, call_one(name, type), _each(scalar, function))
        for name, function in _integer_unary(scalar).items()
    ]
    unary += [
        one("neg", lambda x: Unary("neg", x), _each(scalar, lambda x: -x)),
        one("invert", lambda x: Unary("invert", x), _each(scalar, lambda x: ~x)),
    ]
    yield Group(f"{scalar} unary", (scalar,), scalar, tuple(unary), (values,))
    yield comparisons(scalar)


def _compare(op: CompareOp) -> Two:
    return lambda a, b: Compare(op, a, b)


def comparisons(scalar: ScalarName) -> Group:
    """All six, the results as bools."""
    functions: dict[CompareOp, OfTwo] = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    ops = [op for op in functions if scalar != "bool" or op in ("eq", "ne")]
    cases = tuple(two(op, _compare(op), functions[op]) for op in ops)
    values = special_values(scalar)
    return Group(f"{scalar} compare", (scalar, scalar), "bool", cases, pairs(values, values))


# ---- floats -----------------------------------------------------------------------------------


def _register_dtype(scalar: str) -> np.dtype[Any]:
    """Numbers are computed in f64, or in f32 for all other types."""
    return np.dtype(np.float64 if scalar == "f64" else np.float32)


def _working(scalar: str, function: OfOne) -> OfOne:
    dtype = _register_dtype(scalar)
    return lambda x: function(x.astype(dtype)).astype(np.float64)


def _working_pair(scalar: str, function: OfTwo) -> OfTwo:
    dtype = _register_dtype(scalar)
    return lambda a, b: function(a.astype(dtype), b.astype(dtype)).astype(np.float64)


def _floor_quotient(a: Array, b: Array) -> Any:
    return np.floor(a / b)


def float_groups(scalar: ScalarName) -> Iterator[Group]:
    """Arithmetic of a float type."""
    type, values = Type(scalar), special_values(scalar)
    functions: dict[BinaryOp, OfTwo] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "floordiv": _floor_quotient, "mod": np.mod,
        "min": np.minimum, "max": np.maximum,
    }  # fmt: skip
    cases = tuple(
        two(op, _binary(op), _working_pair(scalar, function), any_zero=op in ("min", "max"))
        for op, function in functions.items()
    )
    yield Group(f"{scalar} binary", (scalar, scalar), scalar, cases, pairs(values, values))
    exact: dict[MathName, OfOne] = {
        "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint, "abs": np.abs,
        "sqrt": np.sqrt, "recip": np.reciprocal,
    }  # fmt: skip
    unary = [one(n, call_one(n, type), _working(scalar, f)) for n, f in exact.items()]
    tenth = float(from_stored(scalar, to_stored(scalar, [0.1]))[0])
    unary += [
        one("neg", lambda x: Unary("neg", x), np.negative),
        one("square", lambda x: Binary("mul", x, x), _working(scalar, np.square)),
        one("infinity", lambda x: Binary("min", x, Constant(type, math.inf)), lambda x: x),
        one("nan", lambda x: Binary("add", x, Constant(type, math.nan)), lambda x: x * math.nan),
        one("-0.0", lambda _: Constant(type, -0.0), lambda x: np.full(len(x), -0.0)),
        one("a constant", lambda _: Constant(type, 0.1), lambda x: np.full(len(x), tenth)),
    ]
    yield Group(f"{scalar} unary", (scalar,), scalar, tuple(unary), (values,))
    tests: dict[MathName, OfOne] = {"is_nan": np.isnan, "is_inf": np.isinf}
    named = tuple(one(n, call_one(n, BOOL), f) for n, f in tests.items())
    yield Group(f"{scalar} tests", (scalar,), "bool", named, (values,))
    yield comparisons(scalar)


# ---- conversions ------------------------------------------------------------------------------


def _cast(to: Type) -> One:
    return lambda x: Cast(to, x)


def _convert(source: str, to: str) -> OfOne:
    def oracle(values: Array) -> Array:
        if to == "bool":
            return values != 0
        if source in FLOATS and to in INTS:
            low, high = integer_range(Type(to))  # pyright: ignore[reportArgumentType] - a name of the table
            return np.array([_saturated(v, low, high) for v in values.tolist()], DTYPES[to])
        if to in ("f16", "bf16") and source in INTS:
            return values.astype(np.float32).astype(np.float64)  # by way of the registers
        return values.astype(DTYPES[to] if to in INTS else np.float64)

    return oracle


def _saturated(value: float, low: int, high: int) -> int:
    if math.isnan(value):
        return 0
    return high if value >= high else low if value <= low else int(value)


def conversion_groups(source: ScalarName, targets: Sequence[str]) -> Iterator[Group]:
    """From one type to others, by value and by bits."""
    values = special_values(source)
    if source in FLOATS:
        halfway = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40]
        edges = [65519.99, 65520.0, 3.4e38, 3.3961e38, 6e-8, 2.9e-8]
        more = np.concatenate([np.linspace(-300, 300, 97), halfway, edges])
        values = np.concatenate([values, to_stored(source, more)])
    for name in targets:
        if name == source:
            continue
        to = Type(name)  # pyright: ignore[reportArgumentType] - a name of the table
        case = one(f"{source} to {name}", _cast(to), _convert(source, name))
        yield Group(f"{source} to {name}", (source,), name, (case,), (values,))


def _bits_as(to: Type, pattern: Array) -> Case:
    values = from_stored(to.scalar, pattern.view(DTYPES[to.scalar]))
    return one(f"bits as {to}", lambda x: Reinterpret(to, x), lambda _: values)


def reinterpretation_groups(source: ScalarName, targets: Sequence[str]) -> Iterator[Group]:
    """The same bits; the values are bits that are numbers of every type."""
    size = BITS[source] // 8
    pattern = (np.arange(1, 14 * size + 1) * 37 % 119).astype(np.uint8).view(f"u{size}")
    for name in targets:
        if name == source or BITS[name] != BITS[source] or "bool" in (name, source):
            continue
        to = Type(name)  # pyright: ignore[reportArgumentType] - a name of the table
        values = (pattern.view(DTYPES[source]),)
        case = _bits_as(to, pattern)
        yield Group(f"{source} as {name}", (source,), name, (case,), values)


# ---- all together -----------------------------------------------------------------------------


def groups(types: Sequence[str]) -> list[Group]:
    """Everything that can be asked of a target with some types."""
    names = [scalar for scalar in get_args(ScalarName) if scalar in types]
    found: list[Group] = [comparisons("bool")] if "bool" in names else []
    for scalar in names:
        if scalar in FLOATS:
            found += [*float_groups(scalar), *mathematics_groups(scalar)]
        elif scalar != "bool":
            found += integer_groups(scalar)
        found += conversion_groups(scalar, names)
        found += reinterpretation_groups(scalar, names)
    return found
