"""What every operator and function of the kernel language gives, as one table for all targets.

A group is a kernel that works out some expressions of the same inputs; each expression has an
oracle in NumPy or in Python's integers. Values of bf16 are kept as their bits, in uint16.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import (
    Binary,
    Buffer,
    Call,
    Compare,
    Constant,
    Expression,
    Function,
    If,
    Length,
    Load,
    MathName,
    Store,
    Topology,
)
from firebrick.cube.ir.types import BITS, I32, Type

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
One: TypeAlias = Callable[[Expression], Expression]
Two: TypeAlias = Callable[[Expression, Expression], Expression]
OfOne: TypeAlias = Callable[[Array], Any]
OfTwo: TypeAlias = Callable[[Array, Array], Any]

INTS = [scalar for scalar in BITS if scalar[0] in "iu"]
FLOATS = ["f16", "bf16", "f32", "f64"]
UNITS = 64

DTYPES: dict[str, np.dtype[Any]] = {
    **{scalar: np.dtype(f"{scalar[0]}{BITS[scalar] // 8}") for scalar in INTS},
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
    build: Callable[..., Expression]
    oracle: Callable[..., Any]
    ulps: float = 0
    any_zero: bool = False
    """Either zero will do."""


def one(name: str, build: One, oracle: OfOne, ulps: float = 0) -> Case:
    """A case of one input."""
    return Case(name, build, oracle, ulps)


def two(name: str, build: Two, oracle: OfTwo, ulps: float = 0, *, any_zero: bool = False) -> Case:
    """A case of two inputs."""
    return Case(name, build, oracle, ulps, any_zero)


def call_one(name: MathName, type: Type) -> One:
    """A function of one argument."""
    return lambda x: Call(type, name, (x,))


def call_two(name: MathName, type: Type) -> Two:
    """A function of two arguments."""
    return lambda a, b: Call(type, name, (a, b))


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
