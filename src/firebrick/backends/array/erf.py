"""The error function, which NumPy does not have, by Taylor series around the points of a grid.

Source: Abramowitz and Stegun 1964, "Handbook of Mathematical Functions", 7.1.19: derivative n + 1
of erf at c is (-1)^n 2 / sqrt(pi) H_n(c) exp(-c^2), with the Hermite polynomials H_n, which
satisfy H_n+1(c) = 2 c H_n(c) - 2 n H_n-1(c) (22.7.13).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from firebrick.backend.options import Array, Scalar

LIMIT = 6.0
"""From here on erf is 1 in float64."""
STEPS = 128
"""Points of the grid per unit."""
TERMS = 7
"""Within a step the terms left out are below 1e-19."""


def erf(*operands: Array | Scalar, out: Array | None = None) -> Array:
    """The error function of one array, computed in float64 and rounded to the array's dtype."""
    x = np.asarray(operands[0])
    # fmin: NaN goes through the arithmetic as the limit and is put back at the end
    size = np.fmin(np.abs(x), LIMIT).astype(np.float64, copy=False)
    # the point below, so that what is added has the sign of what it is added to
    below = np.floor(size * STEPS)
    point = below.astype(np.intp)
    at_points, slopes = _grid()
    value = slopes.take(point)
    below /= STEPS
    size -= below
    value *= size
    value *= _series(below, size)
    value += at_points.take(point)
    if out is None:
        out = np.empty(x.shape, x.dtype)
    np.copysign(value, x, out=out, casting="same_kind")
    np.copyto(out, x, where=np.isnan(x))
    return out


@cache
def _grid() -> tuple[Array, Array]:
    """Erf and its derivative at the points."""
    points = [k / STEPS for k in range(int(LIMIT) * STEPS + 1)]
    slopes = [2.0 / math.sqrt(math.pi) * math.exp(-c * c) for c in points]
    return np.array([math.erf(c) for c in points]), np.array(slopes)


def _series(c: Array, h: Array) -> Array:
    """The sum of (-1)^n H_n(c) h^n / (n + 1)!, each term from the two before it."""
    by_point, by_square = -2.0 * c * h, -2.0 * h * h
    before, term = np.zeros_like(h), np.ones_like(h)
    total = np.ones_like(h)
    for n in range(TERMS):
        before *= by_square * (n / ((n + 1) * (n + 2)))
        before += by_point * term / (n + 2)
        before, term = term, before
        total += term
    return total
