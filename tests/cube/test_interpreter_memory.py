"""Loads, stores, vectors and atomics in the interpreter, and what it says of wrong ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.cube.build import Array, execute, from_storage, located, parse, to_storage

from firebrick.cube.interpreter import InterpreterBuffer, run, translate
from firebrick.cube.ir.nodes import (
    Buffer,
    Compare,
    Constant,
    Function,
    If,
    Load,
    Location,
    Store,
)
from firebrick.cube.ir.types import BF16, BOOL, F16, I32, Type
from firebrick.errors import KernelBoundsError, KernelError, KernelLaunchError, KernelRaceError

OUT = "buffer out: mut i32, rank 1, position 0"
SHARED = f"{OUT}\nshared m: i32[4]"


def out(size: int = 4) -> Array:
    return np.zeros(size, np.int32)


# ---- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["4_i32", "-1_i32", "2147483647_i32"])
def test_an_index_past_the_ends_of_a_buffer_is_an_error(index: str) -> None:
    message = rf"index {index[:-4]} is out of range for `out`, which has 4 elements"
    for body in (f"    out[{index}] = 1_i32", f"    out[0_i32] = out[{index}]"):
        with pytest.raises(KernelBoundsError, match=message):
            execute(parse(OUT, body), out())


def test_the_error_names_the_unit_and_the_cube() -> None:
    function = parse(OUT, "    out[cube.ABSOLUTE_POS] = 1_i32", cube_dim=(1, 2, 1))
    message = r"unit \(0, 1, 0\) of cube \(1, 0, 0\) of `k`"
    with pytest.raises(KernelBoundsError, match=message):
        execute(function, out(3), cube_count=(2, 1, 1))


def test_the_error_shows_the_users_line_and_the_calls(tmp_path: Any) -> None:
    file = tmp_path / "user.py"
    file.write_text("def kernel(out):\n    out[4] = 1\n\nhelper(out)\n")
    call = Location(str(file), 4, 1, 12, "caller")
    place = Location(str(file), 2, 5, 11, "kernel", (call,))
    function = parse(OUT, "    out[4_i32] = 1_i32")
    (store,) = function.body
    assert isinstance(store, Store)
    with pytest.raises(KernelBoundsError) as caught:
        execute(replace(function, body=(replace(store, location=place),)), out())
    assert str(caught.value).splitlines()[1:] == [
        f"  at {file}:2, in kernel",
        "    out[4] = 1",
        "    ^^^^^^",
        f"  called from {file}:4, in caller",
        "    helper(out)",
        "    ^^^^^^^^^^^",
    ]


def test_a_fault_in_a_condition_is_placed_at_its_own_line() -> None:
    buffer = Buffer("out", I32, 1, True, 0)
    wrong = Compare("eq", Load(buffer, Constant(I32, 9)), Constant(I32, 0))
    inner = If(wrong, (), (), located(7))
    outer = If(Constant(BOOL, False), (), (inner,), located(3))
    function = Function("k", (buffer,), (), (), (), (), (outer,), I32, (1, 1, 1))
    with pytest.raises(KernelBoundsError, match=r"user\.py:7"):
        execute(function, out())


def test_an_index_past_the_end_of_shared_or_local_memory_is_an_error() -> None:
    for kind in ("shared", "local"):
        for body in ("    m[4_i32] = 1_i32", "    out[0_i32] = m[-1_i32]"):
            function = parse(f"{OUT}\n{kind} m: i32[4]", body)
            with pytest.raises(KernelBoundsError, match="out of range for `m`, which has 4"):
                execute(function, out())


def test_a_dimension_that_does_not_exist_is_an_error() -> None:
    function = parse(f"{OUT}\nvariable d: i32", "    d = 1_i32\n    out[0_i32] = out.shape[d]")
    with pytest.raises(KernelBoundsError, match="`out` of rank 1 has no dimension 1"):
        execute(function, out())


def test_what_was_written_before_an_error_stays() -> None:
    array = out()
    with pytest.raises(KernelBoundsError):
        execute(parse(OUT, "    out[0_i32] = 7_i32\n    out[9_i32] = 1_i32"), array)
    assert array.tolist() == [7, 0, 0, 0]


# ---- storage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["bool", "i8", "i16", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]
)
def test_elements_of_every_type_are_copied(name: Any) -> None:
    type = Type(name)
    numbers = {"bool": [True, False], "int": [-128, 127], "uint": [0, 255], "float": [0.5, -3.0]}
    x = to_storage(numbers[type.kind], type)
    y = np.zeros_like(x)
    header = f"buffer x: {name}, rank 1, position 0\nbuffer y: mut {name}, rank 1, position 1"
    body = "    y[cube.UNIT_POS] = x[1_i32 - cube.UNIT_POS]"
    execute(parse(header, body, cube_dim=(2, 1, 1)), x, y)
    assert from_storage(y, type) == numbers[type.kind][::-1]


def test_narrow_floats_are_rounded_after_every_operation() -> None:
    for type in (F16, BF16):
        x = to_storage([1.0, 2.0**-12], type)
        header = f"buffer x: mut {type}, rank 1, position 0"
        # the first sum is rounded back to 1
        execute(parse(header, "    x[1_i32] = x[0_i32] + x[1_i32] + x[1_i32] - x[0_i32]"), x)
        assert from_storage(x, type) == [1.0, 0.0]


def test_shapes_strides_and_lengths_are_those_of_the_buffer() -> None:
    header = f"{OUT}\nbuffer x: f32, rank 2, position 1\nvariable d: i32"
    body = """
    d = 1_i32
    out[0_i32] = len(x)
    out[1_i32] = x.shape[0_i32] * 10_i32 + x.shape[d]
    out[2_i32] = x.stride[0_i32] * 10_i32 + x.stride[d]
"""
    values = np.zeros(7, np.float32)
    array = out()
    run(
        parse(header, body), (1, 1, 1),
        [InterpreterBuffer.of(array), InterpreterBuffer(values, (2, 3), (1, 2))],
    )  # fmt: skip
    assert array.tolist() == [7, 23, 12, 0]


def test_two_parameters_may_be_one_memory() -> None:
    header = "buffer x: i32, rank 1, position 0\nbuffer out: mut i32, rank 1, position 1"
    body = "    out[cube.UNIT_POS] = x[cube.UNIT_POS] + 5_i32"
    array = np.arange(4, dtype=np.int32)
    execute(parse(header, body, cube_dim=(4, 1, 1)), array, array)
    assert array.tolist() == [5, 6, 7, 8]


def test_local_memory_is_zero_at_first_and_each_units_own() -> None:
    body = """
    a[0_i32] = a[0_i32] + cube.UNIT_POS
    out[cube.UNIT_POS] = a[0_i32] + a[1_i32]
"""
    array = out()
    execute(parse(f"{OUT}\nlocal a: i32[2]", body, cube_dim=(4, 1, 1)), array)
    assert array.tolist() == [0, 1, 2, 3]


def test_vectors_are_neighbouring_elements() -> None:
    header = f"{OUT}\n" + "\n".join(f"variable v{n}: i32" for n in range(4))
    body = """
    v0, v1, v2, v3 = out.vector[1_i32]
    out.vector[0_i32] = v3, v2
    out.vector[1_i32] = v1, v0 + v0
"""
    array = np.arange(8, dtype=np.int32)
    execute(parse(header, body), array)
    assert array.tolist() == [7, 6, 5, 8, 4, 5, 6, 7]


def test_a_vector_may_be_loaded_into_its_own_index() -> None:
    header = f"{OUT}\nvariable i: i32\nvariable j: i32"
    array = np.array([1, 1, 5, 6], np.int32)
    execute(parse(header, "    i = 1_i32\n    j, i = out.vector[i]\n    out[0_i32] = j"), array)
    assert array.tolist() == [5, 1, 5, 6]


def test_a_vector_past_the_end_is_an_error() -> None:
    function = parse(OUT, "    out.vector[1_i32] = 1_i32, 2_i32, 3_i32, 4_i32")
    with pytest.raises(KernelBoundsError, match="index 6 is out of range"):
        execute(function, out(6))


# ---- shared memory ----------------------------------------------------------------------------


def test_reading_shared_memory_that_nobody_wrote_is_an_error() -> None:
    function = parse(SHARED, "    m[0_i32] = 1_i32\n    out[0_i32] = m[3_i32]")
    message = "element 3 of shared memory `m` is read, and no unit of the cube has written it"
    with pytest.raises(KernelError, match=message):
        execute(function, out())


def test_shared_memory_of_another_cube_is_not_seen() -> None:
    body = """
    if cube.CUBE_POS == 0_i32:
        m[0_i32] = 1_i32
    out[0_i32] = m[0_i32]
"""
    with pytest.raises(KernelError, match=r"no unit of the cube has written it.*\(1, 0, 0\)"):
        execute(parse(SHARED, body), out(), cube_count=(2, 1, 1))


# ---- races ------------------------------------------------------------------------------------

RACES = {
    "a write and a read": "m[cube.UNIT_POS] = 1_i32\n    out[0_i32] = m[3_i32 - cube.UNIT_POS]",
    "two writes": "m[0_i32] = cube.UNIT_POS",
    "two equal writes": "m[0_i32] = 1_i32",
    "writes to a buffer": "out[0_i32] = 1_i32",
    "a write to what others read": "out[cube.UNIT_POS] = out[0_i32]",
    "an atomic and a store": "out[0_i32] = 1_i32\n    atomic.add(out[0_i32], 1_i32)",
    "an atomic and a load": "atomic.add(out[0_i32], out[0_i32])",
    "a store and an atomic": (
        "if cube.UNIT_POS == 0_i32:\n        out[0_i32] = 1_i32\n    else:\n"
        "        atomic.add(out[0_i32], 1_i32)"
    ),
    "an atomic load and a store": "atomic.load(out[0_i32])\n    out[0_i32] = 1_i32",
}


@pytest.mark.parametrize("body", RACES.values(), ids=RACES.keys())
def test_unordered_accesses_to_one_element_are_an_error(body: str) -> None:
    function = parse(f"{SHARED}\nvariable t: i32", f"    {body}", cube_dim=(4, 1, 1))
    with pytest.raises(KernelRaceError, match="a race on element"):
        execute(function, out())


def test_the_error_names_both_units_and_what_they_did() -> None:
    body = """
    if cube.UNIT_POS == 0_i32:
        m[0_i32] = 1_i32
    if cube.UNIT_POS == 3_i32:
        out[0_i32] = m[0_i32]
"""
    message = (
        r"element 0 of `m`: unit \(0, 0, 0\) wrote it and unit \(1, 1, 0\) reads it, with no "
        r"barrier between"
    )
    with pytest.raises(KernelRaceError, match=message):
        execute(parse(SHARED, body, cube_dim=(2, 2, 1)), out())


def test_a_read_before_another_units_write_is_a_race_rather_than_unwritten() -> None:
    body = """
    if cube.UNIT_POS == 0_i32:
        out[0_i32] = m[0_i32]
    if cube.UNIT_POS == 3_i32:
        m[0_i32] = 1_i32
"""
    message = r"unit \(0, 0, 0\) read it and unit \(3, 0, 0\) writes it"
    with pytest.raises(KernelRaceError, match=message):
        execute(parse(SHARED, body, cube_dim=(4, 1, 1)), out())


@pytest.mark.parametrize("scope", ["cube", "storage"])
def test_a_barrier_puts_accesses_in_order(scope: str) -> None:
    body = f"""
    m[cube.UNIT_POS] = cube.UNIT_POS
    out[cube.UNIT_POS] = 1_i32
    sync {scope}
    out[3_i32 - cube.UNIT_POS] = m[3_i32 - cube.UNIT_POS]
"""
    array = out()
    execute(parse(SHARED, body, cube_dim=(4, 1, 1)), array)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_barrier_of_the_plane_orders_its_own_units_only() -> None:
    body = """
    m[cube.UNIT_POS] = cube.UNIT_POS
    sync plane
    out[cube.UNIT_POS] = m[cube.UNIT_POS ^ {other}]
"""
    array = out()
    execute(parse(SHARED, body.format(other="1_i32"), cube_dim=(4, 1, 1)), array, plane_size=2)
    assert array.tolist() == [1, 0, 3, 2]
    function = parse(SHARED, body.format(other="2_i32"), cube_dim=(4, 1, 1))
    with pytest.raises(KernelRaceError, match="a race on element"):
        execute(function, out(), plane_size=2)


def test_a_write_after_a_plane_barrier_races_with_another_plane() -> None:
    body = """
    if cube.UNIT_POS == 0_i32:
        m[0_i32] = 1_i32
    sync plane
    if cube.UNIT_POS == 3_i32:
        m[0_i32] = 2_i32
"""
    function = parse(SHARED, body, cube_dim=(4, 1, 1))
    execute(function, out(), plane_size=4)
    with pytest.raises(KernelRaceError, match=r"unit \(0, 0, 0\) wrote it and unit \(3, 0, 0\)"):
        execute(function, out(), plane_size=2)


def test_two_names_of_one_memory_race_with_each_other() -> None:
    header = "buffer x: i32, rank 1, position 0\nbuffer out: mut i32, rank 1, position 1"
    body = "    out[cube.UNIT_POS] = x[3_i32 - cube.UNIT_POS]"
    function = parse(header, body, cube_dim=(4, 1, 1))
    execute(function, out(), out())
    array = out()
    with pytest.raises(KernelRaceError, match="a race on element"):
        execute(function, array, array)


def test_many_units_may_read_one_element() -> None:
    body = """
    if cube.UNIT_POS == 0_i32:
        m[0_i32] = 7_i32
    sync cube
    out[cube.UNIT_POS] = m[0_i32] + m[0_i32]
"""
    array = out()
    execute(parse(SHARED, body, cube_dim=(4, 1, 1)), array)
    assert array.tolist() == [14] * 4


def test_atomics_do_not_race_with_each_other() -> None:
    body = """
    atomic.add(out[0_i32], cube.UNIT_POS)
    t = atomic.load(out[0_i32])
    atomic.max(out[1_i32], t)
"""
    array = out()
    execute(parse(f"{SHARED}\nvariable t: i32", body, cube_dim=(4, 1, 1)), array)
    assert array.tolist() == [6, 6, 0, 0]


# ---- atomics ----------------------------------------------------------------------------------

ATOMICS = [
    ("load", "", 12, 12), ("store", ", 5_i32", 12, 5), ("exchange", ", 5_i32", 12, 5),
    ("add", ", 2147483647_i32", 12, 11 - 2**31), ("sub", ", 13_i32", 12, -1),
    ("max", ", 13_i32", 12, 13), ("min", ", 13_i32", 12, 12), ("and", ", 10_i32", 12, 8),
    ("or", ", 10_i32", 12, 14), ("xor", ", 10_i32", 12, 6),
    ("compare_exchange", ", 12_i32, 1_i32", 12, 1), ("compare_exchange", ", 13_i32, 1_i32", 12, 12),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands", "old", "new"), ATOMICS)
def test_an_atomic_gives_the_old_value(op: str, operands: str, old: int, new: int) -> None:
    header = f"{SHARED}\nvariable t: i32"
    for memory in ("out", "m"):
        body = f"""
    {memory}[1_i32] = 12_i32
    t = atomic.{op}({memory}[1_i32]{operands})
    out[0_i32] = t
    out[1_i32] = {memory}[1_i32]
"""
        array = out()
        execute(parse(header, body), array)
        assert array.tolist()[:2] == [old, new]


def test_float_atomics_round_and_compare_bits() -> None:
    header = "buffer x: mut f32, rank 1, position 0"
    body = """
    atomic.add(x[0_i32], 0.1_f32)
    atomic.compare_exchange(x[1_i32], -0.0_f32, 1.0_f32)
    atomic.compare_exchange(x[2_i32], f32.nan, 1.0_f32)
"""
    x = np.array([0.2, 0.0, np.nan], np.float32)
    execute(parse(header, body), x)
    np.testing.assert_array_equal(x, np.array([np.float32(0.2) + np.float32(0.1), 0.0, 1.0]))


def test_an_atomic_needs_a_value_to_start_from() -> None:
    header = f"{SHARED}\nvariable t: i32"
    for body in ("atomic.add(m[0_i32], 1_i32)", "t = atomic.exchange(m[0_i32], 1_i32)"):
        with pytest.raises(KernelError, match="no unit of the cube has written it"):
            execute(parse(header, f"    {body}"), out())


def test_an_atomic_store_starts_shared_memory() -> None:
    body = "    atomic.store(m[0_i32], 3_i32)\n    out[0_i32] = m[0_i32]"
    array = out()
    execute(parse(SHARED, body), array)
    assert array[0] == 3


def test_an_atomic_past_the_end_is_an_error() -> None:
    with pytest.raises(KernelBoundsError, match="index 4 is out of range for `out`"):
        execute(parse(OUT, "    atomic.add(out[4_i32], 1_i32)"), out())


# ---- arguments --------------------------------------------------------------------------------


def test_scalars_are_held_by_their_types() -> None:
    header = "buffer x: mut f64, rank 1, position 0\nscalar a: f32, position 1\n"
    header += "scalar n: i8, position 0"
    x = np.zeros(2)
    execute(parse(header, "    x[0_i32] = f64(a)\n    x[1_i32] = f64(n)"), x, scalars=(-7, 0.1))
    assert x.tolist() == [float(np.float32(0.1)), -7.0]


@pytest.mark.parametrize("value", [128, -129, 0.5, float("inf")])
def test_a_scalar_that_its_type_does_not_hold_is_refused(value: float) -> None:
    function = parse(f"{OUT}\nscalar n: i8, position 0", "    pass")
    with pytest.raises(KernelLaunchError, match="`n` of `k` is of type i8, which does not hold"):
        execute(function, out(), scalars=(value,))


def test_the_wrong_number_of_arguments_is_refused() -> None:
    function = parse(OUT, "    pass")
    with pytest.raises(KernelLaunchError, match="`k` takes 1 buffers; got 0"):
        execute(function)
    with pytest.raises(KernelLaunchError, match="`k` takes 0 scalars; got 1"):
        execute(function, out(), scalars=(1,))


def test_buffers_that_do_not_fit_are_refused() -> None:
    function = parse(OUT, "    out[0_i32] = 1_i32")
    with pytest.raises(KernelLaunchError, match="takes a flat array of int32; got float32"):
        execute(function, np.zeros(4, np.float32))
    with pytest.raises(KernelLaunchError, match="has rank 1; got shape \\[2, 2\\]"):
        execute(function, np.zeros((2, 2), np.int32))
    array = out()
    array.flags.writeable = False
    with pytest.raises(KernelLaunchError, match="the array is read only"):
        execute(function, array)
    with pytest.raises(KernelLaunchError, match="contiguous"):
        InterpreterBuffer.of(np.zeros((4, 4))[:, 1])


def test_a_program_runs_many_times() -> None:
    program = translate(
        parse(SHARED, "    m[0_i32] = 1_i32\n    out[0_i32] = out[0_i32] + m[0_i32]")
    )
    array = out()
    for _ in range(3):
        program.run((1, 1, 1), [InterpreterBuffer.of(array)], [])
    assert array[0] == 3
