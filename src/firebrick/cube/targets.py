"""From a kernel's IR to the text of a target, without hardware."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

from firebrick.cube.passes import prepare
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import Properties

EMITTERS = {
    "cpu": "firebrick.cube.codegen.llvm",
    "wgpu": "firebrick.cube.codegen.wgsl",
    "cuda": "firebrick.cube.codegen.cuda",
    "rocm": "firebrick.cube.codegen.hip",
}
"""The module of each target: `emit(function) -> str` and `PROPERTIES`, what any device has."""


def source_text(target: str, function: Function) -> str:
    """The text of a kernel for a target, guards included.

    Raises: `KernelCompileError` for an unknown target, or for what the target lacks.
    """
    path = EMITTERS.get(target)
    if path is None:
        close = difflib.get_close_matches(target, EMITTERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise KernelCompileError(
            f"there is no text for {target!r}{hint} Targets are {', '.join(EMITTERS)}."
        )
    module = importlib.import_module(path)
    properties: Properties = module.PROPERTIES
    emit: Callable[[Function], str] = module.emit
    return emit(prepare(function, properties, checked=True))
