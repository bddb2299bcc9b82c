"""CUDA text: compiled by NVRTC without a GPU, and run where there is one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cube.codegen_groups import groups
from tests.cube.codegen_kernels import kernels
from tests.cube.codegen_random import random_kernel, same
from tests.cube.cuda_launch import CudaLibrary, nvrtc_compile, together

from firebrick.cube.codegen import cuda
from firebrick.cube.ir.types import BITS

ALL_TYPES = list(BITS)
NUMBERS = [scalar for scalar in BITS if scalar != "bool"]
RANDOM_KERNELS = 100
# CUDA's own functions: the largest errors of the CUDA C++ Programming Guide 13, 17.1, are below.
LOOSER = 2.0


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvrtc_compiles_every_operation_on_every_type(architecture: str) -> None:
    functions = [group.function for group in groups(ALL_TYPES)]
    assert nvrtc_compile(together(functions, cuda.emit), architecture)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_nvrtc_compiles_every_statement(architecture: str) -> None:
    functions = [kernel.function for kernel in kernels(ALL_TYPES, NUMBERS, NUMBERS)]
    assert nvrtc_compile(together(functions, cuda.emit), architecture)


def test_a_gpu_gives_what_numpy_gives() -> None:
    every = groups(ALL_TYPES)
    library = CudaLibrary([group.function for group in every])
    wrong: list[str] = []
    for group in every:
        found = library.launch(group.function, group.arrays(), (), group.cubes())[-1]
        wrong += [f"{group.name}: {text}" for text in group.failures(found, looser=LOOSER)]
    assert wrong == []


def test_a_gpu_executes_every_statement() -> None:
    every = kernels(ALL_TYPES, NUMBERS, NUMBERS)
    library = CudaLibrary([kernel.function for kernel in every])
    for kernel in every:
        found = library.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        kernel.check(found, cuda.PLANE_UNITS)


def test_a_gpu_agrees_with_the_interpreter_on_random_kernels() -> None:
    every = [
        random_kernel(Random(seed), f"k{seed}", planes=False) for seed in range(RANDOM_KERNELS)
    ]
    library = CudaLibrary([kernel.function for kernel in every])
    for kernel in every:
        found = library.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        for got, wanted, buffer in zip(
            found, kernel.expected(cuda.PLANE_UNITS), kernel.function.buffers, strict=True
        ):
            assert np.all(same(got, wanted, buffer.type)), f"`{buffer.name}` of {kernel.name}"
