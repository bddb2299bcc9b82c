"""Devices that end loops silently: fewer trips, refusals, and the flag that a driver looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.cube.build import execute
from tests.cube.pass_cases import PROPERTIES, code, kernel, text_of

from firebrick.cube.ir.nodes import For, Function, While, walk
from firebrick.cube.ir.printer import print_function
from firebrick.cube.passes.limit_loops import limit_loops, overrun_buffer, overrun_error
from firebrick.cube.passes.partial_unroll import LARGEST_FACTOR, unroll_partially
from firebrick.cube.passes.prepare import prepare
from firebrick.errors import KernelCompileError, TooManyResourcesError

LIMIT = 1000
LIMITED = replace(PROPERTIES, max_loop_trips=LIMIT)
COUNT_UP = """\
for i in range(0_i32, n, 1_i32):
    counts[0_i32] = counts[0_i32] + 1_i32
"""


def one_unit(body: str) -> Function:
    return kernel(code(body), cube_dim=(1, 1, 1))


def loops(function: Function) -> list[For | While]:
    return [s for s in walk(function.body) if isinstance(s, For | While)]


def run(function: Function, n: int, *, flag: bool = True) -> tuple[list[int], int]:
    """What `counts` and the flag hold afterwards."""
    counts, overrun = np.zeros(4, np.int32), np.zeros(1, np.uint32)
    arrays = [np.zeros(4, np.float32), np.zeros((2, 2), np.int32), np.zeros(4, np.float32), counts]
    execute(function, *arrays, *([overrun] if flag else []), scalars=(n, 0.0))
    return counts.tolist(), int(overrun[0])


# ---- unrolling in part ------------------------------------------------------------------------

LOOPS = {
    "counting up": COUNT_UP,
    "counting down in steps": """\
        for i in range(n, -3_i32, -7_i32):
            counts[0_i32] = counts[0_i32] + i
        """,
    "setting its variable": """\
        for i in range(-5_i32, n, 3_i32):
            i = i * 2_i32
        counts[0_i32] = i
        """,
    "with jumps": """\
        for i in range(0_i32, n, 1_i32):
            if i % 3_i32 == 1_i32:
                continue
            if i > 70_i32:
                break
            counts[0_i32] = counts[0_i32] + i
        counts[1_i32] = i
        """,
    "while": """\
        while i < n:
            i = i + 1_i32
            if i % 5_i32 == 0_i32:
                continue
            counts[0_i32] = counts[0_i32] + i
            if i == 77_i32:
                break
        """,
    "up to the ends of the type": """\
        for i in range(-2147483648_i32, 2147483647_i32, 1000000000_i32):
            counts[0_i32] = counts[0_i32] + 1_i32
            counts[1_i32] = i
        for i in range(2147483647_i32, -2147483648_i32, -2000000000_i32):
            counts[2_i32] = counts[2_i32] + 1_i32
            counts[3_i32] = i
        """,
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("n", [-3, 0, 1, 15, 16, 17, 33, 100])
def test_a_partially_unrolled_loop_does_the_same(name: str, n: int) -> None:
    function = one_unit(LOOPS[name])
    unrolled = unroll_partially(function)
    text_of(unrolled)
    assert run(unrolled, n, flag=False) == run(function, n, flag=False)


def test_an_unrolled_loop_makes_fewer_trips() -> None:
    function = unroll_partially(one_unit("for i in range(0_i32, 160_i32, 1_i32):\n    j = i\n"))
    (loop,) = loops(function)
    assert isinstance(loop, For)
    assert len(loop.body) >= LARGEST_FACTOR


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(0_i32, n, 1_i32):\n    sync cube\n",
        "for i in range(0_i32, n, 1_i32):\n" + "    out[i] = s * s\n" * 150,
    ],
    ids=["barrier", "large"],
)
def test_a_loop_is_not_unrolled_in_part(body: str) -> None:
    assert text_of(unroll_partially(kernel(body))) == body


# ---- limits -----------------------------------------------------------------------------------


def test_a_device_without_a_limit_changes_nothing() -> None:
    function = one_unit(COUNT_UP)
    assert limit_loops(function, PROPERTIES) is function


def test_few_known_trips_are_not_counted() -> None:
    function = one_unit("for i in range(0_i32, 900_i32, 1_i32):\n    counts[0_i32] = i\n")
    assert limit_loops(function, LIMITED) is function


def test_known_trips_above_the_limit_are_made_fewer() -> None:
    body = """\
    for i in range(0_i32, 10000_i32, 1_i32):
        counts[0_i32] = counts[0_i32] + 1_i32
    """
    function = limit_loops(one_unit(body), LIMITED)
    assert overrun_buffer(function, one_unit(body)) is None
    assert run(function, 0, flag=False)[0][0] == 10000


def test_known_trips_far_above_the_limit_are_refused() -> None:
    body = """\
    for i in range(0_i32, 1000_i32, 1_i32):
        for j in range(0_i32, 1000_i32, 1_i32):
            counts[0_i32] = counts[0_i32] + 1_i32
    """
    with pytest.raises(KernelCompileError, match=r"at least 64000 trips.* after 1000"):
        limit_loops(one_unit(body), LIMITED)


@pytest.mark.parametrize(("n", "is_over"), [(0, 0), (100, 0), (14000, 0), (16000, 1), (50000, 1)])
def test_a_unit_that_makes_too_many_trips_sets_the_flag(n: int, is_over: int) -> None:
    function = one_unit(COUNT_UP)
    limited = limit_loops(function, LIMITED)
    flag = overrun_buffer(limited, function)
    assert flag is not None
    assert flag.position == len(function.buffers)
    assert run(limited, n) == ([n, 0, 0, 0], is_over)


def test_trips_of_all_loops_count_together() -> None:
    function = one_unit(COUNT_UP + COUNT_UP.replace("counts[0_i32]", "counts[1_i32]"))
    limited = limit_loops(function, LIMITED)
    assert run(limited, 6000)[1] == 0
    assert run(limited, 9000)[1] == 1


def test_loops_that_units_leave_apart_count_for_all_units_in_lockstep() -> None:
    body = """\
    while x[cube.ABSOLUTE_POS] > s:
        sync plane
    """
    text = print_function(limit_loops(kernel(code(body)), replace(LIMITED, plane_dim=16)))
    assert "trips = trips + 16_u32" in text
    assert "if trips >= 968_u32:" in text


def test_loops_that_units_go_through_together_count_once() -> None:
    body = "if cube.ABSOLUTE_POS >= len(out):\n    return\n" + COUNT_UP
    text = print_function(limit_loops(kernel(body), replace(LIMITED, plane_dim=16)))
    assert "trips = trips + 1_u32" in text


def test_preparing_keeps_the_flag() -> None:
    function = one_unit(COUNT_UP)
    prepared = prepare(function, LIMITED)
    assert overrun_buffer(prepared, function) is not None
    assert run(prepared, 50000) == ([50000, 0, 0, 0], 1)


def test_the_error_of_a_driver_names_the_limit() -> None:
    error = overrun_error("k", 65535)
    assert isinstance(error, TooManyResourcesError)
    assert (error.requested, error.maximum) == (65536, 65535)
    assert "loops of a unit of `k` make 65535 trips" in str(error)
