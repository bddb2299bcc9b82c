"""How much two results may differ, by dtype; every number has a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.core import bfloat16, float16, float32, float64

if TYPE_CHECKING:
    from firebrick.core import DType


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two values are close if `abs(actual - expected) <= atol + rtol * abs(expected)`."""

    rtol: float
    atol: float

    def scaled(self, factor: float) -> Tolerance:
        """Both bounds times `factor`."""
        return Tolerance(self.rtol * factor, self.atol * factor)

    def plus(self, slack: float) -> Tolerance:
        """With `slack` added to the absolute bound."""
        return Tolerance(self.rtol, self.atol + slack)

    def __str__(self) -> str:
        return f"rtol {self.rtol:.3g}, atol {self.atol:.3g}"


EXACT = Tolerance(0.0, 0.0)
"""Of ints and bools, and of the same call made twice."""

# Source: torch.testing.assert_close, https://docs.pytorch.org/docs/stable/testing.html
BY_DTYPE: dict[DType, Tolerance] = {
    float16: Tolerance(1e-3, 1e-5),
    bfloat16: Tolerance(1.6e-2, 1e-5),
    float32: Tolerance(1.3e-6, 1e-5),
    float64: Tolerance(1e-7, 1e-7),
}

PARITY_FACTOR = 8.0
"""Of a result against another implementation: a sum of K terms may round 4 * sqrt(K) + 8 times
(Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1, in its probabilistic form),
and operations are composed."""

ANCHOR_FACTOR = 4.0
"""What the default body itself loses in the dtype under test, against float64, times this much is
allowed as well: badly conditioned operations are not faults."""

GRADIENT = Tolerance(1e-5, 1e-5)
"""Of float64 gradients against central differences, which are exact to about 1e-10: the step is
the cube root of the unit roundoff (Press et al., "Numerical Recipes", section 5.7)."""

SECOND_GRADIENT = Tolerance(1e-4, 1e-4)
"""Differences of gradients lose more: errors of composed backward passes add up."""


def tolerance_of(*dtypes: DType | None) -> Tolerance:
    """The loosest tolerance of the dtypes that are known; exact where none of them is a float."""
    known = [dtype for dtype in dtypes if dtype is not None]
    floats = [BY_DTYPE[dtype] for dtype in known if dtype in BY_DTYPE]
    if not floats:
        return EXACT if known else BY_DTYPE[float64]
    return max(floats, key=lambda tolerance: (tolerance.rtol, tolerance.atol))
