"""Random kernels as the launchers take them, and when two results are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from tests.cube.codegen_kernels import Array, Kernel
from tests.cube.random_functions import Options, random_function
from tests.cube.random_launches import random_launch

from firebrick.cube.ir.types import ScalarName, Type
from firebrick.cube.passes.bounds import insert_guards

ATOMICS: tuple[ScalarName, ...] = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")


def random_kernel(
    random: Random,
    name: str,
    *,
    types: Sequence[ScalarName] = Options().types,
    atomics: Sequence[ScalarName] = ATOMICS,
    planes: bool,
    statements: int = 30,
) -> Kernel:
    """A guarded kernel whose results all targets round alike, and arguments for it."""
    options = Options(
        types=tuple(types), exact=True, atomics=tuple(atomics), planes=planes, statements=statements
    )
    function = random_function(random, options)
    launch = random_launch(random, function)
    guarded = insert_guards(replace(function, name=name))
    return Kernel(name, guarded, tuple(launch.arrays), tuple(launch.scalars), launch.cube_count)


def same(first: Array, second: Array, type: Type) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where two arrays hold the same bits, or NaN both."""
    if not type.is_float:
        return first == second
    unsigned = np.dtype(f"u{type.bits // 8}")
    is_nan = [_is_nan(array.view(unsigned), type) for array in (first, second)]
    return (first.view(unsigned) == second.view(unsigned)) | (is_nan[0] & is_nan[1])


def _is_nan(bits: Array, type: Type) -> np.ndarray[Any, np.dtype[np.bool_]]:
    fraction_bits = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[type.scalar]
    size = bits & bits.dtype.type((1 << (type.bits - 1)) - 1)
    infinite = (1 << (type.bits - 1)) - (1 << fraction_bits)
    return size > bits.dtype.type(infinite)
