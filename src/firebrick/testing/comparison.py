"""The first difference between two results as a sentence: values, shapes, structure.

`assert_close` is the public face; the probes of `check` use the same comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from firebrick.core import DType, bfloat16, float32, from_numpy_dtype
from firebrick.tensor import Tensor
from firebrick.testing.nests import children, is_struct, replace_leaves
from firebrick.testing.tolerances import EXACT, Tolerance, tolerance_of

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class HostValues:
    """Values on the host and the dtype they came in; None for Python numbers."""

    array: Array
    dtype: DType | None


Allow: TypeAlias = Callable[[str, HostValues, HostValues], Tolerance]
"""What is tolerated at a path, between an actual and an expected value."""


def exactly(path: str, actual: HostValues, expected: HostValues) -> Tolerance:
    """Allows no difference."""
    return EXACT


def by_dtype(path: str, actual: HostValues, expected: HostValues) -> Tolerance:
    """Allows what the looser dtype allows."""
    return tolerance_of(actual.dtype, expected.dtype)


def host_values(value: Any) -> HostValues | None:
    """The values of a tensor, array or number; None for anything else."""
    if isinstance(value, HostValues):
        return value
    if isinstance(value, Tensor):
        dtype = value.dtype
        readable = value.cast(float32) if dtype is bfloat16 else value
        return HostValues(readable.numpy(), dtype)
    if isinstance(value, np.ndarray | np.generic):
        array: Array = np.asarray(cast("Any", value))
        return HostValues(array, from_numpy_dtype(array.dtype))
    if isinstance(value, bool | int | float):
        return HostValues(np.asarray(value), None)
    return None


def find_difference(actual: Any, expected: Any, allow: Allow, path: str) -> str | None:
    """The first difference between two nests of tensors, arrays and numbers, or None."""
    here, there = host_values(actual), host_values(expected)
    if here is not None or there is not None:
        here, there = here or _numbers(actual), there or _numbers(expected)
        if here is None or there is None:
            return f"`{path}` is {_named(actual)}, expected {_named(expected)}"
        return array_difference(here, there, allow(path, here, there), path)
    mine, theirs = children(actual), children(expected)
    if mine is None or theirs is None:
        if actual is expected or bool(actual == expected):
            return None
        return f"`{path}` is {actual!r}, expected {expected!r}"
    if is_struct(expected) and type(actual) is not type(expected):
        return f"`{path}` is {_named(actual)}, expected {_named(expected)}"
    if list(mine) != list(theirs):
        return f"`{path}` has {_parts(mine)}, expected {_parts(theirs)}"
    differences = (
        find_difference(item, theirs[name], allow, f"{path}.{name}") for name, item in mine.items()
    )
    return next((difference for difference in differences if difference is not None), None)


def snapshot(value: Any) -> Any:
    """`value` with a copy on the host in place of every tensor and array."""
    for leaf in (Tensor, np.ndarray, np.generic):
        value = replace_leaves(value, leaf, _copied)
    return value


def _copied(value: Any) -> Any:
    values = host_values(value)
    return value if values is None else HostValues(values.array.copy(), values.dtype)


def _numbers(value: Any) -> HostValues | None:
    """A nested list of numbers as an array; None for any other value."""
    if not isinstance(value, list | tuple):
        return None
    try:
        array = np.asarray(cast("Any", value))
    except ValueError:  # of unequal lengths
        return None
    return HostValues(array, None) if array.dtype.kind in "biuf" else None


def _named(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"a `{name}`"


def _parts(parts: dict[str, Any]) -> str:
    if all(name.isdigit() for name in parts):
        return f"{len(parts)} items"
    return ", ".join(f"`{name}`" for name in parts)


def array_difference(
    actual: HostValues, expected: HostValues, tolerance: Tolerance, path: str
) -> str | None:
    """How two arrays differ: in shape, or where and by how much at most; None if they are close."""
    mine, theirs = actual.array, expected.array
    if mine.shape != theirs.shape:
        return f"`{path}` has shape {list(mine.shape)}, expected shape {list(theirs.shape)}"
    far = ~close(mine, theirs, tolerance)
    if not far.any():
        return None
    with np.errstate(all="ignore"):
        distance = np.abs(mine.astype(np.float64) - theirs.astype(np.float64))
    # A difference that is no number is larger than any other.
    distance = np.where(far, np.where(np.isnan(distance), np.inf, distance), -1.0)
    index = np.unravel_index(int(distance.argmax()), distance.shape)
    where = f" at {[int(i) for i in index]}" if index else ""
    count = f"; {int(far.sum())} of {far.size} elements differ" if far.size > 1 else ""
    return (
        f"`{path}` differs by {distance[index]:.6g}{where}: {mine[index]!s} instead of "
        f"{theirs[index]!s} ({tolerance}{count})"
    )


def close(
    actual: Array, expected: Array, tolerance: Tolerance
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays of one shape agree; NaN agrees with NaN, an infinity with itself."""
    with np.errstate(all="ignore"):
        equal = np.asarray(actual == expected)
        if "f" not in (actual.dtype.kind, expected.dtype.kind):
            return equal
        mine, theirs = actual.astype(np.float64), expected.astype(np.float64)
        near = np.abs(mine - theirs) <= tolerance.atol + tolerance.rtol * np.abs(theirs)
        near &= np.isfinite(mine) & np.isfinite(theirs)
        return equal | near | (np.isnan(mine) & np.isnan(theirs))
