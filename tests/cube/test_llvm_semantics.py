"""What kernels compute on the processor runtime, held against NumPy and the interpreter."""

from __future__ import annotations

import pytest
from tests.cube.codegen_cases import Group
from tests.cube.codegen_groups import groups
from tests.cube.codegen_kernels import Kernel, kernels
from tests.cube.cpu_launch import launch

from firebrick.cube.ir.types import BITS

ALL_TYPES = list(BITS)
NUMBERS = [scalar for scalar in BITS if scalar != "bool"]
PLANE_DIM = 1


@pytest.mark.parametrize("group", groups(ALL_TYPES), ids=lambda group: group.name)
def test_an_operation_gives_what_numpy_gives(group: Group) -> None:
    found = launch(group.function, group.arrays(), (), group.cubes())[-1]
    assert group.failures(found) == []


# A plane has one unit here, so what exchanges with others has no meaning.
@pytest.mark.parametrize("kernel", kernels(ALL_TYPES, NUMBERS, []), ids=lambda kernel: kernel.name)
def test_a_statement_does_what_the_interpreter_does(kernel: Kernel) -> None:
    found = launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
    kernel.check(found, PLANE_DIM)
