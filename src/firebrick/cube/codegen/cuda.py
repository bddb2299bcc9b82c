"""CUDA C++ for NVRTC: the tables. No header is included, so that none has to be installed.

Compile it with `--fmad=false` and as C++17 or later: a product and a sum are rounded separately.
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

PLANE_UNITS = 32

PROPERTIES = Properties(
    types=frozenset(BITS),
    max_units=1024,
    max_cube_dim=(1024, 1024, 64),
    max_cube_count=(2**31 - 1, 65535, 65535),
    max_shared_bytes=48 * 1024,  # without asking for more at launch
    plane_dim=PLANE_UNITS,
)
"""What every device of compute capability 7.5 or later has; CUDA C++ Programming Guide 13, 17.2."""

POSITIONS: dict[TopologyName, str] = {
    "UNIT_POS_X": "threadIdx.x", "UNIT_POS_Y": "threadIdx.y", "UNIT_POS_Z": "threadIdx.z",
    "CUBE_POS_X": "blockIdx.x", "CUBE_POS_Y": "blockIdx.y", "CUBE_POS_Z": "blockIdx.z",
    "CUBE_COUNT_X": "gridDim.x", "CUBE_COUNT_Y": "gridDim.y", "CUBE_COUNT_Z": "gridDim.z",
    "PLANE_DIM": f"{PLANE_UNITS}u",
    "PLANE_POS": f"({{UNIT_POS}} / {PLANE_UNITS}u)",
    "UNIT_POS_PLANE": f"({{UNIT_POS}} % {PLANE_UNITS}u)",
}  # fmt: skip

_LIBRARY: dict[MathName, str] = {
    "exp": "exp", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "inverse_sqrt": "rsqrt",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "erf": "erf", "floor": "floor",
    "ceil": "ceil", "round": "rint", "trunc": "trunc", "abs": "fabs", "atan2": "atan2",
    "pow": "pow", "hypot": "hypot", "fma": "fma",
}  # fmt: skip

SPELLINGS = {
    "floor.f32": "floorf", "floor.f64": "floor", "fmod.f32": "fmodf", "fmod.f64": "fmod",
    "popc32": "__popc", "popc64": "__popcll", "brev32": "__brev", "brev64": "__brevll",
    "clz32": "__clz", "clz64": "__clzll", "ctz32": "-1 + __ffs", "ctz64": "-1 + __ffsll",
    "plane": f"{PLANE_UNITS}u", "widest_plane": str(PLANE_UNITS),
}  # fmt: skip


def _native_atomics() -> dict[str, str]:
    """Those that the hardware has; all others are loops around `f_swap`."""
    text = f"{HEAD} $T f_atomic_$OP_$t($E* p, $T x) {{ return ($T)$NAME(($U*)p, ($U)x); }}"
    typed = f"{HEAD} $T f_atomic_$OP_$t($E* p, $T x) {{ return $NAME(p, x); }}"
    unsigned = {"add": "atomicAdd", "exchange": "atomicExch", "and": "atomicAnd",
                "or": "atomicOr", "xor": "atomicXor"}  # fmt: skip
    wide = ("i32", "u32", "i64", "u64")
    table = {
        f"atomic_{op}.{scalar}": text.replace("$OP", op).replace("$NAME", name)
        for op, name in unsigned.items()
        for scalar in wide
    }
    for op, name in (("max", "atomicMax"), ("min", "atomicMin")):
        made = typed.replace("$OP", op).replace("$NAME", name)
        table |= {f"atomic_{op}.{scalar}": made for scalar in wide}
    added = typed.replace("$OP", "add").replace("$NAME", "atomicAdd")
    return table | {f"atomic_add.{scalar}": added for scalar in ("f32", "f64")}


def _snippets() -> dict[str, str]:
    own = {
        # The instructions behind the intrinsics of cuda_fp16.h.
        "pack.f16": """unsigned short f_pack_f16(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}""",
        "unpack.f16": """float f_unpack_f16(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}""",
        "swap.u32": """unsigned f_swap_u32(unsigned* p, unsigned expected, unsigned x) {
    return atomicCAS(p, expected, x);
}""",
        "swap.u64": """unsigned long long f_swap_u64(
    unsigned long long* p, unsigned long long expected, unsigned long long x
) {
    return atomicCAS(p, expected, x);
}""",
        "plane_mask": """unsigned f_plane_mask(unsigned units) {
    return units == 32u ? ~0u : (1u << units) - 1u;
}""",
        "lane_word": """unsigned f_lane_word(unsigned x, unsigned from, unsigned units) {
    return __shfl_sync(f_plane_mask(units), x, from);
}""",
        "vote": """unsigned long long f_vote(bool x, unsigned units) {
    return __ballot_sync(f_plane_mask(units), x);
}""",
    }
    return {**SNIPPETS, **{stem: f"{HEAD} {text}" for stem, text in own.items()}} | (
        _native_atomics()
    )


CUDA = Target(
    name="cuda",
    types=REGISTERS,
    stored=STORED,
    positions=POSITIONS,
    math=mathematics({n: {"f32": f"{c}f", "f64": c} for n, c in _LIBRARY.items()}),
    spellings=SPELLINGS,
    snippets=_snippets(),
    barriers={
        "cube": ("__syncthreads();",),
        "storage": ("__syncthreads();",),
        "plane": ("__syncwarp();",),
    },
    atomics=ATOMICS,
    plane_types=NUMBERS | {"bool"},
    index_types=frozenset({"i32", "i64"}),
    properties=PROPERTIES,
)


def emit(function: Function, target: Target = CUDA) -> str:
    """The text of a kernel; see `c_family.emit_c`."""
    return emit_c(function, target)
