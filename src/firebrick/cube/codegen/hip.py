"""HIP C++ for HIPRTC or clang: the tables. No header is included, built-in functions do it all.

HIPRTC links the device libraries with the functions of mathematics; clang alone needs them on its
command line when it links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.c_expressions import REGISTERS, STORED
from firebrick.cube.codegen.c_family import ATOMICS, NUMBERS, emit_c, mathematics
from firebrick.cube.codegen.c_snippets import HEAD, SNIPPETS
from firebrick.cube.codegen.target import Target
from firebrick.cube.ir.types import BITS
from firebrick.cube.runtime.base import Properties

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Function, MathName, TopologyName

WIDEST_PLANE = 64
"""Units; devices of the RDNA line have 32."""

PROPERTIES = Properties(
    types=frozenset(BITS),
    max_units=1024,
    max_cube_dim=(1024, 1024, 1024),
    max_cube_count=(2**31 - 1, 65535, 65535),
    max_shared_bytes=64 * 1024,
    plane_dim=WIDEST_PLANE,
)
"""What every device of gfx9, gfx10 and gfx11 has."""

# Under HIPRTC these words and functions are there; clang by itself has built-in functions only.
PRELUDE = """#ifndef __global__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(units) __attribute__((amdgpu_flat_work_group_size(1, units)))
#endif
#pragma STDC FP_CONTRACT OFF"""

POSITIONS: dict[TopologyName, str] = {
    "UNIT_POS_X": "__builtin_amdgcn_workitem_id_x()",
    "UNIT_POS_Y": "__builtin_amdgcn_workitem_id_y()",
    "UNIT_POS_Z": "__builtin_amdgcn_workitem_id_z()",
    "CUBE_POS_X": "__builtin_amdgcn_workgroup_id_x()",
    "CUBE_POS_Y": "__builtin_amdgcn_workgroup_id_y()",
    "CUBE_POS_Z": "__builtin_amdgcn_workgroup_id_z()",
    # A grid is measured in units here.
    "CUBE_COUNT_X": "(__builtin_amdgcn_grid_size_x() / {dim_x}u)",
    "CUBE_COUNT_Y": "(__builtin_amdgcn_grid_size_y() / {dim_y}u)",
    "CUBE_COUNT_Z": "(__builtin_amdgcn_grid_size_z() / {dim_z}u)",
    "PLANE_DIM": "__builtin_amdgcn_wavefrontsize()",
    "PLANE_POS": "({UNIT_POS} / __builtin_amdgcn_wavefrontsize())",
    "UNIT_POS_PLANE": "__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))",
}

_DEVICE_LIBRARY: dict[MathName, tuple[str, int]] = {
    "exp": ("exp", 1), "log": ("log", 1), "log1p": ("log1p", 1), "inverse_sqrt": ("rsqrt", 1),
    "sin": ("sin", 1), "cos": ("cos", 1), "tan": ("tan", 1), "asin": ("asin", 1),
    "acos": ("acos", 1), "atan": ("atan", 1), "sinh": ("sinh", 1), "cosh": ("cosh", 1),
    "tanh": ("tanh", 1), "erf": ("erf", 1), "atan2": ("atan2", 2), "pow": ("pow", 2),
    "hypot": ("hypot", 2),
}  # fmt: skip
"""Names in ROCm's OCML and how many arguments they take."""
_BUILT_IN: dict[MathName, str] = {
    "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc",
    "abs": "fabs", "fma": "fma",
}  # fmt: skip

SPELLINGS = {
    "floor.f32": "__builtin_floorf", "floor.f64": "__builtin_floor",
    "fmod.f32": "f_fmod_f32", "fmod.f64": "f_fmod_f64",
    "popc32": "__builtin_popcount", "popc64": "__builtin_popcountll",
    "brev32": "__builtin_bitreverse32", "brev64": "__builtin_bitreverse64",
    "clz32": "__builtin_clz", "clz64": "__builtin_clzll",
    "ctz32": "__builtin_ctz", "ctz64": "__builtin_ctzll",
    "plane": "__builtin_amdgcn_wavefrontsize()", "widest_plane": str(WIDEST_PLANE),
}  # fmt: skip

_FENCED = '__builtin_amdgcn_fence({order}, "{scope}");'


def _barrier(scope: str, instruction: str) -> tuple[str, ...]:
    release = _FENCED.format(order="__ATOMIC_RELEASE", scope=scope)
    acquire = _FENCED.format(order="__ATOMIC_ACQUIRE", scope=scope)
    return release, f"{instruction}();", acquire


def _library() -> dict[MathName, dict[str, str]]:
    table: dict[MathName, dict[str, str]] = {
        name: {scalar: f"f_{stem}_{scalar}" for scalar in ("f32", "f64")}
        for name, (stem, _) in _DEVICE_LIBRARY.items()
    }
    for name, stem in _BUILT_IN.items():
        table[name] = {"f32": f"__builtin_{stem}f", "f64": f"__builtin_{stem}"}
    return table


def _library_snippets() -> dict[str, str]:
    """Functions of the device library, each with its declaration."""
    arguments = {1: ("$T x", "x"), 2: ("$T x, $T y", "x, y")}
    known = dict(_DEVICE_LIBRARY.values()) | {"fmod": 2}
    return {
        stem: (
            f'extern "C" __device__ $T __ocml_{stem}_$t({arguments[count][0]});\n'
            f"{HEAD} $T f_{stem}_$t({arguments[count][0]}) "
            f"{{ return __ocml_{stem}_$t({arguments[count][1]}); }}"
        )
        for stem, count in known.items()
    }


def _native_atomics() -> dict[str, str]:
    """Those that the compiler has; all others are loops around `f_swap`."""
    order = "__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT"
    integers = ("i32", "u32", "i64", "u64")
    names = {"add": "fetch_add", "max": "fetch_max", "min": "fetch_min", "and": "fetch_and",
             "or": "fetch_or", "xor": "fetch_xor", "exchange": "exchange"}  # fmt: skip
    text = f"{HEAD} $T f_atomic_$OP_$t($E* p, $T x) {{ return __hip_atomic_$NAME(p, x, {order}); }}"
    table = {
        f"atomic_{op}.{scalar}": text.replace("$OP", op).replace("$NAME", name)
        for op, name in names.items()
        for scalar in integers
    }
    added = text.replace("$OP", "add").replace("$NAME", "fetch_add")
    return table | {f"atomic_add.{scalar}": added for scalar in ("f32", "f64")}


_SWAP = """$T f_swap_$t($T* p, $T expected, $T x) {
    __hip_atomic_compare_exchange_strong(
        p, &expected, x, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
    );
    return expected;
}"""


def _snippets() -> dict[str, str]:
    own = {
        "pack.f16": """unsigned short f_pack_f16(float x) {
    return __builtin_bit_cast(unsigned short, (_Float16)x);
}""",
        "unpack.f16": """float f_unpack_f16(unsigned short bits) {
    return (float)__builtin_bit_cast(_Float16, bits);
}""",
        "swap.u32": _SWAP,
        "swap.u64": _SWAP,
        "lane_word": """unsigned f_lane_word(unsigned x, unsigned from, unsigned) {
    return (unsigned)__builtin_amdgcn_ds_bpermute((int)(from * 4u), (int)x);
}""",
        "vote": """unsigned long long f_vote(bool x, unsigned) {
    return __builtin_amdgcn_ballot_w64(x);
}""",
    }
    functions = {stem: f"{HEAD} {text}" for stem, text in own.items()}
    return {**SNIPPETS, **_library_snippets(), **functions, **_native_atomics()}


_CUBE_BARRIER = _barrier("workgroup", "__builtin_amdgcn_s_barrier")

HIP = Target(
    name="hip",
    types=REGISTERS,
    stored=STORED,
    positions=POSITIONS,
    math=mathematics(_library()),
    spellings=SPELLINGS,
    snippets=_snippets(),
    barriers={
        "cube": _CUBE_BARRIER,
        "storage": _CUBE_BARRIER,
        "plane": _barrier("wavefront", "__builtin_amdgcn_wave_barrier"),
    },
    atomics=ATOMICS,
    plane_types=NUMBERS | {"bool"},
    index_types=frozenset({"i32", "i64"}),
    properties=PROPERTIES,
    prelude=PRELUDE,
)


def emit(function: Function, target: Target = HIP) -> str:
    """The text of a kernel; see `c_family.emit_c`."""
    return emit_c(function, target)
