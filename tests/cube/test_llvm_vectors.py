"""That units become vectors, and only where that changes nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.cube.codegen_kernels import make
from tests.cube.cpu_launch import driver, launch

from firebrick.cube.codegen.llvm import PROPERTIES, write_module
from firebrick.cube.codegen.llvm.affine import find_growths
from firebrick.cube.codegen.llvm.hazards import may_be_reordered
from firebrick.cube.passes import prepare

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function

NOTHING = np.zeros(1, np.float32)


def function_of(name: str, text: str, units: tuple[int, int, int] = (64, 1, 1)) -> Function:
    return make(name, text, NOTHING, units=units).function


def optimized(function: Function) -> str:
    """What LLVM makes of a kernel, as text."""
    driver()  # or a skip
    from firebrick.cube.runtime.cpu.llvm import Compiler

    return Compiler().optimized(write_module(prepare(function, PROPERTIES)).text)


def widths(text: str, element: str) -> set[int]:
    """Lengths of the vectors that are loaded or stored."""
    found = re.findall(rf"(?:load|store) <(\d+) x {element}>", text)
    return {int(width) for width in found}


ELEMENTWISE = """
        buffer x: f32, rank 1, position 0
        buffer out: mut f32, rank 1, position 1
        variable i: i32
        body:
            i = cube.ABSOLUTE_POS
            if i < len(out):
                out[i] = {}
        """


@pytest.mark.parametrize(
    "name",
    ["exp", "log", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
     "tanh", "erf", "floor", "round", "recip"],
)  # fmt: skip
def test_functions_of_float32_become_vectors_without_a_mask(name: str) -> None:
    text = optimized(function_of("k", ELEMENTWISE.format(f"{name}(x[i])")))
    assert max(widths(text, "float")) >= 4
    assert "@" + name not in text  # no call


@pytest.mark.parametrize("name", ["atan2", "pow", "hypot"])
def test_functions_of_two_float32_become_vectors(name: str) -> None:
    text = optimized(function_of("k", ELEMENTWISE.format(f"{name}(x[i], 1.5_f32 - x[i])")))
    assert max(widths(text, "float")) >= 4


@pytest.mark.parametrize("scalar", ["f16", "bf16", "f64", "i8", "u16", "i32", "u64"])
def test_arithmetic_of_every_width_becomes_vectors(scalar: str) -> None:
    text = ELEMENTWISE.format("x[i] * x[i] + x[i]").replace("f32", scalar)
    text = optimized(function_of("k", text))
    element = {"f16": "half", "bf16": "i16", "f64": "double"}.get(scalar, f"i{scalar[1:]}")
    assert max(widths(text, element)) >= 2


def test_division_of_positions_becomes_vectors() -> None:
    text = ELEMENTWISE.format("x[i // len(x)]")
    assert "<" in optimized(function_of("k", text))
    assert not re.search(r"sdiv <|udiv <", optimized(function_of("k", text)))


def test_units_of_a_matrix_product_become_vectors() -> None:
    text = optimized(
        function_of(
            "product",
            """
        buffer a: f32, rank 2, position 0
        buffer b: f32, rank 2, position 1
        buffer out: mut f32, rank 2, position 2
        variable row: i32
        variable col: i32
        variable k: i32
        variable total: f32
        body:
            row = cube.ABSOLUTE_POS_Y
            col = cube.ABSOLUTE_POS_X
            if row >= out.shape[0_i32] or col >= out.shape[1_i32]:
                return
            for k in range(0_i32, a.shape[1_i32], 1_i32):
                total = total + a[row * a.shape[1_i32] + k] * b[k * b.shape[1_i32] + col]
            out[row * out.shape[1_i32] + col] = total
        """,
            (16, 16, 1),
        )
    )
    assert re.search(r"fmul <\d+ x float>", text)


MIXED = """
        buffer b: mut f32, rank 1, position 0
        buffer s: mut f32, rank 1, position 1
        scalar n: i32, position 0
        variable p: i32
        variable v0: f32
        variable v1: f32
        variable v2: f32
        variable v3: f32
        body:
            p = cube.CUBE_POS * 64_i32 + cube.UNIT_POS
            v0 = b[p * 4_i32]
            b[p * 4_i32 + n] = exp(v0) + 5.0_f32
            v1 = b[p * 4_i32 + 1_i32]
            v2 = b[p * 4_i32 + 2_i32]
            v3 = b[p * 4_i32 + 3_i32]
            b[p * 4_i32] = exp(v3) + v1
            b[p * 4_i32 + 1_i32] = v2
            b[p * 4_i32 + 2_i32] = v1
            b[p * 4_i32 + 3_i32] = v0
            s[p] = v1
        """


def test_a_unit_reads_what_it_has_just_written_at_a_stride() -> None:
    function = function_of("mixed", MIXED)
    b = np.linspace(0, 1, 4 * 256, dtype=np.float32)
    arrays = [b, np.zeros(256, np.float32)]
    # Guards would keep LLVM from joining the accesses.
    found = launch(function, arrays, (1,), (4, 1, 1), checked=False)[1]
    np.testing.assert_allclose(found, np.exp(b[::4]) + 5, rtol=1e-6)


def test_a_unit_keeps_what_it_has_read_before_it_writes_under_a_condition() -> None:
    function = function_of(
        "swap",
        """
        buffer b: mut i32, rank 1, position 0
        buffer out: mut i32, rank 1, position 1
        buffer chosen: bool, rank 1, position 2
        variable i: i32
        variable v: i32
        body:
            i = cube.ABSOLUTE_POS
            v = b[i] if chosen[i] else 2_i32
            if chosen[i]:
                b[i] = -1_i32
            out[i] = v
        """,
    )
    b, chosen = np.arange(256, dtype=np.int32), np.arange(256) % 3 == 0
    arrays = [b, np.zeros(256, np.int32), chosen]
    found = launch(function, arrays, (), (4, 1, 1), checked=False)
    np.testing.assert_array_equal(found[1], np.where(chosen, b, 2))
    np.testing.assert_array_equal(found[0], np.where(chosen, -1, b))


def test_only_loads_that_follow_a_store_at_a_stride_are_a_hazard() -> None:
    function = function_of("mixed", MIXED)
    growths = find_growths(function.body)
    assert may_be_reordered(function.body, growths)
    first, second, _, *_ = function.body
    assert not may_be_reordered((first, second), growths)
