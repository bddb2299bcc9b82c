"""Random kernels do the same after every pass."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from tests.cube.pass_cases import PROPERTIES, Pass, assert_same, outcome
from tests.cube.random_accesses import guarded_everywhere, shifted
from tests.cube.random_functions import random_function
from tests.cube.random_launches import RandomLaunch, random_launch

from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.printer import print_function
from firebrick.cube.ir.verifier import verify
from firebrick.cube.passes.bounds import insert_guards
from firebrick.cube.passes.dead import remove_dead
from firebrick.cube.passes.fold import fold
from firebrick.cube.passes.hoist import hoist
from firebrick.cube.passes.limit_loops import overrun_buffer
from firebrick.cube.passes.partial_unroll import unroll_partially
from firebrick.cube.passes.prepare import prepare
from firebrick.cube.passes.reuse import reuse
from firebrick.cube.passes.unroll import unroll
from firebrick.errors import KernelError

FEW, MANY = range(12), range(1000, 1400)
"""Seeds of the normal run and of the slow one."""
MANY_TRIPS = 300


def prepared(function: Function) -> Function:
    return prepare(function, PROPERTIES)


def prepared_unchecked(function: Function) -> Function:
    return prepare(function, PROPERTIES, checked=False)


PASSES: dict[str, Pass] = {
    "fold": fold,
    "unroll": unroll,
    "dead": remove_dead,
    "hoist": hoist,
    "reuse": reuse,
    "bounds": insert_guards,
    "partial unroll": unroll_partially,
    "all": prepared,
    "all, unchecked": prepared_unchecked,
}


def seeded(seed: int) -> tuple[Function, RandomLaunch]:
    random = Random(seed)
    function = random_function(random)
    return function, random_launch(random, function)


def check_passes(seed: int) -> None:
    function, launch = seeded(seed)
    wanted = outcome(function, launch)
    for passing in PASSES.values():
        changed = passing(function)
        verify(changed)
        assert_same(wanted, outcome(changed, launch))


def check_guards(seed: int) -> bool:
    """Whether the seed gave a kernel that runs with guards everywhere."""
    random = Random(seed)
    function = shifted(random, replace(random_function(random), cube_dim=(1, 1, 1)))
    launch = random_launch(random, function)
    try:
        wanted = outcome(guarded_everywhere(function), launch)
    except KernelError:  # it reads shared memory that nobody wrote
        return False
    for passing in (insert_guards, prepared):
        assert_same(wanted, outcome(passing(function), launch))
    return True


def check_limits(seed: int) -> None:
    function, launch = seeded(seed)
    limited = prepare(function, replace(PROPERTIES, max_loop_trips=MANY_TRIPS))
    flags = [np.zeros(1, np.uint32)] if overrun_buffer(limited, function) else []
    with_flag = replace(launch, arrays=[*launch.arrays, *flags])
    found = outcome(limited, with_flag)
    assert_same(outcome(function, launch), found[: len(launch.arrays)])


@pytest.mark.parametrize("seed", FEW)
def test_a_pass_keeps_what_a_kernel_does(seed: int) -> None:
    check_passes(seed)


def test_guards_drop_what_is_out_of_range_and_nothing_else() -> None:
    assert sum(check_guards(seed) for seed in FEW) > len(FEW) // 4


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_limited_loops_do_the_same(seed: int) -> None:
    check_limits(seed)


@pytest.mark.parametrize("seed", [0, 5])
def test_passes_give_the_same_text_every_time(seed: int) -> None:
    texts = {print_function(prepared(seeded(seed)[0])) for _ in range(2)}
    assert len(texts) == 1


@pytest.mark.slow
def test_passes_keep_what_many_kernels_do() -> None:
    for seed in MANY:
        check_passes(seed)


@pytest.mark.slow
def test_guards_of_many_kernels_are_right() -> None:
    assert sum(check_guards(seed) for seed in MANY) > len(MANY) // 4
