"""What a plane operation gives each of its units, from the operands of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from firebrick.cube.interpreter.arithmetic import binary_function
from firebrick.cube.interpreter.faults import FaultError
from firebrick.errors import KernelBoundsError, KernelError

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import BinaryOp, Plane, PlaneOp
    from firebrick.cube.ir.types import Type

REDUCTIONS: dict[PlaneOp, BinaryOp] = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
SCANS: dict[PlaneOp, BinaryOp] = {
    "inclusive_sum": "add", "inclusive_prod": "mul",
    "exclusive_sum": "add", "exclusive_prod": "mul",
}  # fmt: skip
BALLOT_BITS = 32

Operands = Sequence[tuple[Any, ...]]
"""Those of each unit, in the order of the units."""


def exchange(plane: Plane, operands: Operands) -> list[Any]:
    """The result of each unit; a tuple of four for `ballot`."""
    op, count = plane.op, len(operands)
    if op == "elect":
        return [position == 0 for position in range(count)]
    values = [unit[0] for unit in operands]
    if op in REDUCTIONS:
        return [reduce(binary_function(REDUCTIONS[op], plane.operands[0].type), values)] * count
    if op in SCANS:
        return _scan(op, values, plane.operands[0].type)
    if op in ("all", "any", "ballot"):
        return [_vote(op, values)] * count
    return _shuffle(op, values, [unit[1] for unit in operands])


def _scan(op: PlaneOp, values: list[Any], type: Type) -> list[Any]:
    totals = list(accumulate(values, binary_function(SCANS[op], type)))
    if op.startswith("inclusive"):
        return totals
    first = 1 if SCANS[op] == "mul" else 0
    return [float(first) if type.is_float else first, *totals[:-1]]


def _vote(op: PlaneOp, values: list[bool]) -> bool | tuple[int, ...]:
    if op == "ballot":
        bits = sum(vote << position for position, vote in enumerate(values))
        return tuple(bits >> shift & 0xFFFFFFFF for shift in range(0, 4 * BALLOT_BITS, BALLOT_BITS))
    return all(values) if op == "all" else any(values)


_SOURCES: dict[PlaneOp, Callable[[int, int], int]] = {
    "broadcast": lambda _, number: number,
    "shuffle": lambda _, number: number,
    "shuffle_xor": lambda own, number: own ^ number,
    "shuffle_up": lambda own, number: own - number,
    "shuffle_down": lambda own, number: own + number,
}


def _shuffle(op: PlaneOp, values: list[Any], numbers: list[int]) -> list[Any]:
    if op == "broadcast" and len(set(numbers)) > 1:
        raise FaultError(
            KernelError,
            f"`broadcast` takes the same unit in all units of a plane; got {sorted(set(numbers))}",
        )
    results: list[Any] = []
    for own, number in enumerate(numbers):
        source = _SOURCES[op](own, number)
        if op in ("shuffle_up", "shuffle_down") and not 0 <= source < len(values):
            source = own
        if not 0 <= source < len(values):
            raise FaultError(
                KernelBoundsError,
                f"`{op}` reads from unit {source} of a plane of {len(values)} units",
            )
        results.append(values[source])
    return results
