"""How a function of the language is declared: signature and docs here, meaning in the frontend."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from firebrick.cube.lang.outside import only_in_kernels

F = TypeVar("F", bound=Callable[..., Any])

NAMES: dict[Callable[..., Any], str] = {}
"""The frontend's name of every function of the language, such as `plane.sum`."""


def intrinsic(name: str) -> Callable[[F], F]:
    """Declares a function of the language; calling it from Python raises."""

    def declare(function: F) -> F:
        @functools.wraps(function)
        def outside(*args: Any, **kwargs: Any) -> Any:
            raise only_in_kernels(name)

        NAMES[outside] = name
        return cast("F", outside)  # same signature, for editors and checkers

    return declare
