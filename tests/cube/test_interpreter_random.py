"""Random kernels in the interpreter: they run without a fault, and always to the same end."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.cube.random_functions import Options, random_function
from tests.cube.random_launches import RandomLaunch, random_launch

from firebrick.cube.interpreter import Program, translate
from firebrick.cube.ir.verifier import verify

SEEDS = st.integers(0, 2**32)


def outcome(program: Program, launch: RandomLaunch, plane_size: int) -> list[bytes]:
    buffers = launch.buffers()
    program.run(launch.cube_count, buffers, launch.scalars, plane_size=plane_size)
    return [buffer.values.tobytes() for buffer in buffers]


@given(seed=SEEDS)
def test_a_random_kernel_has_one_outcome(seed: int) -> None:
    random = Random(seed)
    function = random_function(random)
    verify(function)
    program, launch = translate(function), random_launch(random, function)
    assert outcome(program, launch, 8) == outcome(program, launch, 8)


@given(seed=SEEDS)
def test_without_plane_operations_the_size_of_a_plane_is_not_seen(seed: int) -> None:
    random = Random(seed)
    function = random_function(random, Options(planes=False))
    program, launch = translate(function), random_launch(random, function)
    assert outcome(program, launch, 1) == outcome(program, launch, 128)


@given(seed=SEEDS)
def test_options_restrict_what_a_kernel_contains(seed: int) -> None:
    random = Random(seed)
    options = Options(
        types=("bool", "i32", "u32", "f32"), exact=True, shared=False, atomics=(),
        special_floats=False, reinterpret=False, statements=10,
    )  # fmt: skip
    function = random_function(random, options)
    verify(function)
    declared = (*function.buffers, *function.scalars, *function.locals, *function.variables)
    assert {item.type.scalar for item in declared} <= set(options.types)
    assert function.shared == ()
    launch = random_launch(random, function)
    outcome(translate(function), launch, 4)
