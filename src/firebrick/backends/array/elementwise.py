"""How elementwise functions are applied, and where a backend with threads comes in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import index
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array.quiet import QUIET, quietly, without_context

Elementwise: TypeAlias = Callable[..., Any]
"""A function of arrays and numbers that broadcast, with `out=`: a ufunc, or one like it."""


class Applied:
    """The base of the families that have elementwise operations.

    NumPy gives scalars where arrays would be 0-d; the results here are arrays, and no call warns.
    The first three methods are alike: what they do not share is what small operations wait for.
    """

    large: ClassVar[int] = sys.maxsize
    """The number of elements from which `apply_large` takes over."""

    def unary(self, function: Elementwise, tensor: Array) -> Array:
        """`function` of one array."""
        if tensor.size >= self.large:
            return self.apply_large(function, tensor)
        try:
            return np.asarray(QUIET.run(function, tensor))
        except RuntimeError:
            return np.asarray(without_context(function, tensor))

    def binary(self, function: Elementwise, lhs: Array, rhs: Array) -> Array:
        """`function` of two arrays."""
        if lhs.size >= self.large or rhs.size >= self.large:
            return self.apply_large(function, lhs, rhs)
        try:
            return np.asarray(QUIET.run(function, lhs, rhs))
        except RuntimeError:
            return np.asarray(without_context(function, lhs, rhs))

    def with_number(self, function: Elementwise, lhs: Array, rhs: Scalar) -> Array:
        """`function` of an array and a number, which takes the dtype of the array."""
        if lhs.size >= self.large:
            return self.apply_large(function, lhs, rhs)
        try:
            return np.asarray(QUIET.run(function, lhs, rhs))
        except RuntimeError:
            return np.asarray(without_context(function, lhs, rhs))

    def apply_large(self, function: Elementwise, *operands: Array | Scalar) -> Array:
        """`function` of operands of which one is large."""
        return np.asarray(quietly(function, *operands))


def whole(value: Scalar) -> int:
    """`value` as an int; `TypeError` for a float, which the form of the operation explains."""
    return index(cast("int", value))  # the check is what `index` is called for
