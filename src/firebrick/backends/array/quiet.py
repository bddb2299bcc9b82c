"""Calls into NumPy that follow IEEE 754 without warning.

`np.errstate` costs more than a small operation. A warning state set once in a context of its own
costs nothing per call; contexts are per thread, because one cannot be entered twice.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from threading import local
from typing import ParamSpec, TypeVar

import numpy as np

A = ParamSpec("A")
R = TypeVar("R")


class Quiet(local):
    """`run(function, *arguments)` in this thread's silent context.

    `RuntimeError` where it is entered already: by a finalizer or a signal handler that runs
    inside of a call. Then `without_context` does the same, more slowly.
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


QUIET = Quiet()


def quietly(function: Callable[A, R], *arguments: A.args, **named: A.kwargs) -> R:
    """The function's result; nothing in it warns."""
    try:
        return QUIET.run(function, *arguments, **named)
    except RuntimeError:
        return without_context(function, *arguments, **named)


def without_context(function: Callable[A, R], *arguments: A.args, **named: A.kwargs) -> R:
    """As `quietly`, where the context of this thread is entered already."""
    with np.errstate(all="ignore"):
        return function(*arguments, **named)
