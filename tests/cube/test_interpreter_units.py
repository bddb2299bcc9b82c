"""Units together in the interpreter: positions, barriers, planes, and their misuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cube.build import Array, Numbers, execute, from_storage, parse, to_storage

from firebrick.cube.ir.types import F16, Type
from firebrick.errors import (
    DivergentBarrierError,
    KernelBoundsError,
    KernelError,
    KernelLaunchError,
)

OUT = "buffer out: mut i32, rank 1, position 0"


def out(size: int) -> Array:
    return np.zeros(size, np.int32)


def per_unit(
    body: str,
    *,
    units: int = 8,
    plane_size: int = 4,
    result: str = "i32",
    values: Numbers | None = None,
    header: str = "",
) -> list[float]:
    """What each unit of a cube puts into `r`, from its element of `x`."""
    declared = (
        f"buffer x: {result}, rank 1, position 0\nbuffer out: mut {result}, rank 1, position 1\n"
        f"variable r: {result}\n{header}"
    )
    type = Type(result)  # pyright: ignore[reportArgumentType] - a literal in every call
    x = to_storage(list(range(units)) if values is None else values, type)
    array = np.zeros_like(x)
    text = f"    {body}\n    out[cube.UNIT_POS] = r"
    execute(parse(declared, text, cube_dim=(units, 1, 1)), x, array, plane_size=plane_size)
    return from_storage(array, type)


# ---- positions --------------------------------------------------------------------------------


def test_positions_count_x_fastest() -> None:
    body = "    out[cube.ABSOLUTE_POS] = {}"
    launch = {"cube_dim": (2, 3, 2)}
    count, dim = (3, 2, 2), launch["cube_dim"]
    units, sizes = 12, [c * d for c, d in zip(count, dim, strict=True)]
    places = [(x, y, z) for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]

    def found(name: str) -> list[int]:
        array = out(len(places))
        execute(parse(OUT, body.format(f"cube.{name}"), cube_dim=dim), array, cube_count=count)
        return array.tolist()

    def cube(place: tuple[int, int, int]) -> int:
        x, y, z = (p // d for p, d in zip(place, dim, strict=True))
        return (z * count[1] + y) * count[0] + x

    def unit(place: tuple[int, int, int]) -> int:
        x, y, z = (p % d for p, d in zip(place, dim, strict=True))
        return (z * dim[1] + y) * dim[0] + x

    assert found("ABSOLUTE_POS") == list(range(len(places)))
    assert found("CUBE_POS") == [cube(place) for place in places]
    assert found("UNIT_POS") == [unit(place) for place in places]
    for axis, letter in enumerate("XYZ"):
        assert found(f"ABSOLUTE_POS_{letter}") == [place[axis] for place in places]
        assert found(f"CUBE_POS_{letter}") == [place[axis] // dim[axis] for place in places]
        assert found(f"UNIT_POS_{letter}") == [place[axis] % dim[axis] for place in places]
        assert set(found(f"CUBE_DIM_{letter}")) == {dim[axis]}
        assert set(found(f"CUBE_COUNT_{letter}")) == {count[axis]}
    assert set(found("CUBE_DIM")) == {units}
    assert set(found("CUBE_COUNT")) == {12}


def test_planes_are_neighbouring_units() -> None:
    assert per_unit("r = cube.PLANE_POS", units=6) == [0, 0, 0, 0, 1, 1]
    assert per_unit("r = cube.UNIT_POS_PLANE", units=6) == [0, 1, 2, 3, 0, 1]


def test_a_plane_is_no_larger_than_the_cube() -> None:
    assert per_unit("r = cube.PLANE_DIM", units=6, plane_size=32) == [6] * 6
    assert per_unit("r = cube.PLANE_DIM", units=6, plane_size=4) == [4] * 6


@pytest.mark.parametrize("size", [0, 129])
def test_a_plane_has_at_most_as_many_units_as_a_ballot_has_bits(size: int) -> None:
    with pytest.raises(KernelLaunchError, match=f"1 to 128 units; got `plane_size={size}`"):
        per_unit("pass", plane_size=size)


@pytest.mark.parametrize("count", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_launch_without_cubes_does_nothing(count: tuple[int, int, int]) -> None:
    array = out(1)
    execute(parse(OUT, "    out[0_i32] = 1_i32"), array, cube_count=count)
    assert array[0] == 0


# ---- barriers ---------------------------------------------------------------------------------


def test_a_cube_sums_in_a_tree() -> None:
    header = f"{OUT}\nshared m: i32[8]\nvariable step: i32"
    body = """
    m[cube.UNIT_POS] = cube.ABSOLUTE_POS
    sync cube
    step = 4_i32
    while step > 0_i32:
        if cube.UNIT_POS < step:
            m[cube.UNIT_POS] = m[cube.UNIT_POS] + m[cube.UNIT_POS + step]
        sync cube
        step = step // 2_i32
    if cube.UNIT_POS == 0_i32:
        out[cube.CUBE_POS] = m[0_i32]
"""
    array = out(2)
    execute(parse(header, body, cube_dim=(8, 1, 1)), array, cube_count=(2, 1, 1))
    assert array.tolist() == [sum(range(8)), sum(range(8, 16))]


FEW = "if cube.UNIT_POS < 2_i32:"
ONE_OF_TWO = "only 1 of the 2 units of a plane reach this"
DIVERGENT = {
    "in a branch": (f"{FEW}\n        sync cube", "only 2 of the 4 units of a cube"),
    "after a return": (f"{FEW}\n        return\n    sync cube", "only 2 of the 4 units"),
    "in both branches": (
        f"{FEW}\n        sync cube\n    else:\n        sync cube",
        "only 2 of the 4 units",
    ),
    "in a loop of unequal trips": (
        "for i in range(0_i32, cube.UNIT_POS, 1_i32):\n        sync cube",
        "only 3 of the 4 units",
    ),
    "of two kinds": (
        f"{FEW}\n        sync cube\n    else:\n        sync storage",
        "only 2 of the 4 units",
    ),
    "of a plane": ("if cube.UNIT_POS != 1_i32:\n        sync plane", ONE_OF_TWO),
    "of a plane and the cube": (
        "if cube.UNIT_POS != 1_i32:\n        sync plane\n    else:\n        sync cube",
        f"{ONE_OF_TWO} `sync_plane`",
    ),
    "of a plane operation": (
        "if cube.UNIT_POS != 1_i32:\n        i = plane.sum(i)",
        f"{ONE_OF_TWO} `plane.sum`",
    ),
}


@pytest.mark.parametrize(("body", "message"), DIVERGENT.values(), ids=DIVERGENT.keys())
def test_a_barrier_that_not_all_units_reach_is_an_error(body: str, message: str) -> None:
    function = parse("variable i: i32", f"    {body}", cube_dim=(4, 1, 1))
    with pytest.raises(DivergentBarrierError, match=message):
        execute(function, plane_size=2)


def test_the_error_says_where_the_others_are() -> None:
    function = parse("", "    if cube.UNIT_POS < 2_i32:\n        sync cube", cube_dim=(2, 2, 1))
    message = r"`sync_cube`: unit \(0, 1, 0\) has ended, in cube \(0, 0, 0\) of `k`"
    with pytest.raises(DivergentBarrierError, match=message):
        execute(function)


def test_planes_pass_their_barriers_at_their_own_time() -> None:
    body = """
    for i in range(0_i32, cube.PLANE_POS + 1_i32, 1_i32):
        sync plane
        r = plane.sum(r + 1_i32)
    sync cube
"""
    assert per_unit(body, units=4, plane_size=2, header="variable i: i32") == [2, 2, 6, 6]


# ---- planes -----------------------------------------------------------------------------------

X = "x[cube.UNIT_POS]"


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("sum", [6, 6, 6, 6, 9, 9]),
        ("prod", [0, 0, 0, 0, 20, 20]),
        ("max", [3, 3, 3, 3, 5, 5]),
        ("min", [0, 0, 0, 0, 4, 4]),
        ("inclusive_sum", [0, 1, 3, 6, 4, 9]),
        ("exclusive_sum", [0, 0, 1, 3, 0, 4]),
        ("inclusive_prod", [0, 0, 0, 0, 4, 20]),
        ("exclusive_prod", [1, 0, 0, 0, 1, 4]),
    ],
)
@pytest.mark.parametrize("type", ["i32", "u8", "f32", "bf16"])
def test_a_plane_reduces_its_units(op: str, expected: list[int], type: str) -> None:
    assert per_unit(f"r = plane.{op}({X})", units=6, result=type) == expected


def test_a_reduction_wraps_and_rounds_like_the_type() -> None:
    assert per_unit(f"r = plane.sum({X})", units=2, result="u8", values=[200, 100]) == [44, 44]
    values = [1.0, 2.0**-11, 2.0**-11, 2.0**-11]
    assert per_unit(f"r = plane.sum({X})", units=4, result=str(F16), values=values) == [1.0] * 4


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (f"broadcast({X}, 2_u32)", [2, 2, 2, 2, 6, 6, 6, 6]),
        (f"shuffle({X}, u32(3_i32 - cube.UNIT_POS_PLANE))", [3, 2, 1, 0, 7, 6, 5, 4]),
        (f"shuffle_xor({X}, 1_u32)", [1, 0, 3, 2, 5, 4, 7, 6]),
        (f"shuffle_up({X}, 1_u32)", [0, 0, 1, 2, 4, 4, 5, 6]),
        (f"shuffle_down({X}, 3_u32)", [3, 1, 2, 3, 7, 5, 6, 7]),
    ],
)
def test_units_of_a_plane_exchange_values(call: str, expected: list[int]) -> None:
    assert per_unit(f"r = plane.{call}") == expected


def test_exactly_one_unit_of_a_plane_is_elected() -> None:
    body = "b = plane.elect()\n    r = i32(b)"
    assert per_unit(body, units=6, header="variable b: bool") == [1, 0, 0, 0, 1, 0]


def test_a_plane_votes() -> None:
    for op, expected in (("all", [1, 1, 0, 0]), ("any", [1, 1, 1, 1])):
        body = f"b = plane.{op}({X} < 3_i32)\n    r = i32(b)"
        found = per_unit(body, units=4, plane_size=2, header="variable b: bool")
        assert found == expected


def test_a_ballot_has_a_bit_for_each_unit() -> None:
    header = "\n".join(f"variable b{n}: u32" for n in range(4))
    body = (
        f"b0, b1, b2, b3 = plane.ballot({X} % 2_i32 == 1_i32 or {X} == 64_i32)\n    r = i32({{}})"
    )
    found = [
        per_unit(body.format(f"b{word}"), units=70, plane_size=128, header=header)[0]
        for word in range(4)
    ]
    odd = 0xAAAAAAAA
    assert found == [odd - 2**32, odd - 2**32, 0b101011, 0]


@pytest.mark.parametrize(
    "call", ["broadcast(r, 4_u32)", "shuffle(r, 9_u32)", "shuffle_xor(r, 4_u32)"]
)
def test_a_unit_outside_of_the_plane_is_an_error(call: str) -> None:
    with pytest.raises(KernelBoundsError, match=r"reads from unit \d of a plane of 4 units"):
        per_unit(f"r = plane.{call}")


def test_a_broadcast_names_one_unit() -> None:
    with pytest.raises(KernelError, match=r"`broadcast` takes the same unit .* got \[0, 1, 2, 3\]"):
        per_unit("r = plane.broadcast(r, u32(cube.UNIT_POS_PLANE))")
