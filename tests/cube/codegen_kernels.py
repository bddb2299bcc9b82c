"""Kernels with every kind of statement, for all targets; the interpreter says what they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from tests.cube.codegen_cases import DTYPES, INTS

from firebrick.cube.interpreter import InterpreterBuffer, run
from firebrick.cube.ir.nodes import Function
from firebrick.cube.ir.parser import parse_function
from firebrick.cube.ir.verifier import verify

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Numbers: TypeAlias = tuple[bool | int | float, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel and what it is launched with."""

    name: str
    function: Function
    arrays: tuple[Array, ...]
    numbers: Numbers = ()
    cubes: tuple[int, int, int] = (1, 1, 1)

    @property
    def types(self) -> set[str]:
        """Scalar types that it needs."""
        function = self.function
        items = (*function.buffers, *function.scalars, *function.shared, *function.locals)
        return {item.type.scalar for item in (*items, *function.variables)}

    def expected(self, plane_size: int = 32) -> list[Array]:
        """Contents of all arrays after a launch."""
        buffers = [InterpreterBuffer.of(array.copy()) for array in self.arrays]
        run(self.function, self.cubes, buffers, self.numbers, plane_size=plane_size)
        return [
            buffer.values.reshape(array.shape)
            for buffer, array in zip(buffers, self.arrays, strict=True)
        ]

    def check(self, found: Sequence[Array], plane_size: int = 32) -> None:
        """Holds results against the interpreter's."""
        for buffer, got, wanted in zip(
            self.function.buffers, found, self.expected(plane_size), strict=True
        ):
            np.testing.assert_array_equal(got, wanted, f"`{buffer.name}` of `{self.name}`")


def make(
    name: str,
    text: str,
    *arrays: Array,
    numbers: Numbers = (),
    cubes: tuple[int, int, int] = (1, 1, 1),
    units: tuple[int, int, int] = (64, 1, 1),
) -> Kernel:
    """A kernel out of the IR's text: declarations, a line `body:`, statements."""
    lines = [line[8:] for line in text.strip("\n").splitlines()]
    x, y, z = units
    head = f"kernel {name}\nindex i32\ncube_dim {x}, {y}, {z}\n"
    function = parse_function(head + "\n".join(lines).rstrip() + "\n")
    verify(function)
    return Kernel(name, function, arrays, numbers, cubes)


def zeros(size: int, scalar: str = "i32") -> Array:
    """Room for results."""
    return np.zeros(size, DTYPES[scalar])


# ---- positions, sizes, numbers ----------------------------------------------------------------

POSITIONS = make(
    "positions",
    """
        buffer out: mut i32, rank 2, position 0
        variable i: i32
        variable n: i32
        body:
            i = cube.ABSOLUTE_POS * 8_i32
            out[i] = cube.UNIT_POS
            out[i + 1_i32] = cube.CUBE_POS
            n = cube.ABSOLUTE_POS_X + cube.ABSOLUTE_POS_Y * 100_i32 + cube.ABSOLUTE_POS_Z * 10000_i32
            out[i + 2_i32] = n
            n = cube.CUBE_COUNT_X + cube.CUBE_COUNT_Y * 100_i32 + cube.CUBE_COUNT_Z * 10000_i32
            out[i + 3_i32] = n + cube.CUBE_COUNT * 100000_i32
            n = cube.CUBE_DIM_X + cube.CUBE_DIM_Y * 100_i32 + cube.CUBE_DIM_Z * 10000_i32
            out[i + 4_i32] = n + cube.CUBE_DIM * 100000_i32
            n = cube.UNIT_POS_X + cube.UNIT_POS_Y * 100_i32 + cube.UNIT_POS_Z * 10000_i32
            out[i + 5_i32] = n
            n = cube.CUBE_POS_X + cube.CUBE_POS_Y * 100_i32 + cube.CUBE_POS_Z * 10000_i32
            out[i + 6_i32] = n
            out[i + 7_i32] = cube.ABSOLUTE_POS
    """,
    np.zeros((2 * 3 * 2 * 12, 8), np.int32),
    cubes=(2, 3, 2),
    units=(3, 2, 2),
)  # fmt: skip

SIZES = make(
    "sizes",
    """
        buffer x: f32, rank 3, position 0
        buffer unused: f32, rank 0, position 1
        buffer out: mut i32, rank 1, position 2
        variable i: i32
        body:
            i = cube.ABSOLUTE_POS
            if i < 3_i32:
                out[i] = x.shape[i]
                out[i + 3_i32] = x.stride[i]
            if i == 5_i32:
                out[6_i32] = len(x)
                out[7_i32] = len(unused)
                out[8_i32] = x.shape[1_i32] * 10_i32 + x.stride[0_i32]
    """,
    np.zeros((2, 3, 4), np.float32),
    np.zeros((), np.float32),
    zeros(9),
)


def scalars(types: Sequence[str]) -> Kernel:
    """A number of each type."""
    names = "abcdefghijklm"
    values: dict[str, bool | int | float] = {
        "bool": True,
        "f16": 0.1,
        "bf16": -0.3,
        "f32": 1e-3,
        "f64": 1e-3,
    }
    values |= {scalar: -7 for scalar in INTS if scalar[0] == "i"}
    values |= {"u8": 200, "u16": 60000, "u32": 2**32 - 1, "u64": 2**64 - 2, "i64": -(2**40) - 3}
    named = list(zip(names, types, strict=False))
    lines = [f"scalar {n}: {t}, position {i}" for i, (n, t) in enumerate(named)]
    lines += [f"buffer o{i}: mut {t}, rank 1, position {i}" for i, t in enumerate(types)]
    lines += ["body:"]
    lines += [f"    o{i}[0_i32] = {n}" for i, (n, _) in enumerate(named)]
    text = "\n".join(f"        {line}" for line in lines)
    arrays = [zeros(1, scalar) for scalar in types]
    return make("scalars", text, *arrays, numbers=tuple(values[t] for t in types), units=(1, 1, 1))


# ---- control flow -----------------------------------------------------------------------------

LOOPS = make(
    "loops",
    """
        buffer out: mut i32, rank 1, position 0
        scalar top: i32, position 0
        scalar bottom: i32, position 1
        variable i: i32
        variable n: i32
        body:
            for i in range(0_i32, 10_i32, 1_i32):
                if i == 3_i32:
                    continue
                if i > 6_i32:
                    break
                n = n + i
            out[0_i32] = n
            out[1_i32] = i
            n = 0_i32
            for i in range(top - 5_i32, top, 3_i32):
                n = n + 1_i32
            out[2_i32] = n
            out[3_i32] = i
            for i in range(bottom + 5_i32, bottom, -4_i32):
                n = n + 10_i32
            out[4_i32] = n
            out[5_i32] = i
            for i in range(5_i32, 5_i32, 1_i32):
                n = n + 1000_i32
            for i in range(3_i32, 0_i32, -1_i32):
                i = i * 7_i32
                n = n + i
            out[6_i32] = n
            out[7_i32] = i
            i = 0_i32
            while (i < 5_i32 if n > 0_i32 else False):
                i = i + 1_i32
                if i == 2_i32:
                    continue
                n = n - i
            out[8_i32] = n
            while True:
                n = n + 1_i32
                if n % 50_i32 == 0_i32:
                    break
            out[9_i32] = n
            for i in range(0_i32, top, 1_i32):
                return
    """,
    zeros(10),
    numbers=(2**31 - 1, -(2**31)),
    units=(1, 1, 1),
)

REGIONS = make(
    "regions",
    """
        buffer out: mut i32, rank 1, position 0
        variable i: i32
        variable j: i32
        variable k: i32
        variable n: i32
        body:
            i = cube.ABSOLUTE_POS
            region early:
                if i < 10_i32:
                    n = 1_i32
                    leave early
                n = 2_i32
                if i < 20_i32:
                    n = 3_i32
                else:
                    leave early
                n = n + 100_i32
            for k in range(0_i32, 3_i32, 1_i32):
                region outer:
                    for j in range(0_i32, 5_i32, 1_i32):
                        region inner:
                            if j == k:
                                leave inner
                            if j > 3_i32:
                                leave outer
                            n = n + 1000_i32
                        n = n + 10000_i32
                        if i % 3_i32 == 0_i32 and j == 2_i32:
                            leave outer
                        while n % 7_i32 != 0_i32:
                            n = n + 1_i32
                            if n % 11_i32 == 0_i32:
                                leave outer
                    n = n + 100000_i32
                if k == 1_i32:
                    continue
                n = n + 1_i32
            region again:
                leave again
            region again:
                if i == 63_i32:
                    leave again
                n = -n
            out[i] = n
    """,
    zeros(64),
)

LAZY = make(
    "lazy",
    """
        buffer x: i32, rank 1, position 0
        buffer out: mut i32, rank 1, position 1
        local a: i32[4]
        variable i: i32
        body:
            i = cube.ABSOLUTE_POS
            a[i % 4_i32] = i
            if (i < len(x) and x[i] > 2_i32) or (i > 50_i32 and not i == 60_i32):
                out[i] = x[i] if i < len(x) else (a[i % 4_i32] if i < 55_i32 else -1_i32)
            elif i < len(x) and (x[i] if x[i] > 0_i32 else 0_i32) == 0_i32:
                out[i] = 7_i32
            else:
                out[i] = select(i % 2_i32 == 0_i32, i, -i)
    """,
    np.arange(-3, 9, dtype=np.int32),
    zeros(64),
)

DEEP = make(
    "deep",
    "\n".join(
        [
            "        buffer out: mut i32, rank 1, position 0",
            "        variable i: i32",
            "        body:",
            "            i = cube.ABSOLUTE_POS",
            "            out[i] = " + "(" * 40 + "i" + " * 3_i32 + 1_i32)" * 40,
        ]
    ),
    zeros(64),
)

# ---- memory -----------------------------------------------------------------------------------

SHARED = make(
    "shared_memory",
    """
        buffer x: i32, rank 1, position 0
        buffer out: mut i32, rank 1, position 1
        shared m: i32[64]
        shared flags: bool[64]
        variable step: i32
        body:
            m[cube.UNIT_POS] = x[cube.ABSOLUTE_POS]
            flags[cube.UNIT_POS] = x[cube.ABSOLUTE_POS] > 0_i32
            sync cube
            step = 32_i32
            while step > 0_i32:
                if cube.UNIT_POS < step:
                    m[cube.UNIT_POS] = m[cube.UNIT_POS] + m[cube.UNIT_POS + step]
                sync cube
                step = step // 2_i32
            out[cube.ABSOLUTE_POS] = m[0_i32] + i32(flags[63_i32 - cube.UNIT_POS])
            sync storage
    """,
    np.arange(-60, 68, dtype=np.int32),
    zeros(128),
    cubes=(2, 1, 1),
)

BOOLS = make(
    "bools",
    """
        buffer x: bool, rank 1, position 0
        buffer out: mut bool, rank 1, position 1
        local seen: bool[2]
        variable b: bool
        variable i: i32
        body:
            i = cube.ABSOLUTE_POS
            if i < len(out):
                b = x[i] ^ out[i]
                seen[i % 2_i32] = b | x[0_i32]
                out[i] = (seen[0_i32] & b) or (not b and seen[1_i32] == x[i])
    """,
    np.arange(61) % 3 == 0,
    np.arange(61) % 2 == 0,
)


def vectors(scalar: str, width: int) -> Kernel:
    """Neighbours reversed."""
    names = "abcd"[:width]
    declared = "\n".join(f"        variable {name}: {scalar}" for name in names)
    text = f"""
        buffer x: {scalar}, rank 1, position 0
        buffer out: mut {scalar}, rank 1, position 1
{declared}
        body:
            {", ".join(names)} = x.vector[cube.ABSOLUTE_POS]
            out.vector[cube.ABSOLUTE_POS] = {", ".join(reversed(names))}
    """
    values = np.arange(8 * width).astype(DTYPES[scalar])
    return make(
        f"vectors_{scalar}_{width}", text, values, zeros(8 * width, scalar), units=(8, 1, 1)
    )


# ---- atomics ----------------------------------------------------------------------------------


def atomics(scalar: str) -> Kernel:
    """Every operation, by all units on one element each, and some on elements of their own."""
    is_integer = scalar in INTS
    ops = ["add", "sub", "max", "min", *(("and", "or", "xor") if is_integer else ())]
    value = f"{scalar}(cube.UNIT_POS % 5_i32)"
    lines = "\n".join(f"            atomic.{op}(out[{i}_i32], {value})" for i, op in enumerate(ops))
    place = "cube.UNIT_POS + 8_i32"
    text = f"""
        buffer out: mut {scalar}, rank 1, position 0
        shared m: {scalar}[3]
        variable old: {scalar}
        body:
            if cube.UNIT_POS < 3_i32:
                atomic.store(m[cube.UNIT_POS], {scalar}(3_i32))
            sync cube
{lines}
            atomic.add(m[cube.UNIT_POS % 3_i32], {value})
            sync cube
            old = atomic.exchange(out[{place}], {scalar}(7_i32))
            old = atomic.compare_exchange(out[{place}], {scalar}(7_i32), old + {value})
            old = atomic.compare_exchange(out[{place}], {scalar}(99_i32), old)
            old = atomic.load(out[{place}])
            out[{place}] = old + m[cube.UNIT_POS % 3_i32]
    """
    values = (np.arange(40) % 11).astype(DTYPES[scalar])
    return make(f"atomics_{scalar}", text, values, units=(32, 1, 1))


# ---- planes -----------------------------------------------------------------------------------


def planes(scalar: str, *, scans: bool = True) -> Kernel:
    """Every exchange of numbers; values are small enough for sums in any order."""
    ops = ["sum", "max", "min", "inclusive_sum", "exclusive_sum"]
    ops += ["prod", "inclusive_prod", "exclusive_prod"] if scans else []
    moves = ["broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"]
    count = len(ops) + len(moves)
    value = f"{scalar}(cube.UNIT_POS % 3_i32 + 1_i32)"
    lines = [f"r = plane.{op}({value})" for op in ops]
    lines += [f"r = plane.{op}({scalar}(cube.UNIT_POS), 1_u32)" for op in moves]
    stores = "\n".join(
        f"            {line}\n            out[cube.UNIT_POS * {count}_i32 + {i}_i32] = r"
        for i, line in enumerate(lines)
    )
    text = f"""
        buffer out: mut {scalar}, rank 2, position 0
        variable r: {scalar}
        body:
{stores}
            sync plane
    """
    return make(f"planes_{scalar}", text, np.zeros((64, count), DTYPES[scalar]))


VOTES = make(
    "votes",
    """
        buffer out: mut u32, rank 2, position 0
        variable a: u32
        variable b: u32
        variable c: u32
        variable d: u32
        variable all: bool
        variable any: bool
        variable one: bool
        variable i: i32
        body:
            i = cube.UNIT_POS * 8_i32
            a, b, c, d = plane.ballot(cube.UNIT_POS % 3_i32 == 0_i32)
            all = plane.all(cube.UNIT_POS >= 0_i32)
            any = plane.any(cube.UNIT_POS < 0_i32)
            one = plane.elect()
            out[i] = a
            out[i + 1_i32] = b
            out[i + 2_i32] = c
            out[i + 3_i32] = d
            out[i + 4_i32] = u32(all) + u32(any) * 2_u32
            out[i + 5_i32] = u32(one)
            out[i + 6_i32] = u32(cube.PLANE_DIM) + u32(cube.PLANE_POS) * 1000_u32
            out[i + 7_i32] = u32(cube.UNIT_POS_PLANE)
    """,
    np.zeros((64, 8), np.uint32),
)

# A reserved word of some target, a name that is none there, a long one, the same twice but for
# what is dropped.
NAMES = make(
    "main",
    f"""
        buffer type: i32, rank 1, position 0
        buffer target: mut i32, rank 1, position 1
        buffer f_mod_i32: i32, rank 1, position 2
        scalar new: i32, position 0
        shared thread: i32[64]
        local float: i32[2]
        variable é: i32
        variable è: i32
        variable __x: i32
        variable x__: i32
        variable {"a" * 200}: i32
        variable {"a" * 201}: i32
        variable words: i32
        variable t1: i32
        variable p_UNIT_POS: i32
        body:
            é = cube.UNIT_POS
            è = 2_i32
            thread[é] = type[é] % 5_i32
            float[0_i32] = new + len(target)
            __x = è * 3_i32
            x__ = __x + 1_i32
            {"a" * 200} = x__
            {"a" * 201} = 10_i32
            words = f_mod_i32[é] % 7_i32
            region {"r" * 100}:
                if é == 5_i32:
                    leave {"r" * 100}
                for t1 in range(0_i32, {"a" * 200}, 3_i32):
                    p_UNIT_POS = p_UNIT_POS + t1 + {"a" * 201}
            target[é] = thread[é] + float[0_i32] + p_UNIT_POS + words + __x
    """,
    np.arange(64, dtype=np.int32),
    zeros(64),
    np.arange(64, dtype=np.int32),
    numbers=(4,),
)

PLAIN = [POSITIONS, SIZES, LOOPS, REGIONS, LAZY, DEEP, SHARED, BOOLS, NAMES]
"""What every target has."""


def kernels(types: Sequence[str], atomic: Sequence[str], plane: Sequence[str]) -> list[Kernel]:
    """All kernels for a target with some types, types of atomics and types of planes."""
    found = [*PLAIN, scalars(types)]
    found += [vectors(scalar, width) for scalar in types for width in (2, 4)]
    found += [atomics(scalar) for scalar in types if scalar in atomic]
    found += [planes(s, scans=s in INTS) for s in types if s in plane and s != "bool"]
    return [*found, *([VOTES] if plane else [])]
