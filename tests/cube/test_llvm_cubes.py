"""How cubes run on the processor: barriers cut them, loops are turned inside out, units sit out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cube.codegen_kernels import Kernel, make, zeros
from tests.cube.cpu_launch import launch

from firebrick.cube.codegen.llvm import PROPERTIES, write_module
from firebrick.cube.passes import prepare

PLANE_DIM = 1
TABLE = np.arange(300, dtype=np.int32) * 7 % 101
FLOATS = np.linspace(-2, 2, 40 * 48, dtype=np.float32).reshape(40, 48)

KERNELS = [
    make(
        "some_units_return_after_the_last_barrier",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        variable u: i32
        body:
            u = cube.UNIT_POS
            m[u] = u * 3_i32
            sync cube
            if u % 3_i32 == 1_i32:
                return
            out[cube.ABSOLUTE_POS] = m[63_i32 - u]
        """,
        zeros(128),
        cubes=(2, 1, 1),
    ),
    make(
        "whole_cubes_return_before_a_barrier",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        variable u: i32
        body:
            u = cube.UNIT_POS
            out[cube.ABSOLUTE_POS] = -1_i32
            if cube.CUBE_POS == 1_i32:
                return
            m[u] = u
            sync cube
            out[cube.ABSOLUTE_POS] = m[63_i32 - u]
        """,
        zeros(192),
        cubes=(3, 1, 1),
    ),
    make(
        "some_units_go_on_with_the_next_trip",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        variable u: i32
        variable k: i32
        variable total: i32
        body:
            u = cube.UNIT_POS
            for k in range(0_i32, 4_i32, 1_i32):
                m[u] = u * k
                sync cube
                total = total + m[63_i32 - u]
                sync cube
                if (u + k) % 2_i32 == 0_i32:
                    continue
                total = total * 3_i32
            out[u] = total
        """,
        zeros(64),
    ),
    make(
        "some_units_leave_a_region_and_miss_what_follows_in_it",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        variable u: i32
        variable total: i32
        body:
            u = cube.UNIT_POS
            region r:
                if cube.CUBE_POS == 0_i32:
                    m[u] = u
                    sync cube
                    total = m[63_i32 - u]
                    if u < 10_i32:
                        leave r
                    total = total + 1000_i32
                total = total + 5_i32
            out[cube.ABSOLUTE_POS] = total
        """,
        zeros(128),
        cubes=(2, 1, 1),
    ),
    make(
        "values_of_a_unit_outlive_a_barrier",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[64]
        local a: i32[5]
        variable u: i32
        variable is_odd: bool
        variable never_set: i32
        body:
            u = cube.UNIT_POS
            is_odd = u % 2_i32 == 1_i32
            a[u % 5_i32] = u
            if is_odd:
                never_set = 7_i32
            m[u] = u
            sync cube
            a[(u + 1_i32) % 5_i32] = m[63_i32 - u]
            sync cube
            out[u] = a[0_i32] + 10_i32 * a[1_i32] + 100_i32 * a[4_i32] + never_set
            if is_odd:
                out[u] = -out[u]
        """,
        zeros(64),
    ),
    make(
        "a_condition_on_shared_memory_ends_a_loop",
        """
        buffer out: mut i32, rank 1, position 0
        shared m: i32[65]
        variable u: i32
        variable step: i32
        body:
            u = cube.UNIT_POS
            m[u] = u
            if u == 0_i32:
                m[64_i32] = 0_i32
            sync cube
            step = 32_i32
            while m[64_i32] < 3_i32:
                if u < step:
                    m[u] = m[u] + m[u + step]
                sync cube
                step = step // 2_i32
                if u == 0_i32:
                    m[64_i32] = m[64_i32] + 1_i32
                sync cube
            out[u] = m[u] + step
        """,
        zeros(64),
    ),
    make(
        "a_common_variable_is_read_before_it_is_set_again",
        """
        buffer x: i32, rank 1, position 0
        buffer out: mut i32, rank 1, position 1
        shared m: i32[16]
        variable offset: i32
        variable k: i32
        variable total: i32
        body:
            offset = 3_i32
            for k in range(0_i32, len(x) // 16_i32, 1_i32):
                m[cube.UNIT_POS] = x[offset + cube.UNIT_POS]
                sync cube
                total = total * 2_i32 + m[15_i32 - cube.UNIT_POS] + offset
                offset = offset + 16_i32
                total = total - offset
                sync cube
            out[cube.UNIT_POS] = total
        """,
        TABLE,
        zeros(16),
        units=(16, 1, 1),
    ),
    make(
        "a_product_of_matrices",
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
        FLOATS,
        FLOATS.reshape(48, 40),
        np.zeros((40, 40), np.float32),
        cubes=(3, 5, 1),
        units=(16, 8, 1),
    ),
    make(
        "loops_of_the_cube_in_each_other",
        """
        buffer x: i32, rank 1, position 0
        buffer out: mut i32, rank 1, position 1
        scalar n: i32, position 0
        local a: i32[4]
        variable i: i32
        variable j: i32
        variable k: i32
        variable total: i32
        body:
            for i in range(0_i32, n, 1_i32):
                for j in range(i, -1_i32, -2_i32):
                    total = total + x[i * 30_i32 + j * 16_i32 + cube.UNIT_POS_X]
                for k in range(0_i32, 3_i32, 1_i32):
                    a[k] = a[k] + total
                i = 100_i32
            out[cube.UNIT_POS] = a[2_i32] * i
        """,
        TABLE,
        zeros(64),
        numbers=(5,),
        units=(16, 2, 2),
    ),
    make(
        "a_large_local_array_begins_with_zeros_for_every_unit",
        """
        buffer out: mut i32, rank 1, position 0
        local a: i32[3000]
        variable u: i32
        body:
            u = cube.UNIT_POS
            out[u] = a[(u * 91_i32 + 5_i32) % 3000_i32]
            a[u * 91_i32 % 3000_i32] = 1_i32
            a[(u * 91_i32 + 96_i32) % 3000_i32] = 1_i32
        """,
        zeros(64),
    ),
    make(
        "loops_that_end_at_the_edge_of_the_type",
        """
        buffer out: mut i32, rank 1, position 0
        variable k: i32
        body:
            for k in range(2147483600_i32, 2147483647_i32, 10_i32):
                out[0_i32] = out[0_i32] + 1_i32
            for k in range(-2147483600_i32, -2147483648_i32, -7_i32):
                out[1_i32] = out[1_i32] + 1_i32
            for k in range(2147483645_i32, 2147483647_i32, 1_i32):
                out[2_i32] = out[2_i32] + 1_i32
            for k in range(5_i32, 5_i32, 1_i32):
                out[3_i32] = 1_i32
            for k in range(5_i32, 9_i32, -1_i32):
                out[3_i32] = 1_i32
            out[4_i32] = k
        """,
        zeros(5),
        units=(1, 1, 1),
    ),
    make(
        "exp",  # the name of a function of the C library, which it calls
        """
        buffer x: f64, rank 1, position 0
        buffer out: mut f64, rank 1, position 1
        body:
            out[cube.ABSOLUTE_POS] = exp(x[cube.ABSOLUTE_POS])
        """,
        np.array([0.0, 1.0]),
        np.zeros(2),
        units=(2, 1, 1),
    ),
]
BY_NAME = {kernel.name: kernel for kernel in KERNELS}


@pytest.mark.parametrize("kernel", KERNELS, ids=BY_NAME)
def test_a_cube_does_what_the_interpreter_does(kernel: Kernel) -> None:
    found = launch(kernel.function, kernel.arrays, kernel.numbers, kernel.cubes)
    kernel.check(found, PLANE_DIM)


def test_a_kernel_is_the_same_text_every_time() -> None:
    function = prepare(BY_NAME["a_product_of_matrices"].function, PROPERTIES)
    assert write_module(function) == write_module(function)


def scratch_bytes(name: str) -> int:
    return write_module(prepare(BY_NAME[name].function, PROPERTIES)).scratch_bytes


def test_only_what_outlives_a_barrier_is_kept_in_memory() -> None:
    # 64 elements of shared memory; UNIT_POS is computed again
    assert scratch_bytes("some_units_return_after_the_last_barrier") == 64 * 4
    # shared memory, and for each unit 5 elements and a number; the bool is computed again
    assert scratch_bytes("values_of_a_unit_outlive_a_barrier") == 64 * (4 + 5 * 4 + 4)


def test_a_sum_over_a_loop_of_the_cube_is_kept_in_memory() -> None:
    assert scratch_bytes("a_product_of_matrices") == 16 * 8 * 4
