"""Guards: where they stand, and where it is known that nothing is out of range."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cube.build import execute
from tests.cube.pass_cases import after, code, kernel

from firebrick.cube.passes.bounds import insert_guards

MEMORY = "shared tile: f32[64]\nlocal part: f32[4]\n"


def guarded(body: str, *, cube_dim: tuple[int, int, int] = (64, 1, 1)) -> str:
    return after(insert_guards, code(body), more=MEMORY, cube_dim=cube_dim)


def test_a_load_out_of_range_is_zero() -> None:
    found = guarded("a = x[n]\n")
    assert found == "a = x[n] if u32(n) < u32(len(x)) else 0.0_f32\n"


def test_a_store_out_of_range_is_dropped() -> None:
    assert guarded("out[n] = s\n") == code(
        """\
        if u32(n) < u32(len(out)):
            out[n] = s
        """
    )


def test_an_atomic_out_of_range_gives_zero() -> None:
    assert guarded("i = atomic.add(counts[n], 1_i32)\n") == code(
        """\
        if u32(n) < u32(len(counts)):
            i = atomic.add(counts[n], 1_i32)
        else:
            i = 0_i32
        """
    )


def test_a_number_that_is_not_negative_is_compared_once() -> None:
    position = "cube.ABSOLUTE_POS"
    found = guarded(f"a = x[{position}]\n")
    assert found == f"a = x[{position}] if {position} < len(x) else 0.0_f32\n"


def test_a_guarded_store_guards_its_own_value() -> None:
    assert guarded("out[n] = out[n] * 2.0_f32\n") == code(
        """\
        if u32(n) < u32(len(out)):
            out[n] = out[n] * 2.0_f32
        """
    )


def test_an_index_that_loads_is_evaluated_once() -> None:
    assert guarded("a = x[y[n]]\n") == code(
        """\
        index = y[n] if u32(n) < u32(len(y)) else 0_i32
        a = x[index] if u32(index) < u32(len(x)) else 0.0_f32
        """
    )


def test_an_index_that_is_evaluated_early_does_not_rely_on_a_condition() -> None:
    found = guarded("a = x[y[n]] if n >= 0_i32 and n < len(y) else s\n")
    assert found.startswith("index = y[n] if u32(n) < u32(len(y)) else 0_i32\n")


def test_a_condition_of_while_evaluates_its_index_on_each_trip() -> None:
    assert guarded("while x[y[i]] > s:\n    i = i + 1_i32\n") == code(
        """\
        while True:
            index = y[i] if u32(i) < u32(len(y)) else 0_i32
            if not (x[index] if u32(index) < u32(len(x)) else 0.0_f32) > s:
                break
            i = i + 1_i32
        """
    )


def test_a_size_of_a_dimension_that_does_not_exist_is_zero() -> None:
    found = guarded("i = y.shape[n]\n")
    assert found == "i = y.shape[n] if u32(n) < u32(2_i32) else 0_i32\n"


PROVEN = {
    "inside a condition": """\
        if cube.ABSOLUTE_POS < len(out):
            out[cube.ABSOLUTE_POS] = s
        """,
    "inside a condition on a variable": """\
        i = cube.ABSOLUTE_POS
        if i < len(out):
            out[i] = s
        """,
    "behind a return": """\
        if n >= len(out) or n < 0_i32:
            return
        out[n] = s
        """,
    "behind a continue": """\
        for i in range(0_i32, n, 1_i32):
            if i >= len(out):
                continue
            out[i] = s
        """,
    "in a loop over the length": """\
        for i in range(0_i32, len(out), 1_i32):
            out[i] = s
        """,
    "in a loop from the end": """\
        for i in range(len(out) - 1_i32, -1_i32, -1_i32):
            out[i] = s
        """,
    "in a loop over the least length": """\
        for i in range(0_i32, min(n, len(out)), 1_i32):
            out[i] = s
        """,
    "among neighbours": """\
        for i in range(1_i32, len(out) - 1_i32, 1_i32):
            out[i - 1_i32] = s
            out[i + 1_i32] = s
        """,
    "behind a bound one lower": """\
        if n >= 0_i32 and n <= len(out) - 1_i32:
            out[n] = s
        """,
    "in a while loop": """\
        i = 0_i32
        while i < len(out):
            out[i] = s
            i = i + 1_i32
        """,
    "a known length": """\
        j = len(out)
        if cube.ABSOLUTE_POS < j:
            out[cube.ABSOLUTE_POS] = s
        """,
    "lazily": """\
        a = x[n] if n >= 0_i32 and n < len(x) else s
        """,
    "by a short circuit": """\
        flag = cube.UNIT_POS < len(x) and x[cube.UNIT_POS] > s
        """,
    "a fraction of a position in range": """\
        if cube.UNIT_POS < len(out):
            out[cube.UNIT_POS // 2_i32] = s
        """,
    "shared memory by unit": """\
        tile[cube.UNIT_POS] = s
        tile[63_i32 - cube.UNIT_POS] = tile[cube.UNIT_POS_X]
        """,
    "shared memory in a tree": """\
        i = 32_i32
        while i > 0_i32:
            if cube.UNIT_POS < i:
                tile[cube.UNIT_POS] = tile[cube.UNIT_POS] + tile[cube.UNIT_POS + i]
            sync cube
            i = i // 2_i32
        """,
    "local memory by remainder": """\
        part[n % 4_i32] = s
        part[3_i32] = part[n & 3_i32]
        """,
}
NOT_PROVEN = {
    "a bound on another tensor": "if n >= 0_i32 and n < len(x):\n    out[n] = s\n",
    "no lower bound": "if n < len(out):\n    out[n] = s\n",
    "a bound that includes the end": "if n >= 0_i32 and n <= len(out):\n    out[n] = s\n",
    "a sum that may wrap": "if n >= 0_i32 and n + 1_i32 < len(out):\n    out[n + 2_i32] = s\n",
    "a variable that changed": "i = 0_i32\nif j < len(out):\n    j = n\n    out[j] = s\n",
    "a bound that changes in a loop": (
        "j = len(out)\nfor i in range(0_i32, j, 1_i32):\n    j = n\n    out[j] = s\n"
    ),
    "a loop that sets its variable": (
        "for i in range(0_i32, len(out), 1_i32):\n    i = i * n\n    out[i] = s\n"
    ),
    "the other branch": ("if n >= 0_i32 and n < len(out):\n    a = s\nelse:\n    out[n] = s\n"),
    "one way into a region": (
        "region done:\n    if n < 0_i32 or n >= len(out):\n        leave done\nout[n] = s\n"
    ),
    "a step that may wrap": "while i < len(out):\n    out[i] = s\n    i = i + 2_i32\n",
    "the last element": "out[len(out) - 1_i32] = s\n",
    "eagerly": "a = select(n >= 0_i32 and n < len(x), x[n], s)\n",
}


@pytest.mark.parametrize("name", PROVEN)
def test_no_guard_where_the_index_is_known_to_be_in_range(name: str) -> None:
    body = code(PROVEN[name])
    assert guarded(body) == body


@pytest.mark.parametrize("name", NOT_PROVEN)
def test_a_guard_where_it_is_not(name: str) -> None:
    body = NOT_PROVEN[name]
    assert guarded(body) != body


def test_guards_keep_what_is_in_range() -> None:
    body = """\
    for i in range(-3_i32, 9_i32, 1_i32):
        counts[i] = counts[i] + y[counts[i]]
        out[i + n] = x[i] + x[i + 2147483647_i32]
    """
    function = insert_guards(kernel(code(body), cube_dim=(1, 1, 1)))
    x = np.array([1, 2, 3, 4], np.float32)
    y = np.array([[10, 20]], np.int32)
    out, counts = np.zeros(3, np.float32), np.array([0, 1, 2, -1], np.int32)
    execute(function, x, y, out, counts, scalars=(-1, 0.0))
    assert counts.tolist() == [10, 21, 2, -1]
    assert out.tolist() == [2, 3, 4]
