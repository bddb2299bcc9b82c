"""All passes together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.cube.pass_cases import PROPERTIES, code, kernel, text_of

from firebrick.cube.passes import prepare
from firebrick.errors import KernelCompileError, KernelError


def prepared(body: str, *, checked: bool = True) -> str:
    function = kernel(code(body), more="shared tile: f32[64]\n")
    return text_of(prepare(function, PROPERTIES, checked=checked))


def test_an_elementwise_kernel_keeps_its_comparison() -> None:
    body = """\
    i = cube.ABSOLUTE_POS
    if i < len(out):
        out[i] = out[i] * s
    """
    assert prepared(body) == code(body)


def test_a_tree_reduction_needs_no_guards_in_shared_memory() -> None:
    body = """\
    tile[cube.UNIT_POS] = s
    sync cube
    i = 32_i32
    while i > 0_i32:
        if cube.UNIT_POS < i:
            tile[cube.UNIT_POS] = tile[cube.UNIT_POS] + tile[cube.UNIT_POS + i]
        sync cube
        i = i // 2_i32
    if cube.UNIT_POS == 0_i32:
        out[cube.CUBE_POS] = tile[0_i32]
    """
    found = prepared(body)
    assert "i = i >> 1_i32" in found
    assert found.count("if") == 3
    assert "if cube.CUBE_POS < len(out):" in found


def test_without_checks_there_are_no_guards() -> None:
    assert prepared("out[n] = x[n]\n", checked=False) == "out[n] = x[n]\n"


def test_short_loops_over_known_dimensions_are_gone() -> None:
    body = """\
    for j in range(0_i32, 2_i32, 1_i32):
        k = k * y.shape[j] + n % y.shape[j]
    counts[0_i32] = k
    """
    found = prepared(body)
    assert "for" not in found
    assert "y.shape[1_i32]" in found


def test_a_barrier_that_not_all_units_reach_is_refused() -> None:
    with pytest.raises(KernelCompileError, match="`sync_cube` in `k` is not reached by all units"):
        prepared("if cube.UNIT_POS < 2_i32:\n    sync cube\n")


def test_a_function_that_makes_no_sense_is_refused() -> None:
    function = replace(kernel("i = n\n"), variables=())
    with pytest.raises(KernelError, match="invalid IR"):
        prepare(function, PROPERTIES)


def test_deep_expressions_are_no_problem() -> None:
    terms = " + ".join(["s"] * 200)
    assert "chosen_1" in prepared(f"out[n] = {terms}\n")
