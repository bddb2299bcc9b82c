"""Pointwise kernels by vectors: which have such a version, and that it does the same."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent, indent

import numpy as np
import pytest
from tests.cube.build import Array, execute, parse
from tests.cube.pass_cases import PROPERTIES, text_of

from firebrick.cube.ir.nodes import Function, VectorLoad, VectorStore, walk
from firebrick.cube.passes.prepare import prepare
from firebrick.cube.passes.vectorize import Vectorized, vectorize
from firebrick.cube.runtime.base import Memory, Runtime, TensorArgument
from firebrick.cube.runtime.null import open_driver

MEMORY = Memory(Runtime(open_driver(0)), None, 0)
"""Of tensors that only their sizes matter of."""
HEADER = """\
buffer x: f32, rank 1, position 0
buffer y: f32, rank 1, position 1
buffer few: f32, rank 1, position 2
buffer out: mut f32, rank 1, position 3
buffer more: mut f32, rank 1, position 4
scalar s: f32, position 0
variable i: i32
variable k: i32
variable a: f32
"""
ONE_OUTPUT = HEADER.replace("buffer more: mut f32", "buffer more: f32")

KERNELS = {
    "guarded": """\
        i = cube.ABSOLUTE_POS
        if i < len(out):
            out[i] = x[i] * s + y[i]
        """,
    "guarded by the shape": """\
        if cube.ABSOLUTE_POS < out.shape[0_i32]:
            out[cube.ABSOLUTE_POS] = x[cube.ABSOLUTE_POS] * s
        """,
    "ending early": """\
        if cube.ABSOLUTE_POS >= len(out):
            return
        if x[cube.ABSOLUTE_POS] > 0.5_f32:
            a = 1.0_f32
        out[cube.ABSOLUTE_POS] = a
        """,
    "without a guard": """\
        out[cube.ABSOLUTE_POS] = x[cube.ABSOLUTE_POS] * 2.0_f32
        """,
    "in place": """\
        i = cube.ABSOLUTE_POS
        if i < len(out):
            out[i] = out[i] + 1.0_f32
            if out[i] > s:
                out[i] = out[i] * 3.0_f32
        """,
    "that some elements leave": """\
        i = cube.ABSOLUTE_POS
        if i >= len(out):
            return
        if x[i] > 0.5_f32:
            return
        out[i] = y[i] + few[i % 3_i32] * f32(i)
        """,
    "with loops": """\
        i = cube.ABSOLUTE_POS
        if i < len(out):
            for k in range(0_i32, 20_i32, 1_i32):
                if a > 2.0_f32:
                    break
                a = a * x[i] + y[i]
            while a > 1.0_f32:
                a = a * 0.5_f32
            out[i] = a
        """,
    "storing sometimes": """\
        i = cube.ABSOLUTE_POS
        if i < len(out) and x[i] > 0.3_f32:
            out[i] = x[i] if i % 2_i32 == 0_i32 else s
        """,
}
OTHERS = {
    "a neighbour's element": "out[cube.ABSOLUTE_POS] = out[cube.ABSOLUTE_POS + 1_i32]\n",
    "an element elsewhere": "out[cube.ABSOLUTE_POS * 2_i32] = s\n",
    "another position": "out[cube.ABSOLUTE_POS] = f32(cube.UNIT_POS)\n",
    "barriers": "out[cube.ABSOLUTE_POS] = s\nsync cube\n",
    "atomics": "atomic.add(out[cube.ABSOLUTE_POS], s)\n",
    "no output": "a = x[cube.ABSOLUTE_POS]\n",
    "too much": "out[cube.ABSOLUTE_POS] = " + " + ".join(["x[cube.ABSOLUTE_POS]"] * 400) + "\n",
}


def kernel(
    body: str, *, header: str = ONE_OUTPUT, cube_dim: tuple[int, int, int] = (4, 1, 1)
) -> Function:
    return parse(header, indent(dedent(body), "    "), cube_dim=cube_dim)


def vectorized(function: Function) -> Vectorized:
    found = vectorize(function, PROPERTIES)
    assert found is not None
    text_of(found.function)
    return found


def arrays_of(length: int) -> list[Array]:
    random = np.random.default_rng(length)
    sizes = (length, length, 3, length, length)
    return [random.random(size).astype(np.float32) for size in sizes]


def arguments_of(arrays: list[Array]) -> list[TensorArgument]:
    return [TensorArgument(MEMORY, array.shape, (1,), array.size) for array in arrays]


def outputs(function: Function, cubes: tuple[int, int, int], arrays: list[Array]) -> list[Array]:
    copies = [array.copy() for array in arrays]
    execute(function, *copies, cube_count=cubes, scalars=(0.9,))
    return copies


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("cube_dim", [(4, 1, 1), (2, 2, 2)])
def test_the_version_by_vectors_does_the_same(name: str, cube_dim: tuple[int, int, int]) -> None:
    function = kernel(KERNELS[name], cube_dim=cube_dim)
    found = vectorized(function)
    plain, fast = prepare(function, PROPERTIES), prepare(found.function, PROPERTIES)
    assert found.elements == 8
    for length in (1, 3, 4, 5, 8, 31, 32, 33, 64, 65, 130):
        arrays = arrays_of(length)
        cubes = (-(-length // function.units), 1, 1)
        count = found.cube_count(cubes, arguments_of(arrays), PROPERTIES)
        assert count == (-(-length // (8 * function.units)), 1, 1)
        np.testing.assert_equal(outputs(fast, count, arrays), outputs(plain, cubes, arrays))


@pytest.mark.parametrize("name", OTHERS)
def test_there_is_no_version_for_kernels_with(name: str) -> None:
    assert vectorize(kernel(OTHERS[name]), PROPERTIES) is None


def test_loads_come_before_arithmetic_and_stores_last() -> None:
    body = prepare(vectorized(kernel(KERNELS["guarded"])).function, PROPERTIES).body
    branch = next(s for s in body if hasattr(s, "then"))
    kinds = [type(s) for s in walk((branch,))][1:]
    loads = [i for i, kind in enumerate(kinds) if kind is VectorLoad]
    stores = [i for i, kind in enumerate(kinds) if kind is VectorStore]
    assert (loads, len(stores)) == ([0, 1, 2, 3], 2)


def test_the_width_follows_the_largest_element() -> None:
    body, header = (text.replace("f32", "f64") for text in (KERNELS["guarded"], ONE_OUTPUT))
    found = vectorized(kernel(body, header=header))
    assert (found.elements, found.alignment) == (4, 16)


# ---- launches ---------------------------------------------------------------------------------


def test_a_launch_that_does_not_cover_the_tensor_stays_plain() -> None:
    found = vectorized(kernel(KERNELS["guarded"]))
    tensors = arguments_of(arrays_of(100))
    assert found.cube_count((24, 1, 1), tensors, PROPERTIES) is None
    assert found.cube_count((25, 1, 1), tensors, PROPERTIES) == (4, 1, 1)


@pytest.mark.parametrize(
    "odd",
    [
        TensorArgument(MEMORY, (99,), (1,), 99),
        TensorArgument(MEMORY, (100,), (0,), 1),
        TensorArgument(MEMORY, (50,), (2,), 100),
        TensorArgument(MEMORY, (10, 10), (1, 10), 100),
    ],
    ids=["shorter", "broadcast", "strided", "transposed"],
)
def test_tensors_that_are_not_whole_stay_plain(odd: TensorArgument) -> None:
    found = vectorized(kernel(KERNELS["guarded"]))
    tensors = arguments_of(arrays_of(100))
    assert found.cube_count((25, 1, 1), [odd, *tensors[1:]], PROPERTIES) is None


def test_cubes_are_spread_where_a_device_has_a_limit() -> None:
    found = vectorized(kernel(KERNELS["guarded"]))
    limits = replace(PROPERTIES, max_cube_count=(2, 2, 1))
    assert found.cube_count((30, 1, 1), arguments_of(arrays_of(120)), limits) == (2, 2, 1)


# ---- two names for one tensor -----------------------------------------------------------------

TWO_OUTPUTS = {
    "stores to both": """\
        if cube.ABSOLUTE_POS < len(out):
            out[cube.ABSOLUTE_POS] = more[cube.ABSOLUTE_POS] * s
            more[cube.ABSOLUTE_POS] = x[cube.ABSOLUTE_POS]
        """,
    "stores to one twice": """\
        out[cube.ABSOLUTE_POS] = s
        more[cube.ABSOLUTE_POS] = x[cube.ABSOLUTE_POS]
        out[cube.ABSOLUTE_POS] = y[cube.ABSOLUTE_POS]
        """,
}


@pytest.mark.parametrize("name", TWO_OUTPUTS)
def test_one_tensor_may_have_two_names(name: str) -> None:
    function = kernel(TWO_OUTPUTS[name], header=HEADER)
    found = vectorized(function)
    for length in (5, 64):
        x, y, few, out, _ = arrays_of(length)
        results: list[Array] = []
        for version in (function, found.function):
            shared = out.copy()
            cubes = (-(-length // 4), 1, 1) if version is function else (-(-length // 32), 1, 1)
            prepared = prepare(version, PROPERTIES)
            execute(prepared, x, y, few, shared, shared, cube_count=cubes, scalars=(0.9,))
            results.append(shared)
        np.testing.assert_equal(results[1], results[0])


@pytest.mark.parametrize(
    "body",
    [
        """\
        out[cube.ABSOLUTE_POS] = s
        more[cube.ABSOLUTE_POS] = out[cube.ABSOLUTE_POS] + more[cube.ABSOLUTE_POS]
        """,
        """\
        more[cube.ABSOLUTE_POS] = s
        if x[cube.ABSOLUTE_POS] > s:
            out[cube.ABSOLUTE_POS] = s
        """,
    ],
    ids=["load after store", "uncertain"],
)
def test_kernels_that_two_names_could_change_have_no_version(body: str) -> None:
    assert vectorize(kernel(body, header=HEADER), PROPERTIES) is None
