"""What integer operations give, value by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.cube.build import binary, bits_as, call, cast_to, compare, evaluate, unary

from firebrick.cube.interpreter import storage_dtype
from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.nodes import Binary, Expression
from firebrick.cube.ir.types import BOOL, F32, I32, I64, U32, U64, Type

INTEGERS = [Type("i8"), Type("i16"), I32, I64, Type("u8"), Type("u16"), U32, U64]
SIGNED = INTEGERS[:4]


def samples(type: Type) -> list[int]:
    low, high = integer_range(type)
    near = [v for v in (-7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 100) if low <= v <= high]
    return [low, low + 1, high - 1, high, *near]


def pairs(type: Type) -> tuple[list[int], list[int]]:
    values = samples(type)
    return [a for a in values for _ in values], [b for _ in values for b in values]


def wrap(value: int, type: Type) -> int:
    low, _ = integer_range(type)
    return (value - low) % (1 << type.bits) + low


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_arithmetic_wraps_around(op: Any, type: Type) -> None:
    left, right = pairs(type)
    exact = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[op]
    expected = [wrap(exact(a, b), type) for a, b in zip(left, right, strict=True)]
    assert evaluate(binary(op), (type, left), (type, right)) == expected


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_division_is_pythons_and_gives_0_by_zero(type: Type) -> None:
    left, right = pairs(type)
    expected = [wrap(a // b, type) if b else 0 for a, b in zip(left, right, strict=True)]
    assert evaluate(binary("floordiv"), (type, left), (type, right)) == expected
    expected = [a % b if b else 0 for a, b in zip(left, right, strict=True)]
    assert evaluate(binary("mod"), (type, left), (type, right)) == expected


@pytest.mark.parametrize("type", SIGNED, ids=str)
def test_the_smallest_number_by_minus_1_wraps(type: Type) -> None:
    low, _ = integer_range(type)
    assert evaluate(binary("floordiv"), (type, [low]), (type, [-1])) == [low]
    assert evaluate(binary("mod"), (type, [low]), (type, [-1])) == [0]


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_a_shift_by_all_bits_or_more_leaves_nothing_but_the_sign(type: Type) -> None:
    low, high = integer_range(type)
    counts = [type.bits, type.bits + 1, high]
    counts += [-1, low] if low < 0 else []
    ones = [1] * len(counts)
    assert evaluate(binary("shl"), (type, ones), (type, counts)) == [0] * len(counts)
    assert evaluate(binary("shr"), (type, ones), (type, counts)) == [0] * len(counts)
    signs = evaluate(binary("shr"), (type, [low] * len(counts)), (type, counts))
    assert signs == [-1 if low < 0 else 0] * len(counts)


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_shifts_within_the_bits_are_numpys(type: Type) -> None:
    values = [v for v in samples(type) for _ in range(type.bits)]
    counts = list(range(type.bits)) * len(samples(type))
    dtype = storage_dtype(type)
    a, b = np.array(values, dtype), np.array(counts, dtype)
    assert evaluate(binary("shl"), (type, values), (type, counts)) == (a << b).tolist()
    assert evaluate(binary("shr"), (type, values), (type, counts)) == (a >> b).tolist()


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("op", ["and", "or", "xor", "min", "max"])
def test_bits_and_order_are_pythons(op: Any, type: Type) -> None:
    left, right = pairs(type)
    exact: dict[str, Any] = {
        "and": int.__and__, "or": int.__or__, "xor": int.__xor__, "min": min, "max": max,
    }  # fmt: skip
    expected = [exact[op](a, b) for a, b in zip(left, right, strict=True)]
    assert evaluate(binary(op), (type, left), (type, right)) == expected


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_signs_and_complements_wrap(type: Type) -> None:
    values = samples(type)
    negated = evaluate(unary("neg"), (type, values))
    assert negated == [wrap(-v, type) for v in values]
    inverted = evaluate(unary("invert"), (type, values))
    assert inverted == [wrap(~v, type) for v in values]
    absolute = evaluate(call(type, "abs"), (type, values))
    assert absolute == [wrap(abs(v), type) for v in values]


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_functions_of_bits_count_in_the_width_of_the_type(type: Type) -> None:
    values = samples(type)
    texts = [f"{v % (1 << type.bits):0{type.bits}b}" for v in values]

    def called(function: Any) -> list[int]:
        return evaluate(call(type, function), (type, values))

    assert called("count_ones") == [text.count("1") for text in texts]
    assert called("reverse_bits") == [wrap(int(text[::-1], 2), type) for text in texts]
    assert called("leading_zeros") == [len(text) - len(text.lstrip("0")) for text in texts]
    assert called("trailing_zeros") == [len(text) - len(text.rstrip("0")) for text in texts]


@pytest.mark.parametrize("op", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_comparisons_see_the_sign_of_the_type(op: Any, type: Type) -> None:
    left, right = pairs(type)
    expected = [getattr(a, f"__{op}__")(b) for a, b in zip(left, right, strict=True)]
    assert evaluate(compare(op), (type, left), (type, right)) == expected


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_a_cast_between_integers_keeps_the_lowest_bits(source: Type, target: Type) -> None:
    values = samples(source)
    expected = [wrap(v, target) for v in values]
    assert evaluate(cast_to(target), (source, values)) == expected


def test_bools_are_0_and_1() -> None:
    assert evaluate(cast_to(BOOL), (I32, [0, 1, -5, 256])) == [False, True, True, True]
    assert evaluate(cast_to(I32), (BOOL, [False, True])) == [0, 1]
    assert evaluate(cast_to(F32), (BOOL, [False, True])) == [0.0, 1.0]


@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_operators_on_bools_are_pythons(op: Any) -> None:
    left, right = [False, False, True, True], [False, True, False, True]
    exact = {"and": bool.__and__, "or": bool.__or__, "xor": bool.__xor__}[op]
    expected = [exact(a, b) for a, b in zip(left, right, strict=True)]
    assert evaluate(binary(op), (BOOL, left), (BOOL, right)) == expected
    assert evaluate(unary("not"), (BOOL, left)) == [True, True, False, False]


def test_bits_of_an_integer_may_be_read_with_another_sign() -> None:
    assert evaluate(bits_as(U32), (I32, [-1, 5])) == [2**32 - 1, 5]
    assert evaluate(bits_as(I32), (U32, [2**31, 5])) == [-(2**31), 5]


def test_a_deep_expression_is_as_good_as_a_shallow_one() -> None:
    assert evaluate(_chain, (I32, [3, 5])) == [_chained(3), _chained(5)]


def _chain(a: Expression) -> Expression:
    value = a
    for _ in range(120):
        value = Binary("sub", a, Binary("mul", value, a))
    return value


def _chained(a: int) -> int:
    value = a
    for _ in range(120):
        value = wrap(a - wrap(value * a, I32), I32)
    return value
