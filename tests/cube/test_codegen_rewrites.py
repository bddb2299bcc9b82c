"""Rewriting before text is made: the same results, without what a target cannot write."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cube.codegen_kernels import DEEP, LAZY, LOOPS, REGIONS, Kernel
from tests.cube.codegen_random import random_kernel, same

from firebrick.cube.codegen.linearize import DEEPEST, linearize
from firebrick.cube.codegen.regions import without_regions
from firebrick.cube.ir.nodes import (
    Expression,
    Function,
    Leave,
    Region,
    Select,
    expressions,
    operands,
    walk,
    walk_expressions,
)
from firebrick.cube.ir.verifier import verify

SEEDS = range(100, 140)
PLANE_UNITS = 8


def assert_equivalent(kernel: Kernel, rewritten: Function) -> None:
    verify(rewritten)
    other = Kernel(kernel.name, rewritten, kernel.arrays, kernel.numbers, kernel.cubes)
    for found, wanted, buffer in zip(
        other.expected(PLANE_UNITS), kernel.expected(PLANE_UNITS), rewritten.buffers, strict=True
    ):
        assert np.all(same(found, wanted, buffer.type))


def levels(expression: Expression) -> int:
    return 1 + max(map(levels, operands(expression)), default=0)


def all_expressions(function: Function) -> list[Expression]:
    return [e for statement in walk(function.body) for e in expressions(statement)]


def some_kernels() -> list[Kernel]:
    random = [random_kernel(Random(seed), f"k{seed}", planes=True) for seed in SEEDS]
    return [DEEP, LAZY, LOOPS, REGIONS, *random]


@pytest.mark.parametrize("selects", [True, False])
def test_linearizing_changes_no_result(selects: bool) -> None:
    for kernel in some_kernels():
        assert_equivalent(kernel, linearize(kernel.function, selects=selects))


def test_removing_regions_changes_no_result() -> None:
    for kernel in some_kernels():
        assert_equivalent(kernel, without_regions(kernel.function))


def test_no_lazy_selection_is_left() -> None:
    for kernel in some_kernels():
        for expression in all_expressions(linearize(kernel.function, selects=True)):
            parts = walk_expressions(expression)
            assert not any(isinstance(part, Select) and part.lazy for part in parts)


def test_no_expression_is_too_deep() -> None:
    assert max(map(levels, all_expressions(DEEP.function))) > DEEPEST
    flat = linearize(DEEP.function, selects=False)
    assert max(map(levels, all_expressions(flat))) <= DEEPEST


def test_no_region_is_left_and_no_loop_is_added() -> None:
    for kernel in some_kernels():
        before, after = (
            [type(s) for s in walk(body)]
            for body in (kernel.function.body, without_regions(kernel.function).body)
        )
        assert not {Region, Leave} & set(after)
        loops = [kind for kind in after if kind.__name__ in ("For", "While")]
        assert len(loops) <= len([k for k in before if k.__name__ in ("For", "While")])
