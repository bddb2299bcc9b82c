"""How elementwise functions are applied: the one place that a faster backend overrides."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, TypeAlias, cast

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array.quiet import QUIET

Elementwise: TypeAlias = Callable[..., Any]
"""A function of arrays and numbers that broadcast, with `out=`: a ufunc, or one like it."""


class Applied:
    """The base of the families that have elementwise operations.

    NumPy gives scalars where arrays would be 0-d; the results here are arrays, and no call warns.
    """

    def unary(self, function: Elementwise, tensor: Array) -> Array:
        """`function` of one array."""
        return np.asarray(QUIET.run(function, tensor))

    def binary(self, function: Elementwise, lhs: Array, rhs: Array) -> Array:
        """`function` of two arrays."""
        return np.asarray(QUIET.run(function, lhs, rhs))

    def with_number(self, function: Elementwise, lhs: Array, rhs: Scalar) -> Array:
        """`function` of an array and a number, which takes the dtype of the array."""
        return np.asarray(QUIET.run(function, lhs, rhs))


def whole(value: Scalar) -> int:
    """`value` as an int; `TypeError` for a float, which the form of the operation explains."""
    return index(cast("int", value))  # the check is what `index` is called for
