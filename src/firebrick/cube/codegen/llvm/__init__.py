"""LLVM IR for processors, as text; nothing here needs LLVM.

kernel.py        the module: loops over cubes and units, a version with and one without guards
guards.py        which comparisons hold for almost all units
plan.py          a cube's statements, cut at the barriers
loops.py         loops that the cube runs, so that units are a vector inside
sharing.py       variables that all units of a cube have in common
definitions.py   variables whose value is computed again after a barrier
storage.py       where everything else lives between the runs; scratch.py accesses it
cubes.py         the plan of a cube as code; runs.py what one unit does between barriers
flow.py          jumps, and variables that are read before they are set
affine.py        how indices grow from unit to unit; hazards.py where that must not be used
statements.py    statements of a unit; atomics.py
expressions.py   expressions; arithmetic.py, conversions.py, mathematics.py
elementary.py    exp, log and their kin; trigonometry.py
arguments.py     what a launch hands over; positions.py where a unit is
text.py          instructions, blocks and modules as text; types.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.kernel import Module, write_module
from firebrick.cube.ir.types import BITS
from firebrick.cube.runtime.base import Properties

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function

__all__ = ["PROPERTIES", "Module", "emit", "write_module"]

PROPERTIES = Properties(types=frozenset(BITS), plane_dim=1)
"""What every processor has."""


def emit(function: Function) -> str:
    """The text of a function that has its guards."""
    return write_module(function).text
