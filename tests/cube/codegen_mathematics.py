"""Functions of mathematics against NumPy in f64, and how far they may be off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.cube.codegen_cases import (
    Array,
    Group,
    OfOne,
    OfTwo,
    call_one,
    call_two,
    from_stored,
    one,
    pairs,
    to_stored,
    two,
)

from firebrick.cube.ir.nodes import (
    Call,
    MathName,
)
from firebrick.cube.ir.types import ScalarName, Type

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


def _inverse_root(x: Array) -> Any:
    return 1 / np.sqrt(x)


UNARY_FUNCTIONS: dict[MathName, tuple[OfOne, float, Array]] = {
    "exp": (np.exp, 2.5, np.concatenate([_around(0, width=20), _around(0, width=104), _ANY])),
    "log": (np.log, 2.5, _NEAR_ONE),
    "log1p": (np.log1p, 3, np.concatenate([_around(0, width=0.9), _ANY])),
    "inverse_sqrt": (_inverse_root, 2, _NEAR_ONE),
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
        case = one(name, call_one(name, type), oracle, ulps)
        given = (to_stored(scalar, values),)
        yield Group(f"{scalar} {name}", (scalar,), scalar, (case,), given, frozenset({name}))
    some = np.concatenate([_EDGES, [3.0, -3.0, 2.5, -2.5, 1e-3, -20.0, 30.0, 1.0001, 0.999]])
    grid = [to_stored(scalar, v) for v in pairs(some, some)]
    spread = [
        to_stored(scalar, _wide_range(-3, 3, 500)),
        to_stored(scalar, _around(0, width=12, count=1000)),
    ]
    both = tuple(np.concatenate([a, b]) for a, b in zip(grid, spread, strict=True))
    functions: dict[MathName, tuple[OfTwo, float]] = {
        "atan2": (np.arctan2, 4), "pow": (np.power, 4), "hypot": (np.hypot, 3),
    }  # fmt: skip
    for name, (oracle, ulps) in functions.items():
        case = two(name, call_two(name, type), oracle, ulps)
        yield Group(f"{scalar} {name}", (scalar, scalar), scalar, (case,), both, frozenset({name}))
    yield powers(scalar)
    fused = two("fma", lambda a, b: Call(type, "fma", (a, b, a)), lambda a, b: a * b + a, 4)
    finite = tuple(np.where(np.isfinite(from_stored(scalar, v)), v, v[2]) for v in both)
    positive = tuple(to_stored(scalar, np.abs(from_stored(scalar, v))) for v in finite)
    yield Group(f"{scalar} fma", (scalar, scalar), scalar, (fused,), positive, frozenset({"fma"}))


def _integer_power(x: Array, n: Array) -> Any:
    return np.power(x, n.astype(np.float64))


def powers(scalar: ScalarName) -> Group:
    """`powi` with exponents of both signs."""
    type, numbers = Type(scalar), np.concatenate([_EDGES, [1.5, -1.25, 3.0]])
    exponents = np.array([-11, -3, -2, -1, 0, 1, 2, 3, 4, 5, 12, 31], np.int32)
    x, n = pairs(to_stored(scalar, numbers), exponents)
    case = two("powi", call_two("powi", type), _integer_power, 16)
    return Group(f"{scalar} powi", (scalar, "i32"), scalar, (case,), (x, n), frozenset({"powi"}))
