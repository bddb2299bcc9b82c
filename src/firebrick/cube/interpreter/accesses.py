"""The names by which generated code reaches memory, scalars and positions, collected while writing.

A launch binds them: `program.py` looks at what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firebrick.cube.interpreter.geometry import UNIT_POSITIONS

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import (
        Atomic,
        AtomicOp,
        Buffer,
        Function,
        LocalArray,
        Memory,
        ScalarParameter,
        SharedArray,
        TopologyName,
    )


@dataclass(slots=True)
class Accesses:
    """What the code of a function uses: Python names to memory and kind of access."""

    function: Function
    numbers: dict[str, int] = field(init=False)
    """Of buffers, shared memory and local arrays, by name."""
    readers: dict[str, Buffer | SharedArray] = field(init=False)
    writers: dict[str, Buffer | SharedArray] = field(init=False)
    atomics: dict[str, tuple[Buffer | SharedArray, AtomicOp]] = field(init=False)
    positions: set[TopologyName] = field(init=False)

    def __post_init__(self) -> None:
        function = self.function
        storage: list[Memory] = [*function.buffers, *function.shared, *function.locals]
        self.numbers = {memory.name: number for number, memory in enumerate(storage)}
        self.readers, self.writers, self.atomics, self.positions = {}, {}, {}, set()

    def reader(self, memory: Buffer | SharedArray) -> str:
        """The function that reads an element."""
        name = f"read{self.numbers[memory.name]}"
        self.readers[name] = memory
        return name

    def writer(self, memory: Buffer | SharedArray) -> str:
        """The function that sets an element."""
        name = f"write{self.numbers[memory.name]}"
        self.writers[name] = memory
        return name

    def atomic(self, atomic: Atomic) -> str:
        """The function that executes an atomic."""
        name = f"atomic{self.numbers[atomic.memory.name]}_{atomic.op}"
        self.atomics[name] = (atomic.memory, atomic.op)
        return name

    def local(self, local: LocalArray) -> str:
        """A local array."""
        return f"local{self.numbers[local.name]}"

    def length(self, buffer: Buffer) -> str:
        """How many elements a buffer has."""
        return f"length{self.numbers[buffer.name]}"

    def sizes(self, buffer: Buffer, what: str) -> str:
        """The shape or the strides of a buffer."""
        return f"{what}{self.numbers[buffer.name]}"

    def scalar(self, parameter: ScalarParameter) -> str:
        """A number given at launch."""
        return f"scalar{parameter.position}"

    def position(self, name: TopologyName) -> str:
        """A position or size."""
        self.positions.add(name)
        return name

    @property
    def unit_positions(self) -> list[TopologyName]:
        """The positions that each unit is given."""
        return [name for name in UNIT_POSITIONS if name in self.positions]

    @property
    def changed(self) -> set[str]:
        """The names of the memories that the function writes."""
        stores = {memory.name for memory in self.writers.values()}
        return stores | {memory.name for memory, op in self.atomics.values() if op != "load"}
