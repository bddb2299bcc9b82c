"""Metadata of launches in one piece of device memory, written once per content and found again.

Places are handed out from the front of the page. When it is full, whoever owns the page waits until
nothing in the making refers to it, and begins anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from firebrick.cube.ir.nodes import Function
    from firebrick.cube.runtime.base import TensorArgument

ALIGNMENT_BYTES = 256
"""The largest that a device may ask of the offset of a binding; WebGPU, 3.6.2."""
SIZE_BYTES = 1 << 20


class MetadataPage:
    """Contents and where they stand. Every method is called by one thread at a time."""

    def __init__(self, write: Callable[[int, bytes], object]) -> None:
        """`write` is given an offset and what is to stand there for launches queued later."""
        self.generation = 0
        """How often it was begun anew: older offsets mean nothing."""
        self._write = write
        self._offsets: dict[Hashable, int] = {}
        self._next = 0

    def place(
        self,
        owner: Hashable,
        function: Function,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> int | None:
        """The offset of the metadata of a launch; None if the page is full, see `restart`.

        `owner` stands for the function, which takes long to hash.
        """
        key = (owner, launch_key(tensors, numbers))
        found = self._offsets.get(key)
        return self._add(key, function, tensors, numbers) if found is None else found

    def _add(
        self,
        key: Hashable,
        function: Function,
        tensors: Sequence[TensorArgument],
        numbers: Sequence[bool | int | float],
    ) -> int | None:
        contents = layout.metadata(function, tensors, numbers)
        offset = self._next
        if offset + len(contents) > SIZE_BYTES:
            return None
        self._write(offset, contents)
        self._next = offset + -(-len(contents) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        self._offsets[key] = offset
        return offset

    def restart(self) -> None:
        """Forgets everything; nothing that is not queued may refer to it."""
        self._offsets.clear()
        self._next = 0
        self.generation += 1


def launch_key(
    tensors: Sequence[TensorArgument], numbers: Sequence[bool | int | float]
) -> Hashable:
    """Launches of one kernel with equal keys have the same metadata."""
    sizes = tuple([(t.shape, t.strides, t.length) for t in tensors])
    # 0.0 and -0.0 are equal, and not the same.
    return sizes, repr(numbers) if 0.0 in numbers else tuple(numbers)
