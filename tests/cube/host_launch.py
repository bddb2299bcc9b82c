"""Runs generated HIP text on the CPU: a launcher for tests only.

The text is compiled as C++ by the clang of the package `ziglang`, with macros in place of the GPU's
built-in functions. A cube's units are threads if the kernel has barriers or planes; cubes run one
after the other, so shared memory is static. A plane has 64 units, or all of a smaller cube.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from tests.cube.wgpu_launch import sizes_of

from firebrick.cube.codegen import hip
from firebrick.cube.codegen.layout import metadata
from firebrick.cube.codegen.names import entry_point
from firebrick.cube.ir.nodes import Function

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

ONE_ARGUMENT = "exp log log1p sin cos tan asin acos atan sinh cosh tanh erf".split()
TWO_ARGUMENTS = "atan2 pow hypot fmod".split()

WIDEST_ACCESS = 64
"""Bytes."""

SHIM = """
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(units)
static __thread unsigned shim_unit[3], shim_cube[3], shim_flat;
static unsigned shim_count[3], shim_dim[3];
static pthread_barrier_t shim_all, shim_planes[16];
static unsigned shim_words[16][64];
#define __builtin_amdgcn_workitem_id_x() shim_unit[0]
#define __builtin_amdgcn_workitem_id_y() shim_unit[1]
#define __builtin_amdgcn_workitem_id_z() shim_unit[2]
#define __builtin_amdgcn_workgroup_id_x() shim_cube[0]
#define __builtin_amdgcn_workgroup_id_y() shim_cube[1]
#define __builtin_amdgcn_workgroup_id_z() shim_cube[2]
#define __builtin_amdgcn_grid_size_x() (shim_count[0] * shim_dim[0])
#define __builtin_amdgcn_grid_size_y() (shim_count[1] * shim_dim[1])
#define __builtin_amdgcn_grid_size_z() (shim_count[2] * shim_dim[2])
#define SHIM_UNITS (shim_dim[0] * shim_dim[1] * shim_dim[2])
#define __builtin_amdgcn_wavefrontsize() (SHIM_UNITS < 64 ? SHIM_UNITS : 64u)
#define __builtin_amdgcn_mbcnt_lo(mask, base) 0u
#define __builtin_amdgcn_mbcnt_hi(mask, base) (shim_flat % 64u)
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_s_barrier() pthread_barrier_wait(&shim_all)
#define __builtin_amdgcn_wave_barrier() pthread_barrier_wait(&shim_planes[shim_flat / 64])
static unsigned shim_permute(int place, unsigned word) {
    const unsigned plane = shim_flat / 64;
    shim_words[plane][shim_flat % 64] = word;
    pthread_barrier_wait(&shim_planes[plane]);
    const unsigned found = shim_words[plane][place / 4 % 64];
    pthread_barrier_wait(&shim_planes[plane]);
    return found;
}
static unsigned long long shim_ballot(bool vote) {
    const unsigned plane = shim_flat / 64;
    unsigned long long votes = 0;
    for (unsigned unit = 0; unit < 64 && plane * 64 + unit < SHIM_UNITS; ++unit)
        votes |= (unsigned long long)shim_permute(unit * 4, vote) << unit;
    return votes;
}
#define __builtin_amdgcn_ds_bpermute(place, word) shim_permute(place, word)
#define __builtin_amdgcn_ballot_w64(vote) shim_ballot(vote)
#define __hip_atomic_fetch_add(p, x, order, scope) __atomic_fetch_add(p, x, order)
#define __hip_atomic_fetch_max(p, x, order, scope) __atomic_fetch_max(p, x, order)
#define __hip_atomic_fetch_min(p, x, order, scope) __atomic_fetch_min(p, x, order)
#define __hip_atomic_fetch_and(p, x, order, scope) __atomic_fetch_and(p, x, order)
#define __hip_atomic_fetch_or(p, x, order, scope) __atomic_fetch_or(p, x, order)
#define __hip_atomic_fetch_xor(p, x, order, scope) __atomic_fetch_xor(p, x, order)
#define __hip_atomic_exchange(p, x, order, scope) __atomic_exchange_n(p, x, order)
#define __hip_atomic_compare_exchange_strong(p, expected, x, order, failed, scope) \\
    __atomic_compare_exchange_n(p, expected, x, 0, order, failed)
struct shim_start { void (*kernel)(void**); void** arguments; unsigned flat, cube[3]; };
static void* shim_run_unit(void* given) {
    const shim_start* start = (const shim_start*)given;
    shim_flat = start->flat;
    shim_unit[0] = shim_flat % shim_dim[0];
    shim_unit[1] = shim_flat / shim_dim[0] % shim_dim[1];
    shim_unit[2] = shim_flat / shim_dim[0] / shim_dim[1];
    for (int axis = 0; axis < 3; ++axis) shim_cube[axis] = start->cube[axis];
    start->kernel(start->arguments);
    return 0;
}
static void shim_run_cube(shim_start start, unsigned units, bool together) {
    if (!together) {
        for (start.flat = 0; start.flat < units; ++start.flat) shim_run_unit(&start);
        return;
    }
    pthread_t threads[1024];
    shim_start starts[1024];
    pthread_barrier_init(&shim_all, 0, units);
    for (unsigned plane = 0; plane * 64 < units; ++plane) {
        const unsigned left = units - plane * 64;
        pthread_barrier_init(&shim_planes[plane], 0, left < 64 ? left : 64);
    }
    for (unsigned flat = 0; flat < units; ++flat) {
        starts[flat] = start;
        starts[flat].flat = flat;
        pthread_create(&threads[flat], 0, shim_run_unit, &starts[flat]);
    }
    for (unsigned flat = 0; flat < units; ++flat) pthread_join(threads[flat], 0);
}
static void shim_run(
    void (*kernel)(void**), void** arguments, const unsigned* count, const unsigned* dim,
    bool together
) {
    for (int axis = 0; axis < 3; ++axis) shim_count[axis] = count[axis], shim_dim[axis] = dim[axis];
    shim_start start = {kernel, arguments, 0, {0, 0, 0}};
    for (start.cube[2] = 0; start.cube[2] < count[2]; ++start.cube[2])
        for (start.cube[1] = 0; start.cube[1] < count[1]; ++start.cube[1])
            for (start.cube[0] = 0; start.cube[0] < count[0]; ++start.cube[0])
                shim_run_cube(start, dim[0] * dim[1] * dim[2], together);
}
extern "C" float __ocml_rsqrt_f32(float x) { return (float)(1 / sqrt((double)x)); }
extern "C" double __ocml_rsqrt_f64(double x) { return 1 / sqrt(x); }
"""


def _library() -> str:
    one = 'extern "C" {t} __ocml_{n}_{s}({t} x) {{ return ({t}){n}((double)x); }}'
    two = 'extern "C" {t} __ocml_{n}_{s}({t} x, {t} y) {{ return ({t}){n}((double)x, (double)y); }}'
    texts = [(one, name) for name in ONE_ARGUMENT] + [(two, name) for name in TWO_ARGUMENTS]
    types = (("float", "f32"), ("double", "f64"))
    return "\n".join(text.format(t=t, s=s, n=name) for text, name in texts for t, s in types)


def _caller(function: Function, text: str) -> str:
    name = entry_point(function.name)
    head = text[text.index(f" {name}(") :]
    parameters = head[head.index("(") + 1 : head.index(")")].split(", ")
    types = [parameter.rsplit(" ", 1)[0] for parameter in parameters]
    listed = ", ".join(f"({type})given[{i}]" for i, type in enumerate(types))
    together = any(word in text for word in ("_barrier()", "ds_bpermute", "ballot_w64"))
    return f"""static void call_{name}(void** given) {{ {name}({listed}); }}
extern "C" void run_{name}(void** given, const unsigned* count, const unsigned* dim) {{
    shim_run(call_{name}, given, count, dim, {str(together).lower()});
}}"""


def _aligned(array: Array) -> Array:
    """A copy at a multiple of the widest vector access, as device memory is."""
    room = np.zeros(array.nbytes + WIDEST_ACCESS, np.uint8)
    start = -room.ctypes.data % WIDEST_ACCESS
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class HostLibrary:
    """Kernels, compiled together; their names are different."""

    def __init__(self, functions: Sequence[Function], folder: Path) -> None:
        pytest.importorskip("ziglang", reason="needs the package ziglang")
        parts = [SHIM, _library()]
        for function in functions:
            text = hip.emit(function)
            inside = f"{text}\n{_caller(function, text)}"
            parts.append(f"namespace n_{entry_point(function.name)} {{\n{inside}\n}}")
        source = folder / "kernels.cpp"
        source.write_text("\n\n".join(parts))
        built = folder / "kernels.so"
        options = ["-x", "c++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC",
                   "-fno-sanitize=undefined", "-ffp-contract=off"]  # fmt: skip
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            *options,
            "-o",
            str(built),
            str(source),
            "-lm",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        self._library = ctypes.CDLL(str(built))

    def launch(
        self,
        function: Function,
        arrays: Sequence[Array],
        numbers: Sequence[bool | int | float] = (),
        cubes: tuple[int, int, int] = (1, 1, 1),
    ) -> list[Array]:
        """Contents of all arrays after a launch; they stand in the order of their positions."""
        words = metadata(function, [sizes_of(array) for array in arrays], numbers)
        memory = [_aligned(array) for array in arrays]
        used = [memory[buffer.position].ctypes.data for buffer in function.buffers]
        aligned = np.frombuffer(words, np.int64).copy()
        given = (ctypes.c_void_p * (len(used) + 1))(*used, aligned.ctypes.data)
        run = getattr(self._library, f"run_{entry_point(function.name)}")
        triple = ctypes.c_uint * 3
        run(given, triple(*cubes), triple(*function.cube_dim))
        return memory
