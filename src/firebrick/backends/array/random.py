"""Random arrays, from one generator per backend; draws are serialized by a lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from threading import Lock

import numpy as np

from firebrick.backend.dtypes import integer_bounds, of_kind
from firebrick.backend.options import Array, Distribution
from firebrick.backends.array.quiet import quietly
from firebrick.core import Device, DType, to_numpy_dtype
from firebrick.errors import DTypeError

GREATEST_DEFAULT_INT = 255
Sizes = tuple[int, ...]


class Random:
    """Sampling; the same seed gives the same numbers on all backends that share this class."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._generator = np.random.Generator(np.random.Philox())

    def seed(self, device: Device, seed: int) -> None:
        """The same seed gives the same random tensors on this device."""
        with self._lock:
            self._generator = np.random.Generator(np.random.Philox(seed % 2**64))

    def float_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> Array:
        wanted = to_numpy_dtype(of_kind(dtype, "float"))
        sizes = tuple(shape)
        first, second = distribution.first, distribution.second
        match distribution.family:
            case "default":
                return self._between(sizes, 0.0, 1.0, wanted)
            case "uniform":
                return self._between(sizes, first, second, wanted)
            case "normal":
                return quietly(_cast, self._normal(sizes, first, second), wanted)
            case "bernoulli":
                return (self._uniform(sizes) < first).astype(wanted)

    def int_random(
        self, shape: Sequence[int], distribution: Distribution, device: Device, dtype: DType
    ) -> Array:
        least, greatest = integer_bounds(of_kind(dtype, "int"))
        wanted = to_numpy_dtype(dtype)
        sizes = tuple(shape)
        first, second = distribution.first, distribution.second
        match distribution.family:
            case "default":
                end = min(GREATEST_DEFAULT_INT, greatest) + 1
                return self._draw(lambda g: g.integers(0, end, sizes, wanted))
            case "uniform":
                start, end = max(ceil(first), least), min(ceil(second), greatest + 1)
                if start >= end:
                    raise DTypeError(
                        f"there is no whole number to draw of dtype {dtype} from {first} up to "
                        f"{second}."
                    )
                return self._draw(lambda g: g.integers(start, end, sizes, wanted))
            case "normal":
                rounded = np.rint(self._normal(sizes, first, second))
                # the floats below the bounds of 64 bit integers: the bounds round outwards
                inside = np.clip(rounded, _inner(least), _inner(greatest))
                return inside.astype(wanted)
            case "bernoulli":
                return (self._uniform(sizes) < first).astype(wanted)

    def _draw(self, sample: Callable[[np.random.Generator], Array]) -> Array:
        with self._lock:
            return np.asarray(sample(self._generator))

    def _uniform(self, sizes: Sizes) -> Array:
        return self._draw(lambda g: g.random(sizes))

    def _normal(self, sizes: Sizes, mean: float, std: float) -> Array:
        return mean + std * self._draw(lambda g: g.standard_normal(sizes))

    def _between(
        self, sizes: Sizes, low: float, high: float, wanted: np.dtype[np.generic]
    ) -> Array:
        def draw() -> Array:
            values = _cast(low + (high - low) * self._uniform(sizes), wanted)
            # rounding may reach the end, which is excluded
            end = np.asarray(high, wanted)
            start = np.asarray(low, wanted)
            return np.asarray(np.clip(values, start, np.maximum(start, np.nextafter(end, start))))

        return quietly(draw)


def _cast(values: Array, wanted: np.dtype[np.generic]) -> Array:
    return np.asarray(values).astype(wanted)


def _inner(bound: int) -> float:
    """The float nearest to an integer bound on the side of 0."""
    nearest = float(bound)
    return nearest if abs(int(nearest)) <= abs(bound) else float(np.nextafter(nearest, 0.0))
