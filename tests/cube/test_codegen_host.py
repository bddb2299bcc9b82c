"""The C family's text: HIP text run on the CPU, and compiled for AMD GPUs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.cube.codegen_groups import groups
from tests.cube.codegen_kernels import kernels
from tests.cube.codegen_random import random_kernel, same
from tests.cube.cuda_launch import together
from tests.cube.host_launch import HostLibrary

from firebrick.cube.codegen import hip
from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.types import BITS

ALL_TYPES = list(BITS)
NUMBERS = [scalar for scalar in BITS if scalar != "bool"]
RANDOM_KERNELS = 40


def compile_for(functions: Sequence[Function], architecture: str, folder: Path) -> None:
    """Compiles all of them at once with the clang of `ziglang`, which needs no SDK."""
    pytest.importorskip("ziglang", reason="needs the package ziglang")
    source = folder / "kernels.hip"
    source.write_text(together(functions, hip.emit))
    options = ["-x", "hip", f"--offload-arch={architecture}", "--offload-device-only",
               "-nogpulib", "-nogpuinc", "-O1", "-S", "-o", str(folder / "kernels.s")]  # fmt: skip
    command = [sys.executable, "-m", "ziglang", "clang", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "amdhsa_kernel" in (folder / "kernels.s").read_text()


def test_the_cpu_gives_what_numpy_gives(tmp_path: Path) -> None:
    every = groups(ALL_TYPES)
    library = HostLibrary([group.function for group in every], tmp_path)
    wrong: list[str] = []
    for group in every:
        found = library.launch(group.function, group.arrays(), (), group.cubes())[-1]
        wrong += [f"{group.name}: {text}" for text in group.failures(found)]
    assert wrong == []


def test_the_cpu_executes_every_statement(tmp_path: Path) -> None:
    every = kernels(ALL_TYPES, NUMBERS, NUMBERS)
    library = HostLibrary([kernel.function for kernel in every], tmp_path)
    for kernel in every:
        found = library.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        kernel.check(found, hip.WIDEST_PLANE)


def test_the_cpu_agrees_with_the_interpreter_on_random_kernels(tmp_path: Path) -> None:
    every = [random_kernel(Random(seed), f"k{seed}", planes=True) for seed in range(RANDOM_KERNELS)]
    library = HostLibrary([kernel.function for kernel in every], tmp_path)
    for kernel in every:
        found = library.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        for got, wanted, buffer in zip(
            found, kernel.expected(hip.WIDEST_PLANE), kernel.function.buffers, strict=True
        ):
            assert np.all(same(got, wanted, buffer.type)), f"`{buffer.name}` of {kernel.name}"


@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942", "gfx1100"])
def test_clang_compiles_every_statement_for_amd_gpus(architecture: str, tmp_path: Path) -> None:
    functions = [kernel.function for kernel in kernels(ALL_TYPES, NUMBERS, NUMBERS)]
    compile_for(functions, architecture, tmp_path)


def test_clang_compiles_every_operation_for_an_amd_gpu(tmp_path: Path) -> None:
    compile_for([group.function for group in groups(ALL_TYPES)], "gfx942", tmp_path)
