"""Branches, loops, regions and lazy expressions in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cube.build import Array, execute, parse

from firebrick.cube.ir.nodes import (
    Assign,
    Binary,
    Buffer,
    Compare,
    Constant,
    For,
    Function,
    If,
    Leave,
    Read,
    Region,
    Return,
    Statement,
    Store,
    Variable,
)
from firebrick.cube.ir.types import I32
from firebrick.cube.ir.verifier import verify
from firebrick.errors import KernelBoundsError, KernelError

OUT = "buffer out: mut i32, rank 1, position 0\n"
VARIABLES = "variable i: i32\nvariable j: i32\nvariable n: i32"


def outcome(body: str, size: int = 8, header: str = OUT + VARIABLES) -> list[int]:
    """What one unit leaves in `out`."""
    out = np.zeros(size, np.int32)
    execute(parse(header, body), out)
    return out.tolist()


def trips(bounds: str) -> list[int]:
    """The values that a loop's variable takes."""
    body = f"""
    for i in range({bounds}):
        out[n] = i
        n = n + 1_i32
    out[7_i32] = n
"""
    *values, count = outcome(body)
    return values[:count]


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0, 5, 1),
        (0, 5, 2),
        (5, 0, -1),
        (5, 0, -3),
        (3, 3, 1),
        (0, -44252, 1),
        (3, 0, 1),
        (0, 3, -1),
    ],
)
def test_a_loop_takes_the_trips_of_a_range(start: int, stop: int, step: int) -> None:
    assert trips(f"{start}_i32, {stop}_i32, {step}_i32") == list(range(start, stop, step))


def test_a_loop_to_the_largest_integer_ends() -> None:
    high = 2**31 - 1
    assert trips(f"{high - 3}_i32, {high}_i32, 2_i32") == [high - 3, high - 1]
    assert trips(f"{3 - high}_i32, {-high - 1}_i32, -2_i32") == [3 - high, 1 - high]


def test_after_a_loop_its_variable_has_its_last_value() -> None:
    body = """
    for i in range(0_i32, 5_i32, 2_i32):
        pass
    out[0_i32] = i
    for i in range(9_i32, 9_i32, 1_i32):
        pass
    out[1_i32] = i
"""
    assert outcome(body, 2) == [4, 4]


def test_setting_a_loops_variable_or_bounds_inside_changes_no_trip() -> None:
    body = """
    n = 3_i32
    for i in range(0_i32, n, 1_i32):
        j = j + 1_i32
        i = 100_i32
        n = 100_i32
    out[0_i32] = j
    out[1_i32] = i
"""
    assert outcome(body, 2) == [3, 100]


def test_a_variable_that_was_never_set_is_0() -> None:
    header = f"{OUT}variable f: f32\nvariable b: bool\nvariable n: i32"
    body = """
    out[0_i32] = 5_i32 if b else n
    out[1_i32] = i32(f)
"""
    assert outcome(body, 2, header) == [0, 0]


def test_break_and_continue_concern_the_innermost_loop() -> None:
    body = """
    for i in range(0_i32, 3_i32, 1_i32):
        for j in range(0_i32, 9_i32, 1_i32):
            if j == 1_i32:
                continue
            if j == 3_i32:
                break
            n = n + 1_i32
    out[0_i32] = n
    while True:
        n = n + 1_i32
        if n % 10_i32 != 0_i32:
            continue
        break
    out[1_i32] = n
"""
    assert outcome(body, 2) == [6, 10]


def test_return_ends_the_unit_from_inside_loops_and_regions() -> None:
    body = """
    out[0_i32] = 1_i32
    region a:
        for i in range(0_i32, 3_i32, 1_i32):
            while True:
                return
    out[1_i32] = 1_i32
"""
    assert outcome(body, 2) == [1, 0]


def test_leaving_a_region_goes_on_behind_it() -> None:
    body = """
    region a:
        if n == 0_i32:
            leave a
        out[0_i32] = 1_i32
    out[1_i32] = 1_i32
"""
    assert outcome(body, 2) == [0, 1]


def test_leaving_an_outer_region_leaves_loops_and_regions_inside() -> None:
    body = """
    region outer:
        for i in range(0_i32, 4_i32, 1_i32):
            region inner:
                while True:
                    if i == 1_i32:
                        leave outer
                    leave inner
                out[7_i32] = 9_i32
            out[i] = 1_i32
        out[6_i32] = 9_i32
    out[5_i32] = 1_i32
"""
    assert outcome(body) == [1, 0, 0, 0, 0, 1, 0, 0]


def test_a_region_that_was_left_can_be_entered_again() -> None:
    body = """
    for i in range(0_i32, 4_i32, 1_i32):
        region a:
            for j in range(0_i32, 2_i32, 1_i32):
                if i == 1_i32:
                    leave a
            out[i] = 1_i32
"""
    assert outcome(body, 4) == [1, 0, 1, 1]


def test_two_regions_one_after_the_other_may_share_a_label() -> None:
    body = """
    region a:
        for j in range(0_i32, 2_i32, 1_i32):
            leave a
        out[0_i32] = 1_i32
    region a:
        for j in range(0_i32, 0_i32, 1_i32):
            leave a
        out[1_i32] = 1_i32
"""
    assert outcome(body, 2) == [0, 1]


def nested_regions(depth: int, innermost: Statement) -> Statement:
    """Regions and loops inside each other, each counting when it is not left."""
    statement: Statement = innermost
    for level in range(depth):
        i, n = Variable(f"i{level}", I32), Variable("n", I32)
        one = Constant(I32, 1)
        count = Assign(n, Binary("add", Read(n), one))
        loop = For(i, Constant(I32, 0), Constant(I32, 2), one, (statement, count))
        statement = Region(f"r{level}", (loop,))
    return statement


def counted(depth: int, innermost: Statement) -> int:
    out = Buffer("out", I32, 1, True, 0)
    n, first = Variable("n", I32), Constant(I32, 0)
    variables = (n, *(Variable(f"i{level}", I32) for level in range(depth)))
    store = Store(out, first, Read(n))
    body = (nested_regions(depth, innermost), store)
    function = Function("k", (out,), (), (), (), variables, body, I32, (1, 1, 1))
    verify(function)
    result: Array = np.zeros(1, np.int32)
    execute(function, result)
    return int(result[0])


def test_forty_levels_of_loops_and_regions_are_not_too_deep() -> None:
    # leaving the outermost region first thing counts nothing
    assert counted(40, Leave("r39")) == 0
    # leaving the one below it lets the outermost loop count its two trips
    assert counted(40, Leave("r38")) == 2
    # and so on: 2 + 2 * 2
    assert counted(40, Leave("r37")) == 6


def test_a_unit_ends_from_forty_levels_of_loops() -> None:
    assert counted(40, Return()) == 0


def test_a_chain_of_three_hundred_conditions_is_not_too_long() -> None:
    out, n = Buffer("out", I32, 1, True, 0), Variable("n", I32)
    chain: tuple[Statement, ...] = ()
    for value in reversed(range(300)):
        store = Store(out, Constant(I32, 0), Constant(I32, value))
        chain = (If(Compare("eq", Read(n), Constant(I32, value)), (store,), chain),)
    body = (Assign(n, Constant(I32, 250)), *chain)
    result: Array = np.zeros(1, np.int32)
    execute(Function("k", (out,), (), (), (), (n,), body, I32, (1, 1, 1)), result)
    assert result.tolist() == [250]


# ---- what is evaluated ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "x[9_i32] if n == 1_i32 else 7_i32",
        "7_i32 if n == 0_i32 else x[9_i32]",
        "i32(n == 1_i32 and x[9_i32] == 0_i32) + 7_i32",
        "i32(n == 0_i32 or x[9_i32] == 0_i32) + 6_i32",
    ],
)
def test_the_side_that_is_not_taken_is_not_evaluated(expression: str) -> None:
    header = f"{OUT}buffer x: i32, rank 1, position 1\nvariable n: i32"
    out = np.zeros(1, np.int32)
    execute(parse(header, f"    out[0_i32] = {expression}"), out, np.zeros(3, np.int32))
    assert out.tolist() == [7]


def test_select_evaluates_both_sides() -> None:
    header = f"{OUT}buffer x: i32, rank 1, position 1"
    function = parse(header, "    out[0_i32] = select(True, 7_i32, x[9_i32])")
    with pytest.raises(KernelBoundsError, match="index 9 is out of range for `x`"):
        execute(function, np.zeros(1, np.int32), np.zeros(3, np.int32))


def test_a_while_loop_evaluates_its_condition_before_each_trip() -> None:
    body = """
    while out[n] == 0_i32:
        out[n] = 5_i32
        n = n + 1_i32
        out[3_i32] = 1_i32
"""
    assert outcome(body, 4) == [5, 5, 5, 1]


# ---- loops that do not end --------------------------------------------------------------------


def test_a_loop_that_does_not_end_is_an_error() -> None:
    function = parse("variable n: i32", "    while True:\n        n = n + 1_i32")
    with pytest.raises(KernelError, match=r"this loop runs away: .* more than 1000 statements"):
        execute(function, statement_limit=1000)


def test_a_loop_within_the_limit_is_none() -> None:
    function = parse("variable n: i32", "    while n < 499_i32:\n        n = n + 1_i32")
    execute(function, statement_limit=500)
