"""The numbers of a Python range on the host, for the `arange` operations."""

from __future__ import annotations

import numpy as np

from firebrick.backend.dtypes import of_range
from firebrick.backend.options import Array
from firebrick.core import DType, to_numpy_dtype


def range_numbers(numbers: range, dtype: DType) -> Array:
    """All numbers, exact up to the ends of 64 bits; `DTypeError` if `dtype` does not hold them."""
    wanted = to_numpy_dtype(of_range(numbers, dtype))
    # modulo 2^64, where signed and unsigned arithmetic is the same; `np.arange` goes over floats
    counted = np.arange(len(numbers), dtype=np.uint64)
    counted *= np.uint64(numbers.step % 2**64)
    counted += np.uint64(numbers.start % 2**64)
    return counted.astype(wanted)
