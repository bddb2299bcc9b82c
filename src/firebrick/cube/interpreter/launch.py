"""One launch of a translated kernel: its memory, its names, its cubes one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.cube.interpreter import memory as accesses
from firebrick.cube.interpreter.arithmetic import NAMES
from firebrick.cube.interpreter.faults import FaultError
from firebrick.cube.interpreter.geometry import UNIT_POSITIONS, Cubes, Place
from firebrick.cube.interpreter.memory import LiveMemory, Number, elements_of
from firebrick.cube.interpreter.races import Shadow
from firebrick.cube.interpreter.scheduler import CubeRun, Locate, Unit
from firebrick.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

    from firebrick.cube.interpreter.arguments import InterpreterBuffer
    from firebrick.cube.interpreter.flow import Source
    from firebrick.cube.ir.nodes import Buffer, Function


class Launch:
    """Everything that the generated code reaches, for one launch."""

    def __init__(
        self,
        function: Function,
        source: Source,
        cubes: Cubes,
        buffers: Sequence[InterpreterBuffer],
    ) -> None:
        self._function = function
        self._source = source
        self._cubes = cubes
        self._buffers = buffers
        self._shadows: dict[object, Shadow] = {}
        self._shared: list[list[Number | None]] = []
        self._memory = {buffer.name: self._live_buffer(buffer) for buffer in function.buffers}
        for array in function.shared:
            elements: list[Number | None] = [None] * array.size
            self._shared.append(elements)
            shadow = self._shadow(array.name, array.name)
            self._memory[array.name] = LiveMemory(
                array.name, array.type, elements, array.size, shadow
            )

    def run(
        self, code: CodeType, scalars: Sequence[Number], statement_limit: int, locate: Locate
    ) -> None:
        """Executes all cubes."""
        names: dict[str, Any] = {
            **NAMES,
            **self._cubes.constants(),
            **{f"scalar{position}": value for position, value in enumerate(scalars)},
            **self._access(),
            **self._extents(),
            "limit": statement_limit,
            "run_away": _run_away(statement_limit),
        }
        exec(code, names)
        start: Callable[..., Unit] = names["unit"]
        positions = [UNIT_POSITIONS[name] for name in self._source.accesses.unit_positions]
        name = self._function.name
        for cube in self._cubes.positions():
            self._start_cube()
            places = [Place(self._cubes, cube, number) for number in range(self._cubes.units)]
            units = [start(p.number, *(position(p) for position in positions)) for p in places]
            run = CubeRun(name, units, self._cubes, cube, self._source.barriers, locate)
            run.run(self._pass_barrier)

    def _start_cube(self) -> None:
        for elements in self._shared:
            elements[:] = [None] * len(elements)
        self._pass_barrier()

    def _pass_barrier(self) -> None:
        for shadow in self._shadows.values():
            shadow.clear()

    # ---- names --------------------------------------------------------------------------------

    def _live_buffer(self, buffer: Buffer) -> LiveMemory:
        values = self._buffers[buffer.position].values
        shadow = self._shadow(buffer.name, _place(values)) if self._is_changed(buffer) else None
        return LiveMemory(
            buffer.name, buffer.type, elements_of(values, buffer.type), len(values), shadow
        )

    def _is_changed(self, buffer: Buffer) -> bool:
        """Whether the kernel writes the memory of a buffer, under this name or another."""
        place = _place(self._buffers[buffer.position].values)
        changed = self._source.accesses.changed
        return any(
            other.name in changed and _place(self._buffers[other.position].values) == place
            for other in self._function.buffers
        )

    def _shadow(self, name: str, key: object) -> Shadow | None:
        """The record of accesses to some memory, one for all its names; None for a single unit."""
        if self._cubes.units == 1:
            return None
        return self._shadows.setdefault(key, Shadow(name, self._cubes))

    def _access(self) -> dict[str, Any]:
        wanted, memory = self._source.accesses, self._memory
        return {
            **{name: accesses.reader(memory[m.name]) for name, m in wanted.readers.items()},
            **{name: accesses.writer(memory[m.name]) for name, m in wanted.writers.items()},
            **{
                name: accesses.atomic(memory[m.name], op)
                for name, (m, op) in wanted.atomics.items()
            },
            "read_local": accesses.read_local,
            "write_local": accesses.write_local,
            "extent": accesses.extent,
            "known": accesses.known,
        }

    def _extents(self) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for buffer in self._function.buffers:
            given = self._buffers[buffer.position]
            named[self._source.accesses.length(buffer)] = len(given.values)
            named[self._source.accesses.sizes(buffer, "shape")] = given.shape
            named[self._source.accesses.sizes(buffer, "stride")] = given.strides
        return named


def _place(values: accesses.HostArray) -> tuple[int, int]:
    """Where an array begins, and its element size: equal for two names of one memory."""
    return values.__array_interface__["data"][0], values.itemsize


def _run_away(limit: int) -> Callable[[], None]:
    def run_away() -> None:
        raise FaultError(
            KernelError,
            f"this loop runs away: its unit executed more than {limit} statements in loops",
        )

    return run_away
