"""Which units touched which elements since the last barrier, to find accesses without order.

A tag names a unit and how many plane barriers it has passed: `unit + units * passed`. Two accesses
of different units are in order if a plane barrier of their plane lies between.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firebrick.cube.interpreter.faults import FaultError
from firebrick.cube.interpreter.geometry import Cubes, spread
from firebrick.errors import KernelRaceError

Tags = dict[int, int]


@dataclass(slots=True)
class Shadow:
    """The accesses to one memory by the units of the cube that runs now."""

    name: str
    cubes: Cubes
    writes: Tags = field(default_factory=dict[int, int])
    """Of each element the last unit that wrote it."""
    reads: dict[int, int | set[int]] = field(default_factory=dict[int, "int | set[int]"])
    updates: dict[int, int | set[int]] = field(default_factory=dict[int, "int | set[int]"])
    """Atomics other than loads, which do not race with each other."""
    atomic_loads: dict[int, int | set[int]] = field(default_factory=dict[int, "int | set[int]"])

    def clear(self) -> None:
        """All units have passed a barrier."""
        for accesses in (self.writes, self.reads, self.updates, self.atomic_loads):
            accesses.clear()

    def read(self, index: int, tag: int) -> None:
        """A plain load."""
        if self.writes.get(index, tag) != tag:
            self._require_order(self.writes[index], tag, index, "wrote", "reads")
        if self.updates:
            self._against(self.updates, index, tag, "changed (atomically)", "reads")
        if self.reads.setdefault(index, tag) != tag:
            _note(self.reads, index, tag)

    def write(self, index: int, tag: int) -> None:
        """A plain store."""
        if self.writes.setdefault(index, tag) != tag:
            self._require_order(self.writes[index], tag, index, "wrote", "writes")
            self.writes[index] = tag
        if self.reads.get(index, tag) != tag:
            self._against(self.reads, index, tag, "read", "writes")
        if self.updates:
            self._against(self.updates, index, tag, "changed (atomically)", "writes")
        if self.atomic_loads:
            self._against(self.atomic_loads, index, tag, "read (atomically)", "writes")

    def update(self, index: int, tag: int) -> None:
        """An atomic other than a load."""
        if self.writes.get(index, tag) != tag:
            self._require_order(self.writes[index], tag, index, "wrote", "changes (atomically)")
        self._against(self.reads, index, tag, "read", "changes (atomically)")
        _note(self.updates, index, tag)

    def atomic_load(self, index: int, tag: int) -> None:
        """An atomic load."""
        if self.writes.get(index, tag) != tag:
            self._require_order(self.writes[index], tag, index, "wrote", "reads (atomically)")
        _note(self.atomic_loads, index, tag)

    def _against(
        self, accesses: dict[int, int | set[int]], index: int, tag: int, did: str, does: str
    ) -> None:
        earlier = accesses.get(index)
        if earlier is None:
            return
        for other in (earlier,) if isinstance(earlier, int) else sorted(earlier):
            self._require_order(other, tag, index, did, does)

    def _require_order(self, earlier: int, later: int, index: int, did: str, does: str) -> None:
        units, size = self.cubes.units, self.cubes.plane_size
        first, second = earlier % units, later % units
        same_plane = first // size == second // size
        if first == second or (same_plane and earlier // units < later // units):
            return
        raise FaultError(
            KernelRaceError,
            f"a race on element {index} of `{self.name}`: unit {spread(first, self.cubes.dim)} "
            f"{did} it and unit {spread(second, self.cubes.dim)} {does} it, with no barrier "
            "between",
        )


def _note(accesses: dict[int, int | set[int]], index: int, tag: int) -> None:
    """Adds a unit to those that touched an element."""
    known = accesses.setdefault(index, tag)
    if isinstance(known, set):
        known.add(tag)
    elif known != tag:
        accesses[index] = {known, tag}
