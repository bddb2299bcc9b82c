"""WGSL text, run on the software drivers of this machine."""

from __future__ import annotations

from random import Random
from typing import get_args

import numpy as np
import pytest
from tests.cube.codegen_cases import Group
from tests.cube.codegen_groups import groups
from tests.cube.codegen_kernels import kernels
from tests.cube.codegen_random import random_kernel, same
from tests.cube.wgpu_launch import DRIVERS, Launcher

from firebrick.cube.codegen import wgsl
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.ir.types import ScalarName

PLANE_UNITS = {"lavapipe": 8, "swiftshader": 4}
FLUSHES = {"lavapipe": False, "swiftshader": True}
"""Whether a driver takes subnormal numbers for zeros."""
# SwiftShader's compiler takes minutes for a large kernel.
RANDOM_KERNELS = {"lavapipe": (8, 30), "swiftshader": (6, 10)}
"""How many, and statements in each."""
FLOATS = {"f16", "f32", "f64"}


@pytest.fixture(scope="module", params=DRIVERS)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return Launcher(request.param)


def is_there(group: Group, launcher: Launcher) -> bool:
    """Whether the target has the functions that a group uses."""
    scalar = "f32" if group.result == "f16" else group.result
    return all(scalar in launcher.target.math[name] for name in group.functions)


def test_a_driver_gives_what_numpy_gives(launcher: Launcher) -> None:
    wrong: list[str] = []
    for group in groups(list(launcher.target.types)):
        if is_there(group, launcher):
            found = launcher.launch(group.function, group.arrays(), (), group.cubes())[-1]
            failures = group.failures(found, flushes=FLUSHES[launcher.driver])
            wrong += [f"{group.name}: {text}" for text in failures]
    assert wrong == []


def test_a_driver_executes_every_statement(launcher: Launcher) -> None:
    target = launcher.target
    every = kernels(list(target.types), sorted(target.atomics["add"]), sorted(target.plane_types))
    for kernel in every:
        found = launcher.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        kernel.check(found, PLANE_UNITS[launcher.driver])


def test_a_driver_agrees_with_the_interpreter_on_random_kernels(launcher: Launcher) -> None:
    # Without floats: drivers may rewrite their arithmetic.
    types: list[ScalarName] = [
        scalar
        for scalar in get_args(ScalarName)
        if scalar in launcher.target.types and scalar not in FLOATS
    ]
    atomics = [scalar for scalar in types if scalar in launcher.target.atomics["add"]]
    count, statements = RANDOM_KERNELS[launcher.driver]
    for seed in range(count):
        kernel = random_kernel(
            Random(seed), f"k{seed}", types=types, atomics=atomics, planes=False,
            statements=statements,
        )  # fmt: skip
        found = launcher.launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
        for got, wanted, buffer in zip(
            found, kernel.expected(), kernel.function.buffers, strict=True
        ):
            assert np.all(same(got, wanted, buffer.type)), f"`{buffer.name}` of {kernel.name}"


def test_the_text_for_any_device_passes_the_drivers(launcher: Launcher) -> None:
    for kernel in kernels(list(wgsl.WGSL.types), ["i32", "u32", "f32"], []):
        text, entry = wgsl.emit(kernel.function), entry_point(kernel.function.name)
        assert launcher.pipeline(text, entry) is not None
