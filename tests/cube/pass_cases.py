"""Helpers for tests of passes: text in and out, and the same outcome before and after."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import numpy as np
from tests.cube.build import parse
from tests.cube.random_launches import Array, RandomLaunch

from firebrick.cube.interpreter import run
from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.printer import print_function
from firebrick.cube.ir.types import BITS
from firebrick.cube.ir.verifier import verify
from firebrick.cube.runtime.base import Properties

Pass = Callable[[Function], Function]
PROPERTIES = Properties(types=frozenset(BITS), plane_dim=32)
DECLARED = """\
buffer x: f32, rank 1, position 0
buffer y: i32, rank 2, position 1
buffer out: mut f32, rank 1, position 2
buffer counts: mut i32, rank 1, position 3
scalar n: i32, position 0
scalar s: f32, position 1
variable i: i32
variable j: i32
variable k: i32
variable a: f32
variable b: f32
variable u: u32
variable flag: bool
"""
"""What the kernels of these tests declare."""


def kernel(body: str, *, more: str = "", cube_dim: tuple[int, int, int] = (64, 1, 1)) -> Function:
    """A kernel with that body; `more` declares more."""
    return parse(DECLARED + more, indent(dedent(body), "    "), cube_dim=cube_dim)


def text_of(function: Function) -> str:
    """The body of a valid function."""
    verify(function)
    return dedent(print_function(function).partition("body:\n")[2])


def after(
    passing: Pass, body: str, *, more: str = "", cube_dim: tuple[int, int, int] = (64, 1, 1)
) -> str:
    """The body of a kernel after a pass."""
    return text_of(passing(kernel(body, more=more, cube_dim=cube_dim)))


def code(body: str) -> str:
    """A body as `after` gives it."""
    return dedent(body)


def outcome(function: Function, launch: RandomLaunch) -> list[Array]:
    """What the buffers hold after a run in the interpreter."""
    buffers = launch.buffers()
    run(function, launch.cube_count, buffers, launch.scalars)
    return [buffer.values for buffer in buffers]


def assert_same(wanted: list[Array], found: list[Array]) -> None:
    """Equal values; NaN equals NaN, and zeros have the same sign."""
    for left, right in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(left, right)
        if left.dtype.kind == "f":
            is_number = ~np.isnan(left)
            signs = np.signbit(left[is_number]), np.signbit(right[is_number])
            np.testing.assert_array_equal(*signs)
