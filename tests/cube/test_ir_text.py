"""Text of the IR: what it looks like, that it reads back, and what it says of wrong lines."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cube.build import located
from tests.cube.random_functions import Options, random_function

from firebrick.cube.ir.nodes import (
    Binary,
    Buffer,
    Compare,
    Constant,
    Expression,
    Function,
    Logical,
    Read,
    Return,
    Select,
    Unary,
    Variable,
)
from firebrick.cube.ir.parser import parse_function
from firebrick.cube.ir.printer import print_expression, print_function
from firebrick.cube.ir.types import BOOL, F32, F64, I32, I64, U32
from firebrick.cube.ir.verifier import verify
from firebrick.errors import KernelError

EVERYTHING = """\
kernel everything
index i64
cube_dim 8, 2, 1
buffer x: f32, rank 2, position 1
buffer out: mut f32, rank 1, position 0
buffer words: mut u32, rank 0, position 2
scalar limit: i64, position 0
shared tile: f32[64]
local part: f32[4]
variable i: i64
variable a: f32
variable b: f32
variable old: u32
variable flag: bool
body:
    i = cube.ABSOLUTE_POS
    tile[i % 64_i64] = x[i] * -0.5_f32
    sync cube
    region done:
        for i in range(0_i64, limit, 2_i64):
            if i == x.shape[0_i64]:
                leave done
            elif not flag and i >= len(out):
                continue
            else:
                part[i] = -(1.0_f32)
                break
        while True:
            return
    a, b = x.vector[i + x.stride[1_i64]]
    out.vector[i] = a, b if a < b else fma(a, b, f32(i)), sqrt(-a), f32.inf
    old = atomic.compare_exchange(words[0_i64], 1_u32, ~old)
    atomic.add(words[0_i64], reinterpret(max(a, -f32.inf), u32))
    flag = plane.any(select(flag, True, False) or is_nan(a) and a != f32.nan)
    flag = plane.elect()
    old, old, old, old = plane.ballot(flag)
    if flag:
        pass
"""


def test_a_function_reads_like_python() -> None:
    assert print_function(parse_function(EVERYTHING)) == EVERYTHING


def test_comments_and_empty_lines_mean_nothing() -> None:
    commented = EVERYTHING.replace("\n", "  # a comment\n\n")
    assert parse_function(commented) == parse_function(EVERYTHING)


def test_places_are_printed_as_comments() -> None:
    function = replace(parse_function(EVERYTHING), body=(Return(located(7)),))
    assert print_function(function, locations=True).endswith("    return  # user.py:7\n")
    assert parse_function(print_function(function, locations=True)) == function


@given(seed=st.integers(0, 2**32), wide=st.booleans())
def test_what_is_printed_reads_back(seed: int, wide: bool) -> None:
    options = Options(index_type=I64 if wide else I32)
    function = random_function(Random(seed), options)
    verify(function)
    assert parse_function(print_function(function)) == function


def round_trip(value: Expression) -> Expression:
    x = Variable("x", value.type)
    header = "kernel k\nindex i32\ncube_dim 1, 1, 1\nvariable n: i32\nvariable p: bool\n"
    text = f"{header}variable x: {x.type}\nbody:\n    x = {print_expression(value)}\n"
    (statement,) = parse_function(text).body
    return statement.value  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType] - an assignment


N = Read(Variable("n", I32))
P = Read(Variable("p", BOOL))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Binary("sub", N, Binary("sub", N, N)), "n - (n - n)"),
        (Binary("sub", Binary("sub", N, N), N), "n - n - n"),
        (Binary("mul", Binary("add", N, N), N), "(n + n) * n"),
        (Binary("add", Binary("mul", N, N), N), "n * n + n"),
        (Binary("shl", Binary("and", N, N), N), "(n & n) << n"),
        (Unary("neg", Binary("add", N, N)), "-(n + n)"),
        (Unary("neg", Unary("neg", N)), "--n"),
        (Unary("neg", Constant(I32, 1)), "-(1_i32)"),
        (Unary("neg", Constant(I32, -1)), "-(-1_i32)"),
        (Binary("sub", N, Constant(I32, -1)), "n - -1_i32"),
        (Unary("not", Compare("lt", N, N)), "not n < n"),
        (Compare("eq", Unary("not", P), P), "(not p) == p"),
        (Compare("eq", P, Compare("lt", N, N)), "p == (n < n)"),
        (Logical("or", Logical("and", P, P), P), "p and p or p"),
        (Logical("and", Logical("or", P, P), P), "(p or p) and p"),
        (Logical("and", P, Logical("and", P, P)), "p and (p and p)"),
        (Select(P, N, Select(P, N, N, True), True), "n if p else n if p else n"),
        (Select(P, Select(P, N, N, True), N, True), "(n if p else n) if p else n"),
        (Binary("add", Select(P, N, N, True), N), "(n if p else n) + n"),
        (Binary("min", Select(P, N, N, True), N), "min(n if p else n, n)"),
        (Select(Select(P, P, P, True), N, N), "select(p if p else p, n, n)"),
    ],
)
def test_parentheses_stand_where_they_are_needed(value: Expression, text: str) -> None:
    assert print_expression(value) == text
    assert round_trip(value) == value


@pytest.mark.parametrize(
    "constant",
    [
        Constant(F64, 0.1), Constant(F32, 1e-45), Constant(F64, 1.7976931348623157e308),
        Constant(F32, math.inf), Constant(F32, -math.inf), Constant(F64, math.nan),
        Constant(I32, -(2**31)), Constant(U32, 2**32 - 1), Constant(I64, -(2**63)),
        Constant(BOOL, True), Constant(F32, 1e16),
    ],
    ids=print_expression,
)  # fmt: skip
def test_literals_keep_their_value(constant: Constant) -> None:
    assert round_trip(constant) == constant


def test_a_negative_zero_keeps_its_sign() -> None:
    found = round_trip(Constant(F32, -0.0))
    assert isinstance(found, Constant)
    assert math.copysign(1.0, found.value) == -1.0


@pytest.mark.parametrize(
    "name",
    ["region", "leave", "sync", "atomic", "plane", "cube", "f32", "min", "len", "é", "range"],
)
def test_a_name_of_the_text_form_may_name_a_variable_or_memory(name: str) -> None:
    text = f"""\
kernel {name}
index i32
cube_dim 1, 1, 1
buffer {name}: mut f32, rank 1, position 0
variable i: i32
body:
    {name}[i] = {name}[i]
    i = {name}.shape[0_i32] + len({name}) + cube.UNIT_POS
    {name}.vector[i] = f32.inf, f32(i)
"""
    assert print_function(parse_function(text)) == text
    text = f"""\
kernel {name}
index i32
cube_dim 1, 1, 1
variable {name}: i32
variable j: i32
body:
    {name} = {name} + min({name}, j) - cube.UNIT_POS
    for {name} in range(j, {name}, 1_i32):
        j = {name}
"""
    assert print_function(parse_function(text)) == text


# ---- wrong lines ------------------------------------------------------------------------------

HEAD = "kernel k\nindex i32\ncube_dim 1, 1, 1\nbuffer x: f32, rank 1, position 0\nvariable i: i32\n"
WRONG_LINES = [
    ("i = j", 5, "there is no variable or scalar `j`"),
    ("j = i", 1, "there is no variable `j`"),
    ("i = y[i]", 5, "there is no memory `y`"),
    ("i = len(i)", 9, "there is no buffer `i`"),
    ("i = 1", 5, "`1` needs a type behind it, such as `1_i32`"),
    ("i = 1_i33", 5, "needs a type behind it"),
    ("i = 1.5_i32", 5, "`1.5` is no value of type i32"),
    ("i = foo(i)", 5, "there is no function `foo`"),
    ("i = i +", 8, "expected a value, found `the end of the line`"),
    ("i = (i", 7, "expected `\\)`, found `the end of the line`"),
    ("i = i i", 7, "`i` is too much on this line"),
    ("i = i ? i", 7, "'\\?' means nothing here"),
    ("i = i < i < i", 11, "comparisons are not chained"),
    ("i = reinterpret(i, q)", 20, "there is no type `q`"),
    ("i = cube.FOO", 5, "there is no variable or scalar `cube`"),
    ("i, i = i", 1, "several variables are set by"),
    ("sync all", 6, "`sync` is followed by cube, plane or storage"),
    ("jump", 1, "`jump` begins no statement"),
    ("atomic.foo(x[i])", 1, "`atomic` has load, store"),
    ("for i in range(i, i, i):", 16, "`range` takes start, stop and a constant step"),
    ("while i", 8, "expected `:`"),
    ("if i:", 6, "expected indented lines below"),
    ("1 = i", 1, "expected a variable, found `1`"),
]


@pytest.mark.parametrize(("line", "column", "message"), WRONG_LINES)
def test_a_wrong_line_is_shown_by_line_and_column(line: str, column: int, message: str) -> None:
    place = f"^kernel text, line 7, column {column + 4}"
    with pytest.raises(KernelError, match=f"{place}: .*{message}"):
        parse_function(f"{HEAD}body:\n    {line}\n")


WRONG_HEADERS = [
    ("buffer y: f32, rank 1", 22, "expected `,`"),
    ("buffer y: f99, rank 1, position 0", 11, "there is no type `f99`"),
    ("buffer y: f32, rank x, position 0", 21, "expected a rank, found `x`"),
    ("variable x: f32", 10, "`x` is declared already"),
    ("index u32", 7, "the index type is i32 or i64"),
    ("shared m: f32", 14, "expected `\\["),
    ("table t", 1, "expected `body:` or one of kernel, index"),
    ("kernel 5", 8, "expected the kernel's name"),
]


@pytest.mark.parametrize(("line", "column", "message"), WRONG_HEADERS)
def test_a_wrong_declaration_is_shown_by_line_and_column(
    line: str, column: int, message: str
) -> None:
    with pytest.raises(KernelError, match=rf"line 6, column {column}: .*{message}"):
        parse_function(f"{HEAD}{line}\nbody:\n    pass\n")


def test_a_text_without_a_body_is_incomplete() -> None:
    with pytest.raises(KernelError, match="line 6, column 1: expected `body:`"):
        parse_function(HEAD)
    with pytest.raises(KernelError, match="line 1, column 1: expected `body:`"):
        parse_function("")


def test_lines_of_one_body_are_indented_alike() -> None:
    with pytest.raises(KernelError, match="line 8, column 7: this line is indented"):
        parse_function(f"{HEAD}body:\n    i = i\n      i = i\n")


def test_atomics_on_local_memory_are_refused() -> None:
    with pytest.raises(KernelError, match="atomics work on buffers and shared memory"):
        parse_function(f"{HEAD}local a: i32[2]\nbody:\n    atomic.add(a[i], i)\n")


def test_a_function_without_statements_has_a_body_all_the_same() -> None:
    function = Function("k", (), (), (), (), (), (), I32, (1, 1, 1))
    assert print_function(function).endswith("body:\n    pass\n")
    assert parse_function(print_function(function)) == function


def test_positions_of_parameters_are_kept() -> None:
    buffers = (Buffer("b", F32, 1, False, 3), Buffer("a", F32, 1, True, 1))
    function = Function("k", buffers, (), (), (), (), (), I32, (1, 1, 1))
    assert parse_function(print_function(function)) == function
