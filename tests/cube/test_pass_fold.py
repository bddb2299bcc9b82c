"""Folding: what is computed when compiling, and what is not."""

from __future__ import annotations

import pytest
from tests.cube.pass_cases import after, code

from firebrick.cube.passes.fold import fold

EXPRESSIONS = [
    # integers
    ("2_i32 + 3_i32 * n", "n * 3_i32 + 2_i32"),
    ("n + 0_i32", "n"),
    ("0_i32 + n", "n"),
    ("n - 0_i32", "n"),
    ("n * 1_i32", "n"),
    ("n * 0_i32", "0_i32"),
    ("n - n", "0_i32"),
    ("n ^ n", "0_i32"),
    ("n & -1_i32", "n"),
    ("n | 0_i32", "n"),
    ("n << 0_i32", "n"),
    ("n // 1_i32", "n"),
    ("n % 1_i32", "0_i32"),
    ("n // 0_i32", "0_i32"),
    ("7_i32 // 0_i32", "0_i32"),
    ("-7_i32 // 2_i32", "-4_i32"),
    ("-7_i32 % 3_i32", "2_i32"),
    ("2147483647_i32 + 1_i32", "-2147483648_i32"),
    ("n // 8_i32", "n >> 3_i32"),
    ("n % 8_i32", "n & 7_i32"),
    ("n // 6_i32", "n // 6_i32"),
    ("(n + 1_i32) + 2_i32", "n + 3_i32"),
    ("(n - 1_i32) + 3_i32", "n + 2_i32"),
    ("(n + 1_i32) - 3_i32", "n - 2_i32"),
    ("(n * 2_i32) * 3_i32", "n * 6_i32"),
    ("n + -2_i32", "n - 2_i32"),
    ("min(n, n)", "n"),
    ("~(~n)", "n"),
    ("-(-n)", "n"),
    ("i32(u32(n))", "n"),
    ("i32(i64(n))", "n"),
    ("i32(i8(n))", "i32(i8(n))"),
    ("i32(n == 3_i32) // 2_i32", "i32(n == 3_i32) >> 1_i32"),
    ("n if True else 2_i32", "n"),
    ("n if n == 3_i32 else n", "n"),
    ("select(not n == 3_i32, n, 2_i32)", "select(n != 3_i32, n, 2_i32)"),
    ("cube.CUBE_DIM", "64_i32"),
    ("cube.UNIT_POS_Y + cube.UNIT_POS_X", "cube.UNIT_POS_X"),
    ("cube.ABSOLUTE_POS_Y", "cube.CUBE_POS_Y"),
    ("count_ones(255_i32)", "8_i32"),
]
FLOATS = [
    ("s * 1.0_f32", "s"),
    ("1.0_f32 * s", "s"),
    ("s / 1.0_f32", "s"),
    ("s - 0.0_f32", "s"),
    ("s + -0.0_f32", "s"),
    ("s + 0.0_f32", "s + 0.0_f32"),
    ("s - -0.0_f32", "s - -0.0_f32"),
    ("s * 0.0_f32", "s * 0.0_f32"),
    ("s - s", "s - s"),
    ("s / 4.0_f32", "s * 0.25_f32"),
    ("s / 3.0_f32", "s / 3.0_f32"),
    ("0.1_f32 + 0.2_f32", "0.30000001192092896_f32"),
    ("1.0_f32 / 0.0_f32", "f32.inf"),
    ("sqrt(2.25_f32)", "1.5_f32"),
    ("sqrt(-(2.25_f32))", "sqrt(-2.25_f32)"),
    ("powi(s, 1_i32)", "s"),
    ("f32(f64(s))", "s"),
    ("0.0_f32 if s > s else s", "0.0_f32 if s > s else s"),
    ("0.0_f32 if s > 1.0_f32 else -0.0_f32", "0.0_f32 if s > 1.0_f32 else -0.0_f32"),
    ("reinterpret(2143289344_i32, f32)", "reinterpret(2143289344_i32, f32)"),
]
CONDITIONS = [
    ("not n < 3_i32", "n >= 3_i32"),
    ("not s < 3.0_f32", "not s < 3.0_f32"),
    ("not s == 3.0_f32", "s != 3.0_f32"),
    ("not not n < 3_i32", "n < 3_i32"),
    ("3_i32 < n", "n > 3_i32"),
    ("n == n", "True"),
    ("s == s", "s == s"),
    ("u32(n) >= 0_u32", "True"),
    ("True and n < 3_i32", "n < 3_i32"),
    ("n < 3_i32 or True", "True"),
    ("n < 3_i32 and n < 3_i32", "n < 3_i32"),
    ("i32(n < 3_i32) != 0_i32", "n < 3_i32"),
    ("i32(n < 3_i32) == 0_i32", "n >= 3_i32"),
    ("(n < 3_i32) == True", "n < 3_i32"),
    ("True if n < 3_i32 else False", "n < 3_i32"),
    ("False if n < 3_i32 else True", "n >= 3_i32"),
    ("cube.UNIT_POS < 64_i32", "True"),
    ("cube.UNIT_POS < 63_i32", "cube.UNIT_POS < 63_i32"),
    ("len(x) >= 0_i32", "True"),
]


@pytest.mark.parametrize(("before", "folded"), EXPRESSIONS)
def test_an_integer_is_put_simply(before: str, folded: str) -> None:
    assert after(fold, f"counts[n] = {before}\n") == f"counts[n] = {folded}\n"


@pytest.mark.parametrize(("before", "folded"), FLOATS)
def test_a_float_keeps_its_value(before: str, folded: str) -> None:
    assert after(fold, f"out[n] = {before}\n") == f"out[n] = {folded}\n"


@pytest.mark.parametrize(("before", "folded"), CONDITIONS)
def test_a_condition_is_put_simply(before: str, folded: str) -> None:
    found = after(fold, f"counts[n] = i32({before})\n")
    known = {"True": "1_i32", "False": "0_i32"}.get(folded, f"i32({folded})")
    assert found == f"counts[n] = {known}\n"


STATEMENTS = {
    "a known condition chooses": (
        """\
        if 1_i32 < 2_i32:
            out[0_i32] = 1.0_f32
        else:
            out[0_i32] = 2.0_f32
        """,
        """\
        out[0_i32] = 1.0_f32
        """,
    ),
    "an empty branch is turned around": (
        """\
        if n < 3_i32:
            pass
        else:
            out[0_i32] = 2.0_f32
        """,
        """\
        if n >= 3_i32:
            out[0_i32] = 2.0_f32
        """,
    ),
    "a loop without trips goes, and its variable stays": (
        """\
        i = n
        for i in range(5_i32, 5_i32, 1_i32):
            out[i] = 2.0_f32
        while i != i:
            out[i] = 2.0_f32
        counts[0_i32] = i
        """,
        """\
        i = n
        counts[0_i32] = i
        """,
    ),
    "a loop that breaks after one trip is a condition": (
        """\
        while n < 3_i32:
            out[0_i32] = 2.0_f32
            break
        """,
        """\
        if n < 3_i32:
            out[0_i32] = 2.0_f32
        """,
    ),
    "constants go along": (
        """\
        i = 4_i32
        j = i + 1_i32
        counts[j] = k + i
        """,
        """\
        i = 4_i32
        j = 5_i32
        counts[5_i32] = 4_i32
        """,
    ),
    "constants end where paths meet": (
        """\
        i = 4_i32
        j = 4_i32
        if n == 3_i32:
            i = 5_i32
        counts[i] = j
        """,
        """\
        i = 4_i32
        j = 4_i32
        if n == 3_i32:
            i = 5_i32
        counts[i] = 4_i32
        """,
    ),
    "a path that ends does not meet": (
        """\
        i = 4_i32
        if n == 3_i32:
            i = 5_i32
            return
        counts[0_i32] = i
        """,
        """\
        i = 4_i32
        if n == 3_i32:
            i = 5_i32
            return
        counts[0_i32] = 4_i32
        """,
    ),
    "what a loop sets is not known in it": (
        """\
        i = 1_i32
        while i < n:
            counts[i] = j
            i = i * 2_i32
            j = 7_i32
        """,
        """\
        i = 1_i32
        while i < n:
            counts[i] = j
            i = i * 2_i32
            j = 7_i32
        """,
    ),
    "a range of a loop decides": (
        """\
        for i in range(0_i32, 40_i32, 1_i32):
            if i < 40_i32:
                counts[i] = 1_i32
            if i == 41_i32:
                counts[i] = 2_i32
        """,
        """\
        for i in range(0_i32, 40_i32, 1_i32):
            counts[i] = 1_i32
        """,
    ),
    "what leaves a region counts behind it": (
        """\
        region done:
            i = 3_i32
            if n == 3_i32:
                leave done
            i = 4_i32
        counts[0_i32] = i
        """,
        """\
        region done:
            i = 3_i32
            if n == 3_i32:
                leave done
            i = 4_i32
        counts[0_i32] = i
        """,
    ),
    "a sign of zero is not lost where paths meet": (
        """\
        if n == 3_i32:
            a = 0.0_f32
        else:
            a = -0.0_f32
        out[0_i32] = a
        """,
        """\
        if n == 3_i32:
            a = 0.0_f32
        else:
            a = -0.0_f32
        out[0_i32] = a
        """,
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_are_folded(name: str) -> None:
    before, folded = STATEMENTS[name]
    assert after(fold, code(before)) == code(folded)
