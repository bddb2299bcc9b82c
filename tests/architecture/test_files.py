"""House rules that no linter checks: the length of files, and what a file must begin with."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE = 600
VAGUE_NAMES = {"utils", "helpers", "common", "misc"}


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_source_file_is_longer_than_600_lines() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [relative(path) for path in SOURCES if path.stem in VAGUE_NAMES] == []


@pytest.mark.parametrize("folder", ["src", "tests", "examples", "benchmarks"])
def test_every_file_says_first_what_it_holds(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    undocumented = [
        relative(path) for path in files if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert files
    assert undocumented == []


def test_the_package_is_marked_as_typed() -> None:
    assert (ROOT / "src" / "firebrick" / "py.typed").exists()
