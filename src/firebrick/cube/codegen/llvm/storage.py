"""Where the values of a cube live between its runs.

A variable whose value does not cross from one run to another is the unit's own and becomes a
register. One that does has an element for every unit in the scratch memory, side by side, so that a
vector of units reads a vector of values. Local arrays likewise; shared arrays are there once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm.flow import Variables, assigned_in, exposed, reads
from firebrick.cube.codegen.llvm.plan import Plan, Planner, Run, cube_expressions, runs
from firebrick.cube.codegen.llvm.types import bits_of, register_type, size_bytes
from firebrick.cube.ir.nodes import (
    Body,
    Function,
    Load,
    LocalArray,
    SharedArray,
    Store,
    Variable,
    expressions,
    walk,
    walk_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.cube.ir.nodes import Expression

ALIGNMENT = 64
"""Of everything in the scratch memory: a cache line."""
LARGEST_ON_STACK = 4096
"""Bytes of a local array that stays on the stack."""
SKIP_BYTES = 1


@dataclass(slots=True)
class Storage:
    """Offsets in bytes into the scratch memory."""

    units: int
    common: Variables
    definitions: Mapping[Variable, Expression]
    """What is computed again instead of kept."""
    spilled: dict[Variable, int] = field(default_factory=dict[Variable, int])
    """One element for each unit."""
    spread: dict[LocalArray, int] = field(default_factory=dict[LocalArray, int])
    """Element `i` of unit `u` is the `i * units + u`-th."""
    lent: dict[LocalArray, int] = field(default_factory=dict[LocalArray, int])
    """Large arrays that units use one after the other."""
    shared: dict[SharedArray, int] = field(default_factory=dict[SharedArray, int])
    skip: int | None = None
    """A byte for each unit: 0, or where it goes on."""
    zeroed: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """What every cube begins with zeros in: offset and size."""
    size: int = 0

    def reserve(self, size: int) -> int:
        """The offset of new memory."""
        offset = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return offset


def plan_storage(
    function: Function,
    plan: Plan,
    planner: Planner,
    common: Variables,
    definitions: Mapping[Variable, Expression],
) -> Storage:
    """Decides where everything lives."""
    storage = Storage(function.units, common, definitions)
    for array in function.shared:
        storage.shared[array] = storage.reserve(array.size * size_bytes(array.type))
    _place_variables(storage, function, plan)
    _place_arrays(storage, function, runs(plan))
    if planner.skips:
        size = SKIP_BYTES * function.units
        storage.skip = storage.reserve(size)
        storage.zeroed.append((storage.skip, size))
    return storage


def element_bytes(variable: Variable) -> int:
    """Of a variable in the scratch memory: that of its register, a byte at least."""
    return max(bits_of(register_type(variable.type)) // 8, 1)


def _place_variables(storage: Storage, function: Function, plan: Plan) -> None:
    at_start = exposed(function.body)
    crossing = _crossing(plan) - storage.common - storage.definitions.keys()
    for variable in sorted(crossing, key=lambda v: v.name):
        size = element_bytes(variable) * storage.units
        offset = storage.spilled[variable] = storage.reserve(size)
        if variable in at_start:
            storage.zeroed.append((offset, size))


def _crossing(plan: Plan) -> Variables:
    """The variables whose value goes from one run to another, or to the cube."""
    all_runs = runs(plan)
    crossing = reads(*cube_expressions(plan))
    for run in all_runs:
        elsewhere = (other for other in all_runs if other is not run or run.is_repeated)
        set_before = frozenset[Variable]().union(*(assigned_in(other.body) for other in elsewhere))
        crossing |= exposed(run.body) & set_before
    return crossing


def _place_arrays(storage: Storage, function: Function, all_runs: list[Run]) -> None:
    for array in function.locals:
        users = [run for run in all_runs if array in arrays_of(run.body)]
        size = array.size * size_bytes(array.type)
        if len(users) > 1 or any(run.is_repeated for run in users):
            offset = storage.spread[array] = storage.reserve(size * storage.units)
            storage.zeroed.append((offset, size * storage.units))
        elif size > LARGEST_ON_STACK:
            storage.lent[array] = storage.reserve(size)


def arrays_of(body: Body) -> set[LocalArray]:
    """The local arrays that statements use."""
    found: set[LocalArray] = set()
    for statement in walk(body):
        if isinstance(statement, Store) and isinstance(statement.memory, LocalArray):
            found.add(statement.memory)
        for value in expressions(statement):
            loads = (part for part in walk_expressions(value) if isinstance(part, Load))
            found |= {load.memory for load in loads if isinstance(load.memory, LocalArray)}
    return found
