"""Random kernels on the processor runtime, bit for bit against the interpreter."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cube.codegen_kernels import Kernel
from tests.cube.codegen_random import ATOMICS, same
from tests.cube.cpu_launch import launch
from tests.cube.random_functions import Options, random_function
from tests.cube.random_launches import random_launch

PLANE_DIM = 1
FEW, MANY = 25, 400


def random_kernel(seed: int) -> Kernel:
    random = Random(seed)
    function = random_function(random, Options(exact=True, planes=False, atomics=ATOMICS))
    arguments = random_launch(random, function)
    return Kernel(
        f"seed {seed}", function, tuple(arguments.arrays), tuple(arguments.scalars),
        arguments.cube_count,
    )  # fmt: skip


def check(seed: int) -> None:
    kernel = random_kernel(seed)
    found = launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
    for buffer, got, wanted in zip(
        kernel.function.buffers, found, kernel.expected(PLANE_DIM), strict=True
    ):
        assert np.all(same(got, wanted, buffer.type)), f"`{buffer.name}` of {kernel.name}"


@pytest.mark.parametrize("seed", range(FEW))
def test_a_random_kernel_does_what_the_interpreter_does(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_many_random_kernels_do_what_the_interpreter_does(seed: int) -> None:
    check(seed)
