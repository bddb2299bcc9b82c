"""Where units are apart: variables that differ, and barriers that not all units reach."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.cube.build import located
from tests.cube.pass_cases import code, kernel

from firebrick.cube.ir.nodes import Compare, Constant, If, Sync, Topology
from firebrick.cube.ir.types import I32
from firebrick.cube.passes.barriers import check_barriers
from firebrick.cube.passes.uniform import uniform_variables
from firebrick.errors import KernelCompileError

MEMORY = "shared tile: i32[64]\nlocal part: i32[4]\n"

# ---- variables --------------------------------------------------------------------------------

ALIKE = {
    "constants and arguments": "i = n * 3_i32 + len(x) + y.shape[0_i32]\n",
    "positions of the cube": "i = cube.CUBE_POS + cube.CUBE_COUNT_X + cube.PLANE_DIM\n",
    "positions along an axis of one unit": "i = cube.UNIT_POS_Y + cube.ABSOLUTE_POS_Z\n",
    "loads of what nobody writes": "i = y[cube.CUBE_POS]\n",
    "what a loop counts": "for j in range(0_i32, n, 1_i32):\n    i = i + j\n",
    "what all break out of": "while True:\n    i = i + 1_i32\n    if i > n:\n        break\n",
    "what is set before some continue": """\
        for j in range(0_i32, n, 1_i32):
            i = j
            if cube.UNIT_POS > j:
                continue
            out[cube.ABSOLUTE_POS] = s
        """,
    "what those set that have not ended": """\
        if cube.ABSOLUTE_POS >= len(out):
            return
        i = n + 1_i32
        """,
    "an element of an array set alike": "part[0_i32] = n\ni = part[0_i32]\n",
}
DIFFERENT = {
    "positions of the unit": "i = cube.UNIT_POS\n",
    "absolute positions": "i = cube.ABSOLUTE_POS_X\n",
    "planes": "i = cube.PLANE_POS\n",
    "what depends on a unit": "j = cube.UNIT_POS\ni = j + n\n",
    "loads at a unit's position": "i = y[cube.UNIT_POS]\n",
    "loads of what may be written": "i = counts[0_i32]\n",
    "results of atomics": "i = atomic.add(counts[0_i32], 1_i32)\n",
    "results of planes": "i = plane.sum(n)\n",
    "what some set": "if cube.UNIT_POS < 3_i32:\n    i = n\n",
    "what a loop sets whose trips differ": (
        "for j in range(0_i32, cube.UNIT_POS, 1_i32):\n    i = n\n"
    ),
    "what a loop sets that some break": """\
        for j in range(0_i32, n, 1_i32):
            i = j
            if cube.UNIT_POS > j:
                break
        """,
    "what a loop sets in a region that some leave": """\
        region done:
            for j in range(0_i32, n, 1_i32):
                i = j
                if cube.UNIT_POS > j:
                    leave done
        """,
    "what is set after some continue": """\
        for j in range(0_i32, n, 1_i32):
            if cube.UNIT_POS > j:
                continue
            i = j
        """,
    "what is known late to differ": """\
        for j in range(0_i32, n, 1_i32):
            i = k
            k = cube.UNIT_POS
        """,
    "an element of an array set differently": "part[0_i32] = cube.UNIT_POS\ni = part[0_i32]\n",
}


def is_uniform(body: str, *, cube_dim: tuple[int, int, int] = (64, 1, 1)) -> bool:
    function = kernel(code(body), more=MEMORY, cube_dim=cube_dim)
    return "i" in {variable.name for variable in uniform_variables(function)}


@pytest.mark.parametrize("name", ALIKE)
def test_units_have_alike(name: str) -> None:
    assert is_uniform(ALIKE[name])


@pytest.mark.parametrize("name", DIFFERENT)
def test_units_differ_in(name: str) -> None:
    assert not is_uniform(DIFFERENT[name])


def test_a_single_unit_does_not_differ() -> None:
    assert is_uniform("i = cube.ABSOLUTE_POS\n", cube_dim=(1, 1, 1))


# ---- barriers ---------------------------------------------------------------------------------

REACHED = {
    "a loop that halves": """\
        i = 32_i32
        while i > 0_i32:
            if cube.UNIT_POS < i:
                tile[cube.UNIT_POS] = n
            sync cube
            i = i // 2_i32
        """,
    "a branch that all take": "if n > 3_i32:\n    sync cube\n",
    "a branch that the whole cube takes": "if cube.CUBE_POS == 0_i32:\n    sync cube\n",
    "behind a branch": "if cube.UNIT_POS == 0_i32:\n    tile[0_i32] = n\nsync cube\n",
    "the other branch of a return": """\
        if n > 3_i32:
            if cube.UNIT_POS == 0_i32:
                return
        else:
            sync cube
        """,
    "a bound from shared memory": """\
        for i in range(0_i32, tile[0_i32], 1_i32):
            sync cube
        """,
    "a continue in another trip": """\
        for i in range(0_i32, n, 1_i32):
            sync cube
            if cube.UNIT_POS > i:
                continue
            tile[cube.UNIT_POS] = i
        """,
    "behind a region that some left": """\
        region done:
            if cube.UNIT_POS == 0_i32:
                leave done
            tile[cube.UNIT_POS] = n
        sync storage
        """,
}
MISSED = {
    "a branch": "if cube.UNIT_POS < 2_i32:\n    sync cube\n",
    "the storage barrier in a branch": "if cube.UNIT_POS < 2_i32:\n    sync storage\n",
    "a branch on a variable": "i = cube.UNIT_POS\nif i < 2_i32:\n    sync cube\n",
    "behind a return": "if cube.ABSOLUTE_POS >= len(out):\n    return\nsync cube\n",
    "a loop whose trips differ": ("for i in range(0_i32, cube.UNIT_POS, 1_i32):\n    sync cube\n"),
    "a loop that some break": """\
        for i in range(0_i32, n, 1_i32):
            sync cube
            if cube.UNIT_POS == i:
                break
        """,
    "a loop in which some return": """\
        for i in range(0_i32, n, 1_i32):
            sync cube
            if cube.UNIT_POS == i:
                return
        """,
    "after a continue": """\
        for i in range(0_i32, n, 1_i32):
            if cube.UNIT_POS == i:
                continue
            sync cube
        """,
    "after a region was left": """\
        region done:
            if cube.UNIT_POS == 0_i32:
                leave done
            sync cube
        """,
    "a condition of an atomic's result": """\
        i = atomic.add(counts[0_i32], 1_i32)
        if i == 0_i32:
            sync cube
        """,
}
PLANES = {
    "of one plane": "if cube.PLANE_POS == 0_i32:\n    i = plane.sum(n)\n",
    "of the first units": "if cube.UNIT_POS < cube.PLANE_DIM:\n    i = plane.sum(n)\n",
    "of a known number of planes": "if cube.UNIT_POS < 32_i32:\n    i = plane.sum(n)\n",
    "after a vote": "flag = plane.any(cube.UNIT_POS > n)\nif flag:\n    i = plane.sum(n)\n",
}
PARTED_PLANES = {
    "some units": "if cube.UNIT_POS < 5_i32:\n    i = plane.sum(n)\n",
    "one unit of a plane": "if cube.UNIT_POS_PLANE == 0_i32:\n    i = plane.sum(n)\n",
    "a barrier": "if cube.UNIT_POS == 0_i32:\n    sync plane\n",
    "a prefix sum": "i = plane.inclusive_sum(n)\nif i > 3_i32:\n    j = plane.sum(n)\n",
}


@pytest.mark.parametrize("name", REACHED)
def test_a_barrier_is_reached_in(name: str) -> None:
    check_barriers(kernel(code(REACHED[name]), more=MEMORY))


@pytest.mark.parametrize("name", MISSED)
def test_a_barrier_is_refused_in(name: str) -> None:
    with pytest.raises(KernelCompileError, match="not reached by all units of a cube"):
        check_barriers(kernel(code(MISSED[name]), more=MEMORY))


def test_a_single_unit_is_never_apart() -> None:
    check_barriers(kernel(MISSED["a branch"], cube_dim=(1, 1, 1)))


@pytest.mark.parametrize("name", PLANES)
def test_a_plane_operation_is_reached(name: str) -> None:
    check_barriers(kernel(PLANES[name]), plane_dim=32)


@pytest.mark.parametrize("name", PARTED_PLANES)
def test_a_plane_operation_is_refused_for(name: str) -> None:
    with pytest.raises(KernelCompileError, match="not reached by all units of a plane"):
        check_barriers(kernel(PARTED_PLANES[name]), plane_dim=32)


def test_planes_of_one_unit_are_never_apart() -> None:
    check_barriers(kernel(PARTED_PLANES["some units"]), plane_dim=1)


def test_the_message_shows_the_barrier_and_what_parts_the_units() -> None:
    condition = Compare("lt", Topology(I32, "UNIT_POS"), Constant(I32, 2))
    barrier = Sync("cube", located(7))
    body = (If(condition, (barrier,), (), located(6)),)
    with pytest.raises(KernelCompileError) as caught:
        check_barriers(replace(kernel("pass\n"), body=body))
    message = str(caught.value)
    assert "`sync_cube` in `k` is not reached by all units of a cube" in message
    assert "they part at `if cube.UNIT_POS < 2_i32:` in line 6" in message
    assert "user.py:7" in message
