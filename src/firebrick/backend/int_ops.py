"""Built-in operations on integer tensors, by what they do; each family has a file."""

from __future__ import annotations

from firebrick.backend.int_comparison import IntComparison
from firebrick.backend.int_creation import IntCreation
from firebrick.backend.int_indexing import IntIndexing
from firebrick.backend.int_layout import IntLayout
from firebrick.backend.int_math import IntMath
from firebrick.backend.int_order import IntOrder
from firebrick.backend.int_reduction import IntReduction
from firebrick.opset.kinds import P


class IntOps(
    IntCreation[P],
    IntMath[P],
    IntComparison[P],
    IntLayout[P],
    IntIndexing[P],
    IntReduction[P],
    IntOrder[P],
    builtin=True,
):
    """Built-in operations on integer tensors. Broadcasting is NumPy's."""
