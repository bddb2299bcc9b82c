"""Random arguments for random kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from firebrick.cube.interpreter import InterpreterBuffer, storage_dtype
from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.types import BOOL, Type

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class RandomLaunch:
    """What a kernel is launched with; `arrays` by the position of the parameters."""

    cube_count: tuple[int, int, int]
    arrays: list[Array]
    scalars: list[bool | int | float]

    def buffers(self) -> list[InterpreterBuffer]:
        """Copies of the arrays, for one run."""
        return [InterpreterBuffer.of(array.copy()) for array in self.arrays]


def random_launch(random: Random, function: Function) -> RandomLaunch:
    """Arguments that fit a kernel; its outputs are sometimes too short for all units."""
    count = random.choice([(1, 1, 1), (2, 1, 1), (1, 2, 2), (3, 1, 1)])
    units = function.units * count[0] * count[1] * count[2]
    arrays: list[Array] = []
    for buffer in sorted(function.buffers, key=lambda buffer: buffer.position):
        size = random.choice([1, 5, units, 4 * units, 4 * units + 3])
        shape = _shape(random, buffer.rank, size)
        numbers = [random_number(random, buffer.type) for _ in range(math.prod(shape))]
        arrays.append(_stored(numbers, buffer.type).reshape(shape))
    scalars = [random_number(random, scalar.type) for scalar in function.scalars]
    return RandomLaunch(count, arrays, scalars)


def _shape(random: Random, rank: int, size: int) -> tuple[int, ...]:
    """A shape of that rank, of about that many elements."""
    if rank == 0:
        return ()
    shape = [1] * rank
    shape[random.randrange(rank)] = size
    return tuple(shape)


def _stored(numbers: list[bool | int | float], type: Type) -> Array:
    if type.scalar != "bf16":
        with np.errstate(over="ignore"):
            return np.array(numbers, storage_dtype(type))
    # The upper half of a float32, which is a bfloat16 near the number.
    return (np.array(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def random_number(random: Random, type: Type) -> bool | int | float:
    """A number of a type, often a small one or one at an edge."""
    if type == BOOL:
        return random.random() < 0.5
    if type.is_float:
        edges = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e-5, 60000.0]
        return random.choice([*edges, random.uniform(-10, 10), random.uniform(-1e4, 1e4)])
    low, high = integer_range(type)
    return random.choice([low, high, *(min(max(random.randint(-20, 20), low), high),) * 3])
