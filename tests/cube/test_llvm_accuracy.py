"""How far the functions of float32 are off: a sample of all floats, on old processors too."""

from __future__ import annotations

import pytest
from tests.cube.cpu_launch import driver

from benchmarks.ulp import BAR_ULP, ORACLES, measure
from firebrick.cube.cache import KernelCache
from firebrick.cube.ir.nodes import MathName
from firebrick.cube.runtime.base import Runtime

NATIVE = "native"


@pytest.fixture(scope="module", params=[NATIVE, "x86-64", "x86-64-v3"])
def runtime(request: pytest.FixtureRequest) -> Runtime:
    """A driver that compiles for this processor, or for one with fewer instructions."""
    driver()
    from firebrick.cube.runtime.cpu.driver import CpuDriver
    from firebrick.cube.runtime.cpu.llvm import Compiler

    processor: str = request.param
    if processor == NATIVE:
        return Runtime(CpuDriver(2, KernelCache()))
    if "x86_64" not in Compiler().triple:
        pytest.skip(f"{processor} is another architecture")
    return Runtime(CpuDriver(2, KernelCache(), processor=processor))


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
def test_a_function_stays_within_4_units_in_the_last_place(
    runtime: Runtime, name: MathName
) -> None:
    found = measure(runtime, name, full=False)
    assert found.wrong == 0
    assert found.largest_ulp <= BAR_ULP
