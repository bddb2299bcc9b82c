"""Pipelines: a text with an explicit layout of its bindings, compiled for one opened device.

A layout made from the text alone would leave out bindings that the text does not use.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.runtime.wgpu import api
from firebrick.errors import KernelCompileError

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.wgpu.api import Device, Opaque

READ, WRITE = "read-only-storage", "storage"
"""How a binding is used, in wgpu's words."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BINDING = re.compile(
    r"((?:@(?:group|binding)\s*\(\s*\d+[iu]?\s*\)\s*){2})"
    r"var\s*<\s*storage\s*(?:,\s*(\w+)\s*)?,?\s*>"
)
_NUMBER = re.compile(r"@(group|binding)\s*\(\s*(\d+)")
_serials = itertools.count(1)


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """What a device launches."""

    name: str
    """In messages."""

    raw: Opaque
    layout: Opaque
    serial: int
    """Tells pipelines apart, those that are gone included."""
    owner: object
    """The opened device that it is for."""


class Compiled:
    """A kernel, with its pipeline for the device as it is open now."""

    __slots__ = ("accesses", "entry", "function", "has_flag", "name", "pipeline", "text")

    def __init__(
        self,
        name: str,
        text: str,
        entry: str,
        accesses: tuple[str, ...],
        function: Function | None = None,
        *,
        has_flag: bool = False,
    ) -> None:
        self.name = name
        """In messages."""
        self.text = text
        self.entry = entry
        self.accesses = accesses
        """One per binding, that of the metadata included."""
        self.function = function
        """None for a text of the user's, which has no metadata."""
        self.has_flag = has_flag
        """Whether its last tensor is a word that says that its loops made too many trips."""
        self.pipeline: Pipeline | None = None


def build(device: Device, owner: object, compiled: Compiled) -> Pipeline:
    """Compiles a text for a device.

    Raises: `KernelCompileError` with the words of wgpu's own compiler.
    """
    try:
        module = device.create_shader_module(code=compiled.text)
        entries = [api.layout_entry(i, access) for i, access in enumerate(compiled.accesses)]
        layout = device.create_bind_group_layout(entries=entries)
        whole = device.create_pipeline_layout(bind_group_layouts=[layout])
        stage = {"module": module, "entry_point": compiled.entry}
        raw = device.create_compute_pipeline(layout=whole, compute=stage)
    except api.DeviceFailure as reason:
        if api.is_loss(reason):
            raise
        raise KernelCompileError(
            f"`{compiled.name}` does not compile for this device: {api.words(reason)}"
        ) from reason
    return Pipeline(compiled.name, raw, layout, next(_serials), owner)


def accesses_in(text: str, buffers: int) -> tuple[str, ...]:
    """How a text uses the bindings 0, 1, ... of group 0; those it does not declare are written.

    Tensors that are written may be one and the same.
    """
    declared: dict[int, str] = {}
    for attributes, access in _BINDING.findall(_COMMENT.sub(" ", text)):
        numbers = dict(_NUMBER.findall(attributes))
        if numbers.get("group") == "0" and "binding" in numbers:
            declared[int(numbers["binding"])] = WRITE if access == "read_write" else READ
    return tuple(declared.get(binding, WRITE) for binding in range(buffers))
