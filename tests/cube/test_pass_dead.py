"""Dead code: what goes, and what only looks as if nobody needed it."""

from __future__ import annotations

import pytest
from tests.cube.pass_cases import after, code, kernel

from firebrick.cube.passes.dead import remove_dead

MEMORY = "shared tile: i32[64]\nlocal part: f32[4]\n"
CASES = {
    "a value that nobody reads": (
        """\
        i = n
        a = x[0_i32]
        out[0_i32] = s
        """,
        """\
        out[0_i32] = s
        """,
    ),
    "values that only they themselves read": (
        """\
        for i in range(0_i32, n, 1_i32):
            a = a + b
            b = a
        out[0_i32] = s
        """,
        """\
        out[0_i32] = s
        """,
    ),
    "a loop with jumps but without effects": (
        """\
        for i in range(0_i32, n, 1_i32):
            if i == 3_i32:
                continue
            if i == 4_i32:
                break
        """,
        """\
        pass
        """,
    ),
    "statements behind a jump": (
        """\
        for i in range(0_i32, n, 1_i32):
            if i == 3_i32:
                break
                out[i] = s
            else:
                out[i] = s
                continue
            out[i] = a
        """,
        """\
        for i in range(0_i32, n, 1_i32):
            if i == 3_i32:
                break
            else:
                out[i] = s
        """,
    ),
    "jumps to where the program goes anyway": (
        """\
        region done:
            if n == 3_i32:
                out[0_i32] = s
                leave done
            else:
                out[1_i32] = s
        if n == 4_i32:
            out[2_i32] = s
            return
        """,
        """\
        if n == 3_i32:
            out[0_i32] = s
        else:
            out[1_i32] = s
        if n == 4_i32:
            out[2_i32] = s
        """,
    ),
    "local and shared memory that nobody reads": (
        """\
        tile[cube.UNIT_POS] = n
        part[0_i32] = s
        i = atomic.add(tile[0_i32], 1_i32)
        out[0_i32] = s
        """,
        """\
        out[0_i32] = s
        """,
    ),
    "results of atomics and planes": (
        """\
        i = atomic.add(counts[0_i32], 1_i32)
        j = atomic.load(counts[1_i32])
        k = plane.sum(n)
        """,
        """\
        atomic.add(counts[0_i32], 1_i32)
        """,
    ),
}
KEPT = {
    "memory that is read": """\
        part[0_i32] = s
        out[0_i32] = part[n]
        """,
    "a loop's variable that is read behind it": """\
        for i in range(0_i32, n, 1_i32):
            pass
        counts[0_i32] = i
        """,
    "a loop that may not end": """\
        while n > 3_i32:
            pass
        """,
    "a barrier": """\
        sync cube
        """,
    "a return before something": """\
        if n == 3_i32:
            return
        out[0_i32] = s
        """,
    "an atomic on shared memory that is read": """\
        atomic.add(tile[0_i32], 1_i32)
        sync cube
        counts[0_i32] = tile[0_i32]
        """,
    "a region that is left": """\
        region done:
            for i in range(0_i32, n, 1_i32):
                if x[i] > s:
                    leave done
                out[i] = s
            out[0_i32] = s
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_what_has_no_effect_goes(name: str) -> None:
    before, wanted = CASES[name]
    assert after(remove_dead, code(before), more=MEMORY) == code(wanted)


@pytest.mark.parametrize("name", KEPT)
def test_what_has_an_effect_stays(name: str) -> None:
    assert after(remove_dead, code(KEPT[name]), more=MEMORY) == code(KEPT[name])


def test_only_what_is_used_is_declared() -> None:
    function = remove_dead(kernel("part[0_i32] = s\nout[0_i32] = part[n]\n", more=MEMORY))
    assert [array.name for array in function.locals] == ["part"]
    assert function.shared == ()
    assert function.variables == ()


def test_buffers_and_scalars_stay_declared() -> None:
    function = remove_dead(kernel("pass\n"))
    assert [buffer.name for buffer in function.buffers] == ["x", "y", "out", "counts"]
    assert [scalar.name for scalar in function.scalars] == ["n", "s"]
