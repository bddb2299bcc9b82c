"""Where metadata stands, and numbers as text and as bits."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cube.codegen_cases import from_stored, to_stored
from tests.cube.wgpu_launch import Sizes

from firebrick.cube.codegen.layout import layout_of, metadata
from firebrick.cube.codegen.literals import digits, float_bits, is_plain, round_to
from firebrick.cube.ir.nodes import Buffer, Constant, Extent, Function, ScalarParameter
from firebrick.cube.ir.types import BF16, F16, F32, F64, I32, I64, Type

X = Buffer("x", F32, 2, False, 1)
OUT = Buffer("out", F32, 0, True, 0)
SCALARS = (
    ScalarParameter("a", Type("i8"), 1),
    ScalarParameter("b", F64, 0),
    ScalarParameter("c", Type("bool"), 2),
    ScalarParameter("d", F16, 3),
)
NUMBERS = (2.5, -3, True, 0.1)
SIZES = (Sizes((), (), 7), Sizes((2, 3), (30, 10), 60))


def function(index: Type) -> Function:
    return Function("k", (OUT, X), SCALARS, (), (), (), (), index, (1, 1, 1))


@pytest.mark.parametrize(("index", "code"), [(I32, "i"), (I64, "q")])
def test_sizes_come_first_then_numbers_at_multiples_of_their_size(index: Type, code: str) -> None:
    found = metadata(function(index), SIZES, NUMBERS)
    words = struct.pack(f"<6{code}", 7, 60, 2, 3, 30, 10)
    assert found.startswith(words)
    half = float(np.float16(0.1))
    numbers = struct.pack("<ixxxxdif", -3, 2.5, 1, half)
    assert found[len(words) :] == numbers
    assert len(found) % 8 == 0


def test_an_extent_begins_behind_the_length() -> None:
    layout = layout_of(function(I32))
    first = Constant(I32, 0)
    shape, stride = Extent(I32, X, "shape", first), Extent(I32, X, "stride", first)
    assert layout.length(OUT) == 0
    assert layout.length(X) == 1
    assert (layout.extent(shape), layout.extent(stride)) == (2, 4)
    assert [layout.scalar(scalar) for scalar in SCALARS] == [24, 32, 40, 44]


def test_a_kernel_without_arguments_has_metadata_that_can_be_bound() -> None:
    empty = Function("k", (), (), (), (), (), (), I32, (1, 1, 1))
    assert len(metadata(empty, (), ())) == 8


@given(st.floats(width=32))
def test_digits_are_read_back_as_the_same_f32(value: float) -> None:
    if is_plain(F32, value):
        text = digits(F32, value)
        assert float(np.float32(text)) == value
        assert float(np.float32(float(text))) == value


@given(st.floats())
def test_digits_are_read_back_as_the_same_f64(value: float) -> None:
    if is_plain(F64, value):
        assert float(digits(F64, value)) == value


@given(st.floats())
def test_numbers_are_rounded_to_bf16_once(value: float) -> None:
    expected = from_stored("bf16", to_stored("bf16", np.array([value])))[0]
    found = round_to(BF16, value)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_what_digits_cannot_say_is_not_plain() -> None:
    for value in (math.inf, -math.inf, math.nan, -0.0, 1e-45):
        assert not is_plain(F32, value)
    assert not is_plain(F16, 1e6)  # rounds to infinity
    assert float_bits(F16, 1e6) == float_bits(F32, math.inf) == 0x7F800000
    assert float_bits(F64, -math.inf) == 0xFFF0000000000000
