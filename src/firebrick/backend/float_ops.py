"""Built-in operations on float tensors, by what they do; each family has a file."""

from __future__ import annotations

from firebrick.backend.float_comparison import FloatComparison
from firebrick.backend.float_creation import FloatCreation
from firebrick.backend.float_indexing import FloatIndexing
from firebrick.backend.float_layout import FloatLayout
from firebrick.backend.float_math import FloatMath
from firebrick.backend.float_order import FloatOrder
from firebrick.backend.float_reduction import FloatReduction
from firebrick.opset.kinds import P


class FloatOps(
    FloatCreation[P],
    FloatMath[P],
    FloatComparison[P],
    FloatLayout[P],
    FloatIndexing[P],
    FloatReduction[P],
    FloatOrder[P],
    builtin=True,
):
    """Built-in operations on float tensors. Broadcasting is NumPy's."""
