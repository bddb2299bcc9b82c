"""The C family: one emitter, and the parts of the tables that CUDA and HIP share.

A kernel takes pointers to its tensors in the order of `Function.buffers`, then a pointer to its
metadata (`layout.py`). A bool is a byte, a number of a half type is its bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.c_expressions import CExpressions
from firebrick.cube.codegen.c_snippets import INTEGERS
from firebrick.cube.codegen.c_statements import CStatements
from firebrick.cube.codegen.layout import layout_of
from firebrick.cube.codegen.linearize import linearize
from firebrick.cube.codegen.names import Names
from firebrick.cube.codegen.support import check
from firebrick.cube.ir.types import BITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.cube.codegen.target import Target
    from firebrick.cube.ir.nodes import AtomicOp, Function, MathName

NUMBERS = frozenset(BITS) - {"bool"}
_FLOATS = ("f32", "f64")
_ON_INTEGERS: tuple[MathName, ...] = (
    "count_ones", "reverse_bits", "leading_zeros", "trailing_zeros",
)  # fmt: skip
_ON_FLOATS: tuple[MathName, ...] = ("powi", "recip", "degrees", "radians", "is_nan", "is_inf")

ATOMICS: Mapping[AtomicOp, frozenset[str]] = {
    **dict.fromkeys(
        ("load", "store", "exchange", "add", "sub", "max", "min", "compare_exchange"), NUMBERS
    ),
    **dict.fromkeys(("and", "or", "xor"), frozenset(INTEGERS)),
}


def mathematics(library: Mapping[MathName, Mapping[str, str]]) -> dict[MathName, dict[str, str]]:
    """A library's functions by type, and those that are snippets."""
    table: dict[MathName, dict[str, str]] = {
        name: dict(functions) for name, functions in library.items()
    }
    table["abs"] |= {scalar: f"f_abs_{scalar}" for scalar in INTEGERS}
    for name in _ON_INTEGERS:
        table[name] = {scalar: f"f_{name}_{scalar}" for scalar in INTEGERS}
    for name in _ON_FLOATS:
        table[name] = {scalar: f"f_{name}_{scalar}" for scalar in _FLOATS}
    return table


def emit_c(function: Function, target: Target) -> str:
    """The text of a kernel, whose entry point is `names.entry_point(function.name)`.

    Raises:
        KernelCompileError: the kernel uses something that the target lacks.
        TooManyResourcesError: it asks for more than any device of the target has.
    """
    check(function, target)
    flat = linearize(function, selects=False)
    names = Names(flat)
    expressions = CExpressions(flat, target, names, layout_of(flat))
    return CStatements(flat, target, expressions).kernel()
