"""Runtimes by name: opened at first use, one per device and process."""

from __future__ import annotations

import difflib
import importlib
import threading
from typing import Any

from firebrick.cube.runtime.base import Runtime
from firebrick.errors import BackendUnavailableError

NAMES = ("cpu", "wgpu", "cuda", "rocm", "null", "interpreter")

_opened: dict[tuple[str, int], Runtime] = {}
_lock = threading.Lock()


def runtime(name: str, index: int = 0) -> Runtime:
    """`cpu`, `wgpu`, `cuda`, `rocm`, `null` (compiles, runs nothing) or `interpreter`.

    `interpreter` runs the IR with Python numbers and checks bounds, races on shared memory and
    divergent barriers.

    Raises: `BackendUnavailableError` naming the extra to install or the hardware that is missing,
    or the known names for another one.
    """
    found = _opened.get((name, index))
    if found is not None:
        return found
    if name not in NAMES:
        close = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BackendUnavailableError(
            f"there is no kernel runtime {name!r}{hint} Known are {', '.join(NAMES)}."
        )
    with _lock:
        found = _opened.get((name, index))
        if found is None:
            found = _opened[name, index] = Runtime(_open(name, index))
    return found


def _open(name: str, index: int) -> Any:
    folder = importlib.import_module(f"firebrick.cube.runtime.{name}")
    return folder.open_driver(index)
