"""`assert_close`: two results, or nests of them, agree."""

from __future__ import annotations

from typing import Any

from firebrick.testing.comparison import HostValues, find_difference
from firebrick.testing.tolerances import Tolerance, tolerance_of


def assert_close(
    actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None
) -> None:
    """Tensors, arrays, sequences, or structs of them; tolerances follow the dtype.

    `AssertionError` with the largest difference and where it is; shapes must be equal. Dtypes
    are not compared: the looser of two float dtypes gives the tolerance, ints and bools must be
    equal. NaN equals NaN.
    """

    def allow(path: str, mine: HostValues, theirs: HostValues) -> Tolerance:
        usual = tolerance_of(mine.dtype, theirs.dtype)
        return Tolerance(usual.rtol if rtol is None else rtol, usual.atol if atol is None else atol)

    difference = find_difference(actual, expected, allow, "actual")
    if difference is not None:
        raise AssertionError(f"{difference}.")
