"""The pool of device memory: sizes, reuse, and giving back without a lock."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebrick.cube.runtime.pool import SMALLEST_BYTES, Block, Pool, size_class


class Counting:
    """Memory that is a number; knows what was given back."""

    def __init__(self, kept_bytes: int | None = None) -> None:
        self.made: list[int] = []
        self.gone: list[Block] = []
        self.pool = Pool(self, self._make, self.gone.append, kept_bytes=kept_bytes)

    def _make(self, size_bytes: int) -> int:
        self.made.append(size_bytes)
        return len(self.made)


@given(st.integers(1, 1 << 40))
def test_a_class_holds_what_was_asked_for_and_at_most_an_eighth_more(size_bytes: int) -> None:
    capacity = size_class(size_bytes)
    assert capacity % 4 == 0
    assert size_bytes <= capacity <= max(SMALLEST_BYTES, size_bytes * 9 / 8 + 4)


@given(st.integers(SMALLEST_BYTES + 1, 1 << 40))
def test_a_class_is_its_own_class(size_bytes: int) -> None:
    capacity = size_class(size_bytes)
    assert size_class(capacity) == capacity


def test_a_class_is_not_larger_than_the_largest_block() -> None:
    assert size_class(1000, 1010) == 1010
    assert size_class(1010, 1010) == 1010


def test_memory_that_is_given_back_is_used_again() -> None:
    counting = Counting()
    first = counting.pool.take(1000)
    serial = first.block.serial
    del first
    assert counting.pool.take(1001).block.serial == serial
    assert len(counting.made) == 1


def test_memory_that_a_cycle_held_is_still_there() -> None:
    class Releasing:
        is_released = False

        def __del__(self) -> None:
            self.is_released = True

    pool = Pool(None, lambda size_bytes: Releasing(), lambda block: None)
    cycle: list[object] = [pool.take(1000)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert not pool.take(1000).block.raw.is_released


def test_memory_in_use_is_not_handed_out() -> None:
    counting = Counting()
    first, second = counting.pool.take(1000), counting.pool.take(1000)
    assert first.block is not second.block


def test_unused_memory_beyond_what_is_kept_goes_back_to_the_device() -> None:
    counting = Counting(kept_bytes=2048)
    leases = [counting.pool.take(1024) for _ in range(3)]
    assert counting.pool.made_bytes == 3 * 1024
    leases.clear()
    counting.pool.collect()
    assert len(counting.gone) == 1
    assert counting.pool.free_bytes == counting.pool.made_bytes == 2048


def test_trimming_gives_all_unused_memory_back() -> None:
    counting = Counting()
    kept = counting.pool.take(512)
    counting.pool.take(1024)
    counting.pool.trim()
    assert [block.capacity_bytes for block in counting.gone] == [1024]
    assert (counting.pool.free_bytes, counting.pool.made_bytes) == (0, 512)
    assert kept.block not in counting.gone


def test_what_making_memory_raises_leaves_the_pool_as_it_was() -> None:
    def fail(size_bytes: int) -> object:
        raise MemoryError(size_bytes)

    pool = Pool(None, fail, lambda block: None)
    with pytest.raises(MemoryError):
        pool.take(4)
    assert pool.made_bytes == pool.free_bytes == 0
