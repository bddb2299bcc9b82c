"""Values of generated tensors: no two floats equal, none near 0, ints that fit as indices.

Operations have kinks where values meet or vanish (`max`, `abs`, `relu`); finite differences mean
nothing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.core import Kind
    from firebrick.testing.comparison import Array

Family: TypeAlias = Literal["mixed", "unit", "above one"]
"""Where floats lie: some operations have a value only for some (`log`, `asin`, `acosh`)."""

RANGES: dict[Family, tuple[float, float]] = {
    "mixed": (-2.0, 2.0),
    "unit": (0.1, 0.9),
    "above one": (1.1, 2.9),
}
GAP = 1e-2
"""How far floats stay away from 0."""
LARGEST_INT = 3


class Pool:
    """Values of one case: floats of all its tensors are drawn together, so that none is equal."""

    def __init__(self, family: Family, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._family: Family = family

    def arrays(self, kinds: Sequence[Kind], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """One array per kind and shape; ints are indices into the smallest size."""
        counts = [int(np.prod(shape)) for shape in shapes]
        total = sum(n for n, kind in zip(counts, kinds, strict=True) if kind == "float")
        floats = self._floats(total)
        sizes = [size for shape in shapes for size in shape if size]
        high = min([LARGEST_INT, *sizes])
        found: list[Array] = []
        for count, kind, shape in zip(counts, kinds, shapes, strict=True):
            if kind == "float":
                values, floats = floats[:count], floats[count:]
            elif kind == "int":
                values = self._rng.integers(0, high, count)
            else:
                values = self._rng.permutation(np.arange(count) % 2 == 0)
            found.append(values.reshape(shape))
        return found

    def _floats(self, count: int) -> Array:
        """A jittered, shuffled grid in the range of the family, exact in float32."""
        low, high = RANGES[self._family]
        jitter = self._rng.uniform(0.25, 0.75, count)
        values = low + (np.arange(count) + jitter) * ((high - low) / max(count, 1))
        if low < 0:
            values = np.copysign(GAP + np.abs(values) * (1 - GAP / high), values)
        return self._rng.permutation(values).astype(np.float32).astype(np.float64)
