"""WGSL for wgpu: the tables, and what a device adds to them.

Bindings are in group 0: the tensors in the order of `Function.buffers`, then the metadata
(`layout.py`) as an array of i32. A bool is a byte, four of them in a word; a tensor's memory is
bound in whole words. Tensors that are not writable are bound as `read`, and WebGPU refuses to bind
one memory both ways: who passes one tensor twice declares both writable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firebrick.cube.codegen.layout import layout_of
from firebrick.cube.codegen.linearize import linearize
from firebrick.cube.codegen.names import Names
from firebrick.cube.codegen.regions import without_regions
from firebrick.cube.codegen.support import check
from firebrick.cube.codegen.target import Target
from firebrick.cube.codegen.wgsl_exponential import SNIPPETS as EXPONENTIAL
from firebrick.cube.codegen.wgsl_expressions import REGISTERS, STORED, WgslExpressions
from firebrick.cube.codegen.wgsl_snippets import SNIPPETS as ARITHMETIC
from firebrick.cube.codegen.wgsl_statements import WgslStatements
from firebrick.cube.codegen.wgsl_trigonometry import SNIPPETS as TRIGONOMETRY
from firebrick.cube.runtime.base import Properties

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from firebrick.cube.ir.nodes import AtomicOp, Function, MathName, TopologyName

CORE = frozenset({"bool", "i32", "u32", "f32"})
"""Types that every device has."""
FEATURES: dict[str, tuple[str, ...]] = {
    "shader-f16": ("f16",),
    "shader-int64": ("i64", "u64"),
    "shader-f64": ("f64",),
}
"""Types that come with a feature of a device; f64 needs i64 too."""
SUBGROUPS = "subgroup"
SUBGROUP_BARRIER = "subgroup-barrier"
WIDE_ATOMICS = "shader-int64-atomic-all-ops"

PROPERTIES = Properties(
    types=CORE,
    max_units=256,
    max_cube_dim=(256, 256, 64),
    max_cube_count=(65535, 65535, 65535),
    max_shared_bytes=16384,
    max_buffers=7,
    max_buffer_bytes=128 * 1024 * 1024,
    has_planes=False,
    has_64_bit_index=False,
)
"""What every device has: the default limits of the WebGPU specification, 3.6.2; one of its 8
storage buffers is the metadata."""

POSITIONS: dict[TopologyName, str] = {
    "UNIT_POS_X": "unit_pos.x", "UNIT_POS_Y": "unit_pos.y", "UNIT_POS_Z": "unit_pos.z",
    "CUBE_POS_X": "cube_pos.x", "CUBE_POS_Y": "cube_pos.y", "CUBE_POS_Z": "cube_pos.z",
    "CUBE_COUNT_X": "cube_count.x", "CUBE_COUNT_Y": "cube_count.y", "CUBE_COUNT_Z": "cube_count.z",
    "PLANE_DIM": "plane_dim", "PLANE_POS": "plane_pos", "UNIT_POS_PLANE": "unit_pos_plane",
}  # fmt: skip

_BUILT_IN: tuple[MathName, ...] = ("sqrt", "floor", "ceil", "round", "trunc", "fma")
_OWN_F32: tuple[MathName, ...] = (
    "exp", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "erf", "atan2", "pow", "hypot",
)  # fmt: skip
_OWN: tuple[MathName, ...] = (
    "inverse_sqrt", "recip", "degrees", "radians", "powi", "is_nan", "is_inf",
)  # fmt: skip
_ON_INTEGERS: tuple[MathName, ...] = (
    "count_ones", "reverse_bits", "leading_zeros", "trailing_zeros",
)  # fmt: skip
_FLOATS = ("f32", "f64")
_INTEGERS = ("i32", "u32", "i64", "u64")

MATH: dict[MathName, Mapping[str, str]] = {
    "abs": dict.fromkeys((*_FLOATS, *_INTEGERS), "abs"),
    **{name: dict.fromkeys(_FLOATS, name) for name in _BUILT_IN},
    **{name: {"f32": f"f_{name}_f32"} for name in _OWN_F32},
    **{name: {scalar: f"f_{name}_{scalar}" for scalar in _FLOATS} for name in _OWN},
    **{name: {scalar: f"f_{name}_{scalar}" for scalar in _INTEGERS} for name in _ON_INTEGERS},
}


def _atomics(integers: frozenset[str]) -> Mapping[AtomicOp, frozenset[str]]:
    """Those of f32 work on its bits, some of them in a loop."""
    numbers = integers | {"f32"}
    return {
        **dict.fromkeys(
            ("load", "store", "exchange", "add", "sub", "max", "min", "compare_exchange"), numbers
        ),
        **dict.fromkeys(("and", "or", "xor"), integers),
    }


_BARRIERS: Mapping[str, tuple[str, ...]] = {
    "cube": ("workgroupBarrier();",),
    "storage": ("storageBarrier();",),
}

WGSL = Target(
    name="wgsl",
    types={scalar: REGISTERS[scalar] for scalar in REGISTERS if scalar in CORE},
    stored=STORED,
    positions=POSITIONS,
    math=MATH,
    spellings={},
    snippets={**ARITHMETIC, **EXPONENTIAL, **TRIGONOMETRY},
    barriers=_BARRIERS,
    atomics=_atomics(frozenset({"i32", "u32"})),
    plane_types=frozenset(),
    index_types=frozenset({"i32"}),
    properties=PROPERTIES,
    remedies={
        scalar: f"the device would need the feature `{feature}`"
        for feature, scalars in FEATURES.items()
        for scalar in scalars
    },
)
"""What every device has."""


def device_target(features: Collection[str], properties: Properties) -> Target:
    """The target of a device with some of `FEATURES` and its own limits."""
    types = set(CORE)
    for feature, scalars in FEATURES.items():
        types.update(scalars if feature in features else ())
    if "i64" not in types:
        types.discard("f64")
    wide = frozenset({"i64", "u64"}) if WIDE_ATOMICS in features else frozenset[str]()
    barriers = dict(_BARRIERS)
    if SUBGROUP_BARRIER in features:
        barriers["plane"] = ("subgroupBarrier();",)
    exchanged = {"bool", "i32", "u32", "f32", *(types & {"f16"})}
    return replace(
        WGSL,
        types={scalar: REGISTERS[scalar] for scalar in REGISTERS if scalar in types},
        barriers=barriers,
        atomics=_atomics(frozenset({"i32", "u32"}) | wide),
        plane_types=frozenset(exchanged) if SUBGROUPS in features else frozenset(),
        properties=replace(properties, types=frozenset(types)),
    )


def emit(function: Function, target: Target = WGSL) -> str:
    """The text of a kernel, whose entry point is `names.entry_point(function.name)`.

    Raises:
        KernelCompileError: the kernel uses something that the device lacks.
        TooManyResourcesError: it asks for more than the device has.
    """
    check(function, target)
    flat = linearize(without_regions(function), selects=True)
    names = Names(flat)
    expressions = WgslExpressions(flat, target, names, layout_of(flat))
    return WgslStatements(flat, target, expressions).kernel()
