"""Fits the polynomials of `firebrick.cube.codegen.llvm` and prints their coefficients.

    python tools/fit_polynomials.py

Each fit minimizes the largest relative error of the finished function with Lawson's algorithm
(Lawson 1961, "Contributions to the theory of linear least maximum approximation"): least squares,
weighted again and again by the errors that are left. Float64 is exact enough for what is evaluated
in float32, or in float64 for a result in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

POINTS = 2000
ROUNDS = 400
Array = np.ndarray[tuple[int], np.dtype[np.float64]]
Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Fit:
    """`target(x) = sum of c[k] * z(x)**k`; `weight` turns its error into that of the result."""

    name: str
    low: float
    high: float
    terms: int
    z: Function
    target: Function
    weight: Function


def nodes(low: float, high: float) -> Array:
    """Chebyshev nodes, which crowd at the ends as the errors do."""
    angles = (np.arange(POINTS) + 0.5) * (math.pi / POINTS)
    return 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angles)


def fit(problem: Fit) -> tuple[Array, float]:
    """Coefficients, lowest power first, and the largest relative error that is left."""
    x = nodes(problem.low, problem.high)
    z, target, weight = problem.z(x), problem.target(x), problem.weight(x)
    # Powers of `z` that is scaled to [-1, 1] keep the system well conditioned.
    scale = float(np.max(np.abs(z)))
    powers = np.vander(z / scale, problem.terms, increasing=True)
    importance = np.full(POINTS, 1.0 / POINTS)
    best, smallest = np.zeros(problem.terms), math.inf
    for _ in range(ROUNDS):
        by = np.sqrt(importance) * weight
        found = np.linalg.lstsq(powers * by[:, None], target * by, rcond=None)[0]
        error = np.abs((powers @ found - target) * weight)
        if error.max() < smallest:
            best, smallest = found, float(error.max())
        importance *= error + error.max() * 1e-3
        importance /= importance.sum()
    return best / scale ** np.arange(problem.terms), smallest


def square(x: Array) -> Array:
    """`x * x`."""
    return x * x


def same(x: Array) -> Array:
    """`x`."""
    return x


def each(function: Callable[[float], float]) -> Function:
    """A function of `math` on arrays."""
    return lambda x: np.array([function(float(v)) for v in x])


erf = each(math.erf)
LN2 = math.log(2)
SQRT2 = math.sqrt(2)


def log_rest(f: Array) -> Array:
    """`(log(1 + f) - f + f * f / 2) / f**3`, by its series near 0."""
    series = sum((-1.0) ** k * f**k / (k + 3) for k in range(30))
    far = (np.log1p(f) - f + f * f / 2) / f**3
    return np.where(np.abs(f) < 0.2, series, far)


def exp2_rest(r: Array) -> Array:
    """`(2**r - 1) / r`."""
    return np.expm1(r * LN2) / r


def erf_exponent(x: Array) -> Array:
    """`-log(1 - erf(x)) / x`."""
    return -np.log(each(math.erfc)(x)) / x


PROBLEMS = [
    Fit("EXP", -LN2 / 2, LN2 / 2, 5, same, lambda r: (np.expm1(r) - r) / (r * r),
        lambda r: r * r / np.exp(r)),
    Fit("LOG", 1 / SQRT2 - 1, SQRT2 - 1, 9, same, log_rest, lambda f: f**3 / np.log1p(f)),
    Fit("SINH", 1e-3, 1.0, 4, square, lambda x: (np.sinh(x) - x) / x**3,
        lambda x: x**3 / np.sinh(x)),
    Fit("ERF_NEAR", 1e-3, 0.875, 6, square, lambda x: erf(x) / x - 1,
        lambda x: x / erf(x)),
    Fit("ERF_FAR", 0.875, 4.0, 7, same, erf_exponent,
        lambda x: x * each(math.erfc)(x) / erf(x)),
    Fit("TANH", 1e-3, 0.625, 5, square, lambda x: (np.tanh(x) - x) / x**3,
        lambda x: x**3 / np.tanh(x)),
    Fit("SIN", 1e-3, math.pi / 4, 3, square, lambda r: (np.sin(r) - r) / r**3,
        lambda r: r**3 / np.sin(r)),
    Fit("COS", 1e-2, math.pi / 4, 3, square, lambda r: (np.cos(r) - 1 + r * r / 2) / r**4,
        lambda r: r**4 / np.cos(r)),
    Fit("ATAN", 1e-3, 1.0, 10, square, lambda q: (np.arctan(q) - q) / q**3,
        lambda q: q**3 / np.arctan(q)),
    Fit("ASIN", 1e-2, 0.5, 6, square, lambda s: (np.arcsin(s) - s) / s**3,
        lambda s: s**3 / np.arcsin(s)),
    Fit("SIN_DOUBLE", 1e-3, math.pi / 4, 4, square, lambda r: (np.sin(r) - r) / r**3,
        lambda r: r**3 / np.sin(r)),
    Fit("COS_DOUBLE", 1e-2, math.pi / 4, 4, square, lambda r: (np.cos(r) - 1 + r * r / 2) / r**4,
        lambda r: r**4 / np.cos(r)),
    Fit("ATANH", 1e-2, 3 - 2 * SQRT2, 5, square, lambda s: (np.arctanh(s) - s) / s**3,
        lambda s: s**3 / np.arctanh(s)),
    Fit("EXP2", -0.5, 0.5, 7, same, exp2_rest, lambda r: r / np.exp2(r)),
]  # fmt: skip


def main() -> None:
    """Prints every fit."""
    for problem in PROBLEMS:
        coefficients, error = fit(problem)
        print(f"{problem.name}: relative error {error:.1e} = 2^{math.log2(error):.1f}")
        for value in coefficients:
            print(f"    {float(value)!r},")


if __name__ == "__main__":
    main()
