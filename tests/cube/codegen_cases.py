"""What every operator and function of the kernel language gives, as one table for all targets.

A group is a kernel that works out some expressions of the same inputs; each expression has an
oracle in NumPy or in Python's integers. Values of bf16 are kept as their bits, in uint16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

import numpy as np

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Binary,
    BinaryOp,
    Buffer,
    Call,
    Cast,
    Compare,
    CompareOp,
    Constant,
    Expression,
    Function,
    If,
    Length,
    Load,
    MathName,
    Reinterpret,
    Select,
    Store,
    Topology,
    Unary,
)
from firebrick.cube.ir.types import BITS, BOOL, F32, I32, ScalarName, Type

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Build: TypeAlias = Callable[..., Expression]
Oracle: TypeAlias = Callable[..., Any]

INTS = [scalar for scalar in BITS if scalar[0] in "iu"]
FLOATS = ["f16", "bf16", "f32", "f64"]
UNITS = 64

DTYPES: dict[str, np.dtype[Any]] = {
    **{scalar: np.dtype(f"{'int' if scalar[0] == 'i' else 'uint'}{BITS[scalar]}") for scalar in INTS},
    "bool": np.dtype(bool), "f16": np.dtype(np.float16), "bf16": np.dtype(np.uint16),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
}  # fmt: skip
"""How arrays of a type are handed over."""


# ---- numbers ----------------------------------------------------------------------------------


def from_stored(scalar: str, values: Array) -> Array:
    """Numbers to compute with: f64 for floats, as they are otherwise."""
    if scalar == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64) if scalar in FLOATS else values


def to_stored(scalar: str, values: Any) -> Array:
    """Numbers rounded to a type, once."""
    with np.errstate(all="ignore"):
        if scalar != "bf16":
            return np.asarray(values).astype(DTYPES[scalar])
        wide = np.asarray(values, np.float64)
        mantissa, exponent = np.frexp(wide)
        # 8 bits of significand, fewer for subnormal numbers
        digits = np.minimum(8, exponent + 133)
        rounded = np.ldexp(np.rint(np.ldexp(mantissa, digits)), exponent - digits)
        finite = np.where(np.isfinite(wide), rounded, wide)
        return (finite.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def unit_in_last_place(scalar: str, values: Array) -> Array:
    """The distance of neighbouring numbers of a type at some places."""
    digits, lowest = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149), "f64": (53, -1074)}[
        scalar
    ]
    _, exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))
    return np.ldexp(1.0, np.maximum(exponent - digits, lowest))


SPECIAL_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, -3.5, 7.0, -7.25, 0.1, 100.0, -1000.0, 65504.0,
    70000.0, 1e-3, -1e-6, 3e9, -3e9, 1e20, math.inf, -math.inf, math.nan,
]  # fmt: skip


def special_values(scalar: str) -> Array:
    """Values at which operations go wrong."""
    if scalar == "bool":
        return np.array([False, True])
    if scalar in FLOATS:
        return to_stored(scalar, SPECIAL_FLOATS)
    low, high = integer_range(Type(scalar))  # pyright: ignore[reportArgumentType] - a name of the table
    wanted = [
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        31,
        32,
        63,
        64,
        100,
        -1,
        -2,
        -3,
        -7,
        -32,
        low,
        low + 1,
        high,
        high - 1,
    ]
    return np.array([v for v in dict.fromkeys(wanted) if low <= v <= high], DTYPES[scalar])


def pairs(first: Array, second: Array) -> tuple[Array, Array]:
    """Every value with every other."""
    return np.repeat(first, len(second)), np.tile(second, len(first))


# ---- cases and groups -------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An expression of a group's inputs; `ulps` is how far it may be off, 0 for equal bits."""

    name: str
    build: Build
    oracle: Oracle
    ulps: float = 0
    any_zero: bool = False
    """Either zero will do."""


@dataclass(frozen=True)
class Group:
    """Cases with one kind of inputs and of result."""

    name: str
    inputs: tuple[str, ...]
    result: str
    cases: tuple[Case, ...]
    values: tuple[Array, ...] = field(compare=False)
    functions: frozenset[str] = frozenset()
    """Functions of mathematics in it."""

    @property
    def function(self) -> Function:
        """The kernel: element `i` of every case for element `i` of the inputs."""
        buffers = [
            Buffer(f"x{i}", Type(scalar), 1, False, i)  # pyright: ignore[reportArgumentType] - names of the table
            for i, scalar in enumerate(self.inputs)
        ]
        result_type = Type(self.result)  # pyright: ignore[reportArgumentType] - as above
        out = Buffer("out", result_type, 2, True, len(buffers))
        unit = Topology(I32, "ABSOLUTE_POS")
        loads = [Load(buffer, unit) for buffer in buffers]
        stores = tuple(
            Store(out, _place(unit, position, len(self.cases)), case.build(*loads))
            for position, case in enumerate(self.cases)
        )
        body = (If(Compare("lt", unit, Length(I32, buffers[0])), stores),)
        name = f"check_{self.name.replace(' ', '_')}"
        return Function(name, (*buffers, out), (), (), (), (), body, I32, (UNITS, 1, 1))

    def arrays(self) -> list[Array]:
        """Inputs and room for the results."""
        size = len(self.values[0])
        return [*self.values, np.zeros((size, len(self.cases)), DTYPES[self.result])]

    def cubes(self) -> tuple[int, int, int]:
        """Enough for all elements."""
        return -(-len(self.values[0]) // UNITS), 1, 1

    def failures(self, found: Array, *, looser: float = 1, flushes: bool = False) -> list[str]:
        """What is wrong with a table of results; `flushes`: subnormal numbers may be zeros."""
        wide = [from_stored(s, v) for s, v in zip(self.inputs, self.values, strict=True)]
        with np.errstate(all="ignore"):
            return [
                message
                for position, case in enumerate(self.cases)
                if (message := self._failure(case, found[:, position], wide, looser, flushes))
            ]

    def _failure(
        self, case: Case, found: Array, inputs: list[Array], looser: float, flushes: bool
    ) -> str:
        expected = np.asarray(case.oracle(*inputs))
        given = from_stored(self.result, found)
        if self.result not in FLOATS:
            wrong = given != expected.astype(DTYPES[self.result])
        else:
            rounded = from_stored(self.result, to_stored(self.result, expected))
            allowed = case.ulps * looser * unit_in_last_place(self.result, rounded)
            if flushes:
                allowed = np.maximum(allowed, 1.2e-38)
                inputs = [np.where(np.abs(x) < 1.2e-38, 0.0, x) for x in inputs]
            reference = expected.astype(np.float64) if case.ulps else rounded
            wrong = ~_close(given, reference, rounded, allowed)
            if not (case.any_zero or case.ulps or flushes):
                wrong |= (given == 0) & (np.signbit(given) != np.signbit(rounded))
        if not wrong.any():
            return ""
        at = int(np.argmax(wrong))
        arguments = ", ".join(repr(x[at].item()) for x in inputs)
        return (
            f"{case.name}({arguments}) gave {given[at]!r} instead of {expected[at]!r} "
            f"({int(wrong.sum())} of {wrong.size} are wrong)"
        )


def _place(unit: Expression, position: int, count: int) -> Expression:
    first = Binary("mul", unit, Constant(I32, count))
    return Binary("add", first, Constant(I32, position))


def _close(given: Array, expected: Array, rounded: Array, allowed: Array) -> Array:
    both_nan = np.isnan(given) & np.isnan(rounded)
    same = (given == rounded) | both_nan
    return same | (np.abs(given - expected) <= allowed)


# ---- integers ---------------------------------------------------------------------------------


def wrapped(scalar: str, value: int) -> int:
    """An integer cut to the bits of a type."""
    bits = BITS[scalar]
    value &= (1 << bits) - 1
    return value - (1 << bits) if scalar[0] == "i" and value >> (bits - 1) else value


def _elementwise(scalar: str, function: Callable[..., int]) -> Oracle:
    def oracle(*values: Array) -> Array:
        rows = zip(*(value.tolist() for value in values), strict=True)
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


def _binary(op: BinaryOp) -> Build:
    return lambda a, b: Binary(op, a, b)


def _call(name: MathName, type: Type) -> Build:
    return lambda *arguments: Call(type, name, arguments)


def integer_groups(scalar: ScalarName) -> Iterator[Group]:
    """Arithmetic and bits of an integer type."""
    type, values = Type(scalar), special_values(scalar)
    cases = [
        Case(op, _binary(op), _elementwise(scalar, function))
        for op, function in _integer_binary(scalar).items()
    ]
    # Constants: code for them may differ.
    for constant in (0, 3, BITS[scalar] - 1):
        shift = _integer_binary(scalar)
        for op in ("shl", "shr", "floordiv", "mod"):
            cases.append(
                Case(
                    f"{op} by {constant}",
                    lambda a, _, op=op, constant=constant: Binary(op, a, Constant(type, constant)),
                    _elementwise(scalar, lambda a, _, op=op, c=constant, s=shift: s[op](a, c)),
                )
            )
    low, high = integer_range(type)
    cases.append(
        Case(
            "constants that overflow",
            lambda *_: Binary("add", Constant(type, high), Constant(type, 1)),
            lambda a, _: np.full(len(a), low, DTYPES[scalar]),
        )
    )
    yield Group(f"{scalar} binary", (scalar, scalar), scalar, tuple(cases), pairs(values, values))
    unary = [
        Case(name, _call(name, type), _elementwise(scalar, function))
        for name, function in _integer_unary(scalar).items()
    ]
    unary += [
        Case("neg", lambda x: Unary("neg", x), _elementwise(scalar, lambda x: -x)),
        Case("invert", lambda x: Unary("invert", x), _elementwise(scalar, lambda x: ~x)),
    ]
    yield Group(f"{scalar} unary", (scalar,), scalar, tuple(unary), (values,))
    yield comparisons(scalar)


def comparisons(scalar: ScalarName) -> Group:
    """All six, the results as bools."""
    functions: dict[CompareOp, Oracle] = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    ops = [op for op in functions if scalar != "bool" or op in ("eq", "ne")]
    cases = tuple(Case(op, lambda a, b, op=op: Compare(op, a, b), functions[op]) for op in ops)
    values = special_values(scalar)
    return Group(f"{scalar} compare", (scalar, scalar), "bool", cases, pairs(values, values))


# ---- floats -----------------------------------------------------------------------------------


def _working(scalar: str, function: Callable[..., Any]) -> Oracle:
    """Computed in the registers' type: f64, or f32 for all others."""
    dtype = np.float64 if scalar == "f64" else np.float32
    return lambda *values: function(*(value.astype(dtype) for value in values)).astype(np.float64)


def float_groups(scalar: ScalarName) -> Iterator[Group]:
    """Arithmetic of a float type."""
    type, values = Type(scalar), special_values(scalar)
    functions: dict[BinaryOp, Callable[..., Any]] = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "floordiv": lambda a, b: np.floor(a / b), "mod": np.mod,
        "min": np.minimum, "max": np.maximum,
    }  # fmt: skip
    cases = tuple(
        Case(op, _binary(op), _working(scalar, function), any_zero=op in ("min", "max"))
        for op, function in functions.items()
    )
    yield Group(f"{scalar} binary", (scalar, scalar), scalar, cases, pairs(values, values))
    exact: dict[MathName, Callable[..., Any]] = {
        "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint, "abs": np.abs,
        "sqrt": np.sqrt, "recip": np.reciprocal,
    }  # fmt: skip
    unary = [Case(n, _call(n, type), _working(scalar, f)) for n, f in exact.items()]
    unary += [
        Case("neg", lambda x: Unary("neg", x), np.negative),
        Case("square", lambda x: Binary("mul", x, x), _working(scalar, np.square)),
        Case("infinity", lambda x: Binary("min", x, Constant(type, math.inf)), lambda x: x),
        Case("nan", lambda x: Binary("add", x, Constant(type, math.nan)), lambda x: x * math.nan),
        Case("-0.0", lambda _: Constant(type, -0.0), lambda x: np.full(len(x), -0.0)),
        Case("a constant", lambda x: Select(Compare("eq", x, x), Constant(type, 0.1), x),
             lambda x: np.where(np.isnan(x), x, from_stored(scalar, to_stored(scalar, 0.1)))),
    ]  # fmt: skip
    yield Group(f"{scalar} unary", (scalar,), scalar, tuple(unary), (values,))
    tests: dict[MathName, Oracle] = {"is_nan": np.isnan, "is_inf": np.isinf}
    named = tuple(Case(n, _call(n, BOOL), f) for n, f in tests.items())
    yield Group(f"{scalar} tests", (scalar,), "bool", named, (values,))
    yield comparisons(scalar)


# ---- conversions ------------------------------------------------------------------------------


def _convert(source: str, to: str) -> Oracle:
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
        more = [*np.linspace(-300, 300, 97), 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99, 65520.0,
                1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 3.4e38, 3.3961e38, 6e-8, 2.9e-8]  # fmt: skip
        values = np.concatenate([values, to_stored(source, more)])
    for name in targets:
        if name == source:
            continue
        to = Type(name)  # pyright: ignore[reportArgumentType] - a name of the table
        case = Case(f"{source} to {name}", lambda x, to=to: Cast(to, x), _convert(source, name))
        yield Group(f"{source} to {name}", (source,), name, (case,), (values,))


def reinterpretation_groups(source: ScalarName, targets: Sequence[str]) -> Iterator[Group]:
    """The same bits; the values are bits that are numbers of every type."""
    size = BITS[source] // 8
    pattern = (np.arange(1, 14 * size + 1) * 37 % 119).astype(np.uint8).view(f"u{size}")
    for name in targets:
        if name == source or BITS[name] != BITS[source] or "bool" in (name, source):
            continue
        to = Type(name)  # pyright: ignore[reportArgumentType] - a name of the table
        dtype = DTYPES[name]
        case = Case(
            f"bits of {source} as {name}",
            lambda x, to=to: Reinterpret(to, x),
            lambda _, dtype=dtype, name=name: from_stored(name, pattern.view(dtype)),
        )
        values = (pattern.view(DTYPES[source]),)
        yield Group(f"{source} as {name}", (source,), name, (case,), values)


# ---- functions of mathematics -----------------------------------------------------------------

ERF = np.vectorize(math.erf, otypes=[np.float64])


def _around(*places: float, width: float, count: int = 400) -> Array:
    rng = np.random.default_rng(7)
    return np.concatenate([place + width * rng.uniform(-1, 1, count) for place in places])


def _wide_range(low: float, high: float, count: int = 1000) -> Array:
    rng = np.random.default_rng(11)
    size = 10 ** rng.uniform(low, high, count)
    return np.concatenate([size, -size])


_EDGES = np.array([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 2.0])
_ANGLES = np.concatenate(
    [_wide_range(-6, 4), _wide_range(4, 38, 300), np.pi * np.arange(-40, 41) / 4, _EDGES]
)
_UNIT = np.concatenate([_wide_range(-6, 0), _around(0.5, 1, -0.5, -1, width=1e-3), _EDGES])
_ANY = np.concatenate([_wide_range(-6, 2), _wide_range(-38, 38), _EDGES])
_NEAR_ONE = np.concatenate([_wide_range(-38, 38), _around(1.0, width=0.5), _EDGES])

UNARY_FUNCTIONS: dict[MathName, tuple[Oracle, float, Array]] = {
    "exp": (np.exp, 2.5, np.concatenate([_around(0, width=20), _around(0, width=104), _ANY])),
    "log": (np.log, 2.5, _NEAR_ONE),
    "log1p": (np.log1p, 3, np.concatenate([_around(0, width=0.9), _ANY])),
    "inverse_sqrt": (lambda x: 1 / np.sqrt(x), 2, _NEAR_ONE),
    "sin": (np.sin, 3, _ANGLES),
    "cos": (np.cos, 3, _ANGLES),
    "tan": (np.tan, 4, _ANGLES),
    "asin": (np.arcsin, 4, _UNIT),
    "acos": (np.arccos, 4, _UNIT),
    "atan": (np.arctan, 4, _ANY),
    "sinh": (
        np.sinh,
        4,
        np.concatenate([_around(0, width=90), _around(0, 1, -1, width=0.1), _ANY]),
    ),
    "cosh": (np.cosh, 4, np.concatenate([_around(0, width=90), _ANY])),
    "tanh": (np.tanh, 4, np.concatenate([_around(0, width=10), _around(0.6, width=0.1), _ANY])),
    "erf": (ERF, 4, np.concatenate([_around(0, width=4.5), _around(1, -1, width=0.1), _ANY])),
    "degrees": (np.degrees, 1.5, _ANY),
    "radians": (np.radians, 1.5, _ANY),
}
"""Oracle in f64, allowed error in units in the last place, values."""


def mathematics_groups(scalar: ScalarName) -> Iterator[Group]:
    """Functions of mathematics of a float type."""
    type = Type(scalar)
    for name, (oracle, ulps, values) in UNARY_FUNCTIONS.items():
        case = Case(name, _call(name, type), oracle, ulps)
        given = (to_stored(scalar, values),)
        yield Group(f"{scalar} {name}", (scalar,), scalar, (case,), given, frozenset({name}))
    some = np.concatenate([_EDGES, [3.0, -3.0, 2.5, -2.5, 1e-3, -20.0, 30.0, 1.0001, 0.999]])
    grid = [to_stored(scalar, v) for v in pairs(some, some)]
    spread = [
        to_stored(scalar, _wide_range(-3, 3, 500)),
        to_stored(scalar, _around(0, width=12, count=1000)),
    ]
    both = tuple(np.concatenate([a, b]) for a, b in zip(grid, spread, strict=True))
    functions: dict[MathName, tuple[Oracle, float]] = {
        "atan2": (np.arctan2, 4), "pow": (np.power, 4), "hypot": (np.hypot, 3),
    }  # fmt: skip
    for name, (oracle, ulps) in functions.items():
        case = Case(name, _call(name, type), oracle, ulps)
        yield Group(f"{scalar} {name}", (scalar, scalar), scalar, (case,), both, frozenset({name}))
    yield powers(scalar)
    fused = Case("fma", lambda a, b: Call(type, "fma", (a, b, a)), lambda a, b: a * b + a, 4)
    finite = tuple(np.where(np.isfinite(from_stored(scalar, v)), v, v[2]) for v in both)
    positive = tuple(to_stored(scalar, np.abs(from_stored(scalar, v))) for v in finite)
    yield Group(f"{scalar} fma", (scalar, scalar), scalar, (fused,), positive, frozenset({"fma"}))


def powers(scalar: ScalarName) -> Group:
    """`powi` with exponents of both signs."""
    type, numbers = Type(scalar), np.concatenate([_EDGES, [1.5, -1.25, 3.0]])
    exponents = np.array([-11, -3, -2, -1, 0, 1, 2, 3, 4, 5, 12, 31], np.int32)
    x, n = pairs(to_stored(scalar, numbers), exponents)
    case = Case("powi", lambda x, n: Call(type, "powi", (x, n)),
                lambda x, n: np.power(x, n.astype(np.float64)), 16)  # fmt: skip
    return Group(f"{scalar} powi", (scalar, "i32"), scalar, (case,), (x, n), frozenset({"powi"}))


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


__all__ = ["DTYPES", "F32", "Array", "Case", "Group", "groups"]
