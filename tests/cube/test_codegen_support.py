"""What targets lack is refused when compiling, by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.cube.codegen_kernels import make

from firebrick.cube.codegen import cuda, hip, wgsl
from firebrick.cube.codegen.wgsl import device_target
from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.parser import parse_function
from firebrick.cube.runtime.base import Properties
from firebrick.errors import KernelCompileError, TooManyResourcesError

EVERYTHING = device_target(
    [*wgsl.FEATURES, wgsl.SUBGROUPS, wgsl.SUBGROUP_BARRIER, wgsl.WIDE_ATOMICS], wgsl.PROPERTIES
)


def kernel(declared: str, body: str, units: tuple[int, int, int] = (64, 1, 1)) -> Function:
    lines = [*declared.split("; "), "body:", *(f"    {line}" for line in body.split("; "))]
    return make("lacking", "\n".join(f"        {line}" for line in lines), units=units).function


OUT = "buffer out: mut {}, rank 1, position 0"


@pytest.mark.parametrize("scalar", ["i8", "u8", "i16", "u16", "i64", "u64", "f16", "bf16", "f64"])
def test_wgsl_refuses_types_that_not_every_device_has(scalar: str) -> None:
    one = "1.0" if scalar[0] in "fb" else "1"
    with pytest.raises(KernelCompileError, match=rf"(?s)`lacking`.*{scalar}.*`out`.*`wgsl`"):
        wgsl.emit(kernel(OUT.format(scalar), f"out[0_i32] = {one}_{scalar}"))


@pytest.mark.parametrize("scalar", ["i64", "u64", "f16", "f64"])
def test_a_device_adds_the_types_of_its_features(scalar: str) -> None:
    one = "1.0" if scalar[0] == "f" else "1"
    function = kernel(OUT.format(scalar), f"out[0_i32] = {one}_{scalar}")
    assert "@compute" in wgsl.emit(function, EVERYTHING)


def test_the_message_says_which_feature_a_type_needs() -> None:
    with pytest.raises(KernelCompileError, match="feature `shader-f16`"):
        wgsl.emit(kernel(OUT.format("f16"), "out[0_i32] = 1.0_f16"))


def test_a_type_inside_an_expression_is_refused_too() -> None:
    text = "out[0_i32] = f32(f64(out[1_i32]) * 2.0_f64)"
    with pytest.raises(KernelCompileError, match="f64"):
        wgsl.emit(kernel(OUT.format("f32"), text))


def test_wgsl_has_no_functions_of_mathematics_in_f64() -> None:
    function = kernel(OUT.format("f64"), "out[0_i32] = exp(out[1_i32])")
    with pytest.raises(KernelCompileError, match=r"`exp` of f64.*f32"):
        wgsl.emit(function, EVERYTHING)


@pytest.mark.parametrize(
    ("declared", "body", "what"),
    [
        ("variable r: i32", "r = plane.sum(1_i32)", r"`plane\.sum`"),
        ("variable r: i32", "r = cube.PLANE_DIM", "`PLANE_DIM`"),
        ("variable r: i32", "sync plane", "`sync_plane`"),
    ],
)
def test_a_device_without_planes_says_so(declared: str, body: str, what: str) -> None:
    with pytest.raises(KernelCompileError, match=rf"{what}.*no planes"):
        wgsl.emit(kernel(declared, body))


def test_planes_of_wgsl_exchange_some_types_only() -> None:
    function = kernel("variable r: i64", "r = plane.sum(1_i64)")
    with pytest.raises(KernelCompileError, match=r"`plane\.sum` on i64"):
        wgsl.emit(function, EVERYTHING)


def test_atomics_of_wgsl_work_on_some_types_only() -> None:
    function = kernel(OUT.format("f16"), "atomic.add(out[0_i32], 1.0_f16)")
    with pytest.raises(KernelCompileError, match=r"`atomic\.add` on f16"):
        wgsl.emit(function, EVERYTHING)


def test_wgsl_has_no_positions_of_64_bits() -> None:
    text = "kernel k\nindex i64\ncube_dim 1, 1, 1\nbody:\n    sync cube\n"
    with pytest.raises(KernelCompileError, match=r"2\*\*31 elements"):
        wgsl.emit(parse_function(text), EVERYTHING)


TARGETS = [
    (cuda.emit, cuda.PROPERTIES), (hip.emit, hip.PROPERTIES), (wgsl.emit, wgsl.PROPERTIES),
]  # fmt: skip


@pytest.mark.parametrize(("emit", "limits"), TARGETS, ids=["cuda", "hip", "wgsl"])
def test_limits_that_are_known_when_compiling_are_kept(
    emit: Callable[[Function], str], limits: Properties
) -> None:
    assert limits.max_shared_bytes is not None
    largest = limits.max_shared_bytes // 4
    body = "m[cube.UNIT_POS] = 1_i32"
    assert "k_lacking" in emit(kernel(f"shared m: i32[{largest}]", body))
    with pytest.raises(TooManyResourcesError) as caught:
        emit(kernel(f"shared m: i32[{largest + 1}]", body))
    assert caught.value.requested == caught.value.maximum + 4
    assert caught.value.maximum == limits.max_shared_bytes
    with pytest.raises(TooManyResourcesError, match="units in a cube"):
        emit(kernel("variable r: i32", "r = 1_i32", units=(64, 64, 1)))


def test_wgsl_counts_tensors() -> None:
    declared = "; ".join(f"buffer x{i}: i32, rank 1, position {i}" for i in range(8))
    with pytest.raises(TooManyResourcesError, match="8 tensors"):
        wgsl.emit(kernel(f"{declared}; variable r: i32", "r = 1_i32"))
