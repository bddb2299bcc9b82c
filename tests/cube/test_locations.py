"""How a place in the user's source is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import Location


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "user.py"
    path.write_text("def f(x):\n    return  x + 1   \n\tif x: pass\n\n", encoding="utf-8")
    return str(path)


def shown(place: Location) -> list[str]:
    first, *lines = describe(place, "what is wrong").splitlines()
    assert first == "what is wrong"
    return lines


def test_carets_stand_under_the_columns(file: str) -> None:
    assert shown(Location(file, 2, 13, 18, "f")) == [
        f"  at {file}:2, in f",
        "    return  x + 1",
        "            ^^^^^",
    ]


def test_tabs_stay_tabs(file: str) -> None:
    assert shown(Location(file, 3, 5, 6, "f"))[1:] == ["    if x: pass", "       ^"]


@pytest.mark.parametrize(("column", "end"), [(1, 1), (5, 4), (40, 50)])
def test_there_is_always_a_caret(file: str, column: int, end: int) -> None:
    *_, carets = shown(Location(file, 2, column, end, "f"))
    assert set(carets.strip()) == {"^"}


def test_carets_end_with_the_line(file: str) -> None:
    assert shown(Location(file, 2, 13, 99, "f"))[-1] == "            ^^^^^"


@pytest.mark.parametrize("line", [4, 99])
def test_a_line_that_cannot_be_read_is_named_only(file: str, line: int) -> None:
    assert shown(Location(file, line, 1, 2, "f")) == [f"  at {file}:{line}, in f"]
    assert shown(Location("gone.py", 1, 1, 2, "f")) == ["  at gone.py:1, in f"]


def test_the_calls_around_follow_from_the_inside_out(file: str) -> None:
    inner, outer = Location(file, 2, 5, 11, "g"), Location(file, 1, 1, 4, "h")
    lines = shown(Location(file, 3, 2, 4, "f", (inner, outer)))
    assert [line for line in lines if file in line] == [
        f"  at {file}:3, in f",
        f"  called from {file}:2, in g",
        f"  called from {file}:1, in h",
    ]
