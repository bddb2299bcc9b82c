"""Unrolling short loops, and moving what is computed alike before loops and uses."""

from __future__ import annotations

import pytest
from tests.cube.pass_cases import after, code

from firebrick.cube.passes.hoist import hoist
from firebrick.cube.passes.reuse import reuse
from firebrick.cube.passes.unroll import MAX_TRIPS, unroll

# ---- unrolling --------------------------------------------------------------------------------


def test_a_short_loop_becomes_its_trips() -> None:
    before = """\
    for i in range(6_i32, 0_i32, -3_i32):
        out[i] = s
    """
    wanted = """\
    i = 6_i32
    out[i] = s
    i = 3_i32
    out[i] = s
    """
    assert after(unroll, code(before)) == code(wanted)


def test_regions_of_unrolled_trips_have_labels_of_their_own() -> None:
    before = """\
    for i in range(0_i32, 2_i32, 1_i32):
        region done:
            if x[i] > s:
                leave done
            out[i] = s
    """
    found = after(unroll, code(before))
    assert "region done:" in found
    assert "region done_2:" in found
    assert found.count("leave done_2") == 1


def test_a_region_around_an_unrolled_loop_keeps_its_label() -> None:
    before = """\
    region done:
        for i in range(0_i32, 2_i32, 1_i32):
            if x[i] > s:
                leave done
    """
    assert after(unroll, code(before)).count("leave done\n") == 2


@pytest.mark.parametrize(
    "body",
    [
        f"for i in range(0_i32, {MAX_TRIPS + 1}_i32, 1_i32):\n    out[i] = s\n",
        "for i in range(0_i32, n, 1_i32):\n    out[i] = s\n",
        "for i in range(0_i32, 3_i32, 1_i32):\n    if x[i] > s:\n        break\n    out[i] = s\n",
        "for i in range(0_i32, 3_i32, 1_i32):\n    if x[i] > s:\n        continue\n    out[i] = s\n",
    ],
    ids=["long", "unknown", "break", "continue"],
)
def test_a_loop_stays(body: str) -> None:
    assert after(unroll, body) == body


def test_a_single_trip_is_unrolled_however_large_it_is() -> None:
    many = "".join(f"    out[{i}_i32] = s * s * s * s\n" for i in range(100))
    assert "for" not in after(unroll, f"for i in range(0_i32, 1_i32, 1_i32):\n{many}")


# ---- invariants -------------------------------------------------------------------------------


def test_invariant_arithmetic_stands_before_the_loop() -> None:
    before = """\
    j = n + 1_i32
    for i in range(0_i32, n, 1_i32):
        for k in range(0_i32, n, 1_i32):
            out[j * n + 2_i32 + i * n + k] = s
    """
    wanted = """\
    j = n + 1_i32
    invariant = j * n + 2_i32
    for i in range(0_i32, n, 1_i32):
        invariant_2 = invariant + i * n
        for k in range(0_i32, n, 1_i32):
            out[invariant_2 + k] = s
    """
    assert after(hoist, code(before)) == code(wanted)


def test_invariant_expressions_that_differ_in_the_sign_of_zero_are_two() -> None:
    before = """\
    for i in range(0_i32, n, 1_i32):
        out[i] = sqrt(s + 0.0_f32)
        out[n] = sqrt(s + -0.0_f32)
    """
    found = after(hoist, code(before))
    assert "invariant = sqrt(s + 0.0_f32)" in found
    assert "invariant_2 = sqrt(s + -0.0_f32)" in found


def test_a_load_stands_before_a_loop_that_surely_reads_it() -> None:
    before = """\
    for i in range(0_i32, 100_i32, 1_i32):
        out[i] = x[n + 1_i32] * s
    """
    wanted = """\
    invariant = x[n + 1_i32] * s
    for i in range(0_i32, 100_i32, 1_i32):
        out[i] = invariant
    """
    assert after(hoist, code(before)) == code(wanted)


STAYING = {
    "may make no trip": """\
        for i in range(0_i32, n, 1_i32):
            out[i] = x[n] * x[0_i32]
        """,
    "may not come to it": """\
        for i in range(0_i32, 100_i32, 1_i32):
            if i == n:
                break
            counts[i] = y[n]
        """,
    "reads it under a condition": """\
        for i in range(0_i32, 100_i32, 1_i32):
            counts[i] = y[n] if i < n else 0_i32
        """,
    "writes what may be the same memory": """\
        for i in range(0_i32, 100_i32, 1_i32):
            counts[i] = counts[n]
        """,
    "waits for others who write": """\
        for i in range(0_i32, 100_i32, 1_i32):
            sync cube
            k = k + counts[n]
        """,
    "sets what it reads": """\
        for i in range(0_i32, 100_i32, 1_i32):
            k = k * 2_i32 + 1_i32
        """,
    "has a cheap operation only": """\
        for i in range(0_i32, 100_i32, 1_i32):
            counts[i] = n + 1_i32
        """,
}


@pytest.mark.parametrize("name", STAYING)
def test_an_expression_stays_in_a_loop_that(name: str) -> None:
    assert after(hoist, code(STAYING[name])) == code(STAYING[name])


# ---- common subexpressions --------------------------------------------------------------------


def test_a_repeated_index_is_computed_once() -> None:
    before = """\
    out[n * j + i] = x[n * j + i]
    if n > 3_i32:
        out[0_i32] = x[n * j + i + 1_i32]
    """
    wanted = """\
    common = n * j + i
    out[common] = x[common]
    if n > 3_i32:
        out[0_i32] = x[common + 1_i32]
    """
    assert after(reuse, code(before)) == code(wanted)


def test_an_index_is_computed_anew_after_its_variables_change() -> None:
    before = """\
    i = n * j + i
    counts[n * j + i] = 1_i32
    """
    assert after(reuse, code(before)) == code(before)


def test_what_one_branch_repeats_is_computed_in_it() -> None:
    before = """\
    if n > 3_i32:
        out[n * j + i] = x[n * j + i]
    """
    wanted = """\
    if n > 3_i32:
        common = n * j + i
        out[common] = x[common]
    """
    assert after(reuse, code(before)) == code(wanted)


@pytest.mark.parametrize("value", ["x[n + 1_i32]", "s * s * s"], ids=["loads", "floats"])
def test_nothing_else_is_shared(value: str) -> None:
    body = f"out[0_i32] = {value}\nout[1_i32] = {value}\n"
    assert after(reuse, body) == body
