"""Memory that is used again: blocks by size class, given back without ever taking a lock.

A device works through one queue in order, so a block that nothing refers to any more may be handed
out at once: whatever was queued before still finds its contents, whatever is queued later comes
after it.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SMALLEST_BYTES = 256
_CLASSES_PER_OCTAVE_LOG2 = 3
_serials = itertools.count(1)


def size_class(size_bytes: int, largest_bytes: int | None = None) -> int:
    """The capacity of the block for that many bytes: at most an eighth more than is asked for."""
    if size_bytes <= SMALLEST_BYTES:
        return SMALLEST_BYTES
    step = 1 << max((size_bytes - 1).bit_length() - 1 - _CLASSES_PER_OCTAVE_LOG2, 2)
    capacity = -(-size_bytes // step) * step
    return capacity if largest_bytes is None else max(min(capacity, largest_bytes), size_bytes)


class Block:
    """Memory of a device."""

    __slots__ = ("capacity_bytes", "owner", "raw", "serial", "used_in")

    def __init__(self, owner: object, raw: Any, capacity_bytes: int) -> None:
        self.owner = owner
        """The opened device that it is memory of."""
        self.raw = raw
        self.capacity_bytes = capacity_bytes
        self.serial = next(_serials)
        """Tells blocks apart, those that are gone included."""
        self.used_in = 0
        """The batch of launches that used it last, for devices that queue in batches."""


class Lease:
    """A block in use. Giving it back appends to a queue, since finalizers must not take locks."""

    __slots__ = ("_returned", "block", "size_bytes")

    def __init__(self, block: Block, size_bytes: int, returned: deque[Block]) -> None:
        self.block = block
        self.size_bytes = size_bytes
        """What was asked for."""
        self._returned = returned

    def __del__(self) -> None:
        self._returned.append(self.block)


class Pool:
    """The blocks of one device. Every method is called by one thread at a time."""

    def __init__(
        self,
        owner: object,
        make: Callable[[int], Any],
        discard: Callable[[Block], None],
        *,
        largest_bytes: int | None = None,
        kept_bytes: int | None = None,
    ) -> None:
        """Args name what the device does.

        Args:
            owner: Of the blocks.
            make: Memory of a size in bytes.
            discard: Gives a block back to the device.
            largest_bytes: No block is larger.
            kept_bytes: How many bytes of unused blocks are kept; None keeps all.
        """
        self._owner = owner
        self._make = make
        self._discard = discard
        self._largest_bytes = largest_bytes
        self._kept_bytes = kept_bytes
        # All of them: a block that only its lease knew would be finalized with it, its memory too,
        # when both are part of a cycle.
        self._blocks: set[Block] = set()
        self._free: dict[int, list[Block]] = {}
        self._returned: deque[Block] = deque()
        self.free_bytes = 0
        self.made_bytes = 0
        """Of all blocks, in use or not."""

    def take(self, size_bytes: int) -> Lease:
        """A block for at least that many bytes, contents undefined; what `make` raises."""
        self.collect()
        capacity = size_class(size_bytes, self._largest_bytes)
        free = self._free.get(capacity)
        if free:
            block = free.pop()
            self.free_bytes -= capacity
        else:
            block = Block(self._owner, self._make(capacity), capacity)
            self._blocks.add(block)
            self.made_bytes += capacity
        return Lease(block, size_bytes, self._returned)

    def collect(self) -> None:
        """Takes in what was given back."""
        while self._returned:
            block = self._returned.popleft()
            if (
                self._kept_bytes is not None
                and self.free_bytes + block.capacity_bytes > self._kept_bytes
            ):
                self._drop(block)
            else:
                self._free.setdefault(block.capacity_bytes, []).append(block)
                self.free_bytes += block.capacity_bytes

    def trim(self) -> None:
        """Gives all unused blocks back to the device."""
        self.collect()
        for blocks in self._free.values():
            while blocks:
                block = blocks.pop()
                self.free_bytes -= block.capacity_bytes
                self._drop(block)

    def _drop(self, block: Block) -> None:
        self.made_bytes -= block.capacity_bytes
        self._blocks.remove(block)
        self._discard(block)
