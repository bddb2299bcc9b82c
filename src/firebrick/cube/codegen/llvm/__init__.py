"""LLVM IR for processors, as text; nothing here needs LLVM."""

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
