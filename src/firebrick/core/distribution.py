"""What random values are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["default", "uniform", "normal", "bernoulli"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A family with two parameters; made by the static methods."""

    family: Family
    first: float = 0.0
    second: float = 0.0

    @staticmethod
    def default() -> Distribution:
        """Floats: uniform in [0, 1). Integers: 0 to 255, both included."""
        return Distribution("default")

    @staticmethod
    def uniform(low: float, high: float) -> Distribution:
        """Half open: `low <= x < high`; `ValueError` unless `low < high`."""
        if not low < high:
            raise ValueError(f"a uniform distribution needs low < high; got {low!r} and {high!r}.")
        return Distribution("uniform", low, high)

    @staticmethod
    def normal(mean: float = 0.0, std: float = 1.0) -> Distribution:
        """Gaussian; `ValueError` for a negative standard deviation."""
        if not std >= 0:
            raise ValueError(f"a standard deviation is not negative; got {std!r}.")
        return Distribution("normal", mean, std)

    @staticmethod
    def bernoulli(probability: float) -> Distribution:
        """1 with that probability, else 0; `ValueError` outside [0, 1]."""
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability lies in [0, 1]; got {probability!r}.")
        return Distribution("bernoulli", probability)
