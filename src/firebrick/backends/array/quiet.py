"""Calls into NumPy that follow IEEE 754 without warning.

`np.errstate` costs more than a small operation. A warning state set once in a context of its own
costs nothing per call; contexts are per thread, because one cannot be entered twice.
"""

from __future__ import annotations

from contextvars import Context
from threading import local

import numpy as np


class Quiet(local):
    """`run(function, *arguments)` in this thread's silent context; must not be nested."""

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


QUIET = Quiet()
