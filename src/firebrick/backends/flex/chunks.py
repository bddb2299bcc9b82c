"""Elementwise functions on the parts of large arrays, one part per thread.

NumPy releases the interpreter lock while it computes. An element's result does not depend on
the part that it is in, so the result is that of one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from threading import Lock
from typing import TypeAlias

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array import Elementwise, quietly

Operand: TypeAlias = "Array | Scalar"
Part: TypeAlias = "Callable[[], object]"


class Threads:
    """A pool made at first use, and made anew in a forked child, which has no threads."""

    def __init__(self) -> None:
        self.count = getattr(os, "process_cpu_count", os.cpu_count)() or 1
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def run(self, parts: list[Part]) -> None:
        """Runs all parts, the last one on this thread; raises what a part raises."""
        futures = [self._submit(part) for part in parts[:-1]]
        try:
            parts[-1]()
        finally:
            wait(futures)  # they write into the result, which must not go away before
        for future in futures:
            future.result()

    def _submit(self, part: Part) -> Future[object]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.count, "firebrick-flex")
            return self._pool.submit(part)

    def _forget(self) -> None:
        self._lock = Lock()
        self._pool = None


THREADS = Threads()


def apply_in_chunks(function: Elementwise, *operands: Operand) -> Array:
    """`function` of the operands, computed in parts where they can be split simply.

    Those are arrays of one shape, contiguous in C order, beside numbers and 0-d arrays.
    """
    arrays = [o for o in operands if isinstance(o, np.ndarray) and o.ndim]
    shape = arrays[0].shape
    if THREADS.count < 2 or not all(a.shape == shape and a.flags.c_contiguous for a in arrays):
        return np.asarray(quietly(function, *operands))
    flat: list[Operand] = [
        o.reshape(-1) if isinstance(o, np.ndarray) and o.ndim else o for o in operands
    ]
    # one element tells the dtype of the result, by NumPy's own rules
    probe = np.asarray(quietly(function, *_part(flat, 0, 1)))
    out: Array = np.empty(arrays[0].size, probe.dtype)
    ends = [out.size * part // THREADS.count for part in range(THREADS.count + 1)]

    def part(start: int, stop: int) -> Part:
        operands = _part(flat, start, stop)
        return lambda: quietly(function, *operands, out=out[start:stop])

    THREADS.run([part(start, stop) for start, stop in pairwise(ends)])
    return out.reshape(shape)


def _part(operands: list[Operand], start: int, stop: int) -> list[Operand]:
    return [o[start:stop] if isinstance(o, np.ndarray) and o.ndim else o for o in operands]
