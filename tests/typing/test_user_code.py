"""What a strict checker says of users' code: nothing of what is right, all of what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
IGNORE = re.compile(r"\s*# pyright: ignore\[(?P<rules>[^\]]+)\] - .*")

Found = set[tuple[str, int, str]]
"""File, line and rule."""


def expected() -> Found:
    """The errors that `must_fail.py` promises, by its ignores."""
    return {
        ("must_fail.py", number, rule.strip())
        for number, line in enumerate((HERE / "must_fail.py").read_text().splitlines(), start=1)
        if (match := IGNORE.search(line))
        for rule in match["rules"].split(",")
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What pyright finds in both files, alone in a folder, without the ignores."""
    pytest.importorskip("pyright")
    folder = tmp_path_factory.mktemp("project")
    for name in ("user_code.py", "must_fail.py"):
        text = (HERE / name).read_text()
        (folder / name).write_text(IGNORE.sub("", text))
    config = {
        "typeCheckingMode": "strict", "extraPaths": [str(SOURCE)], "pythonVersion": "3.11",
    }  # fmt: skip
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    diagnostics: list[dict[str, Any]] = json.loads(done.stdout)["generalDiagnostics"]
    return {
        (Path(d["file"]).name, d["range"]["start"]["line"] + 1, d.get("rule", d["message"]))
        for d in diagnostics
    }


def test_right_code_passes_strictly(found: Found) -> None:
    assert {error for error in found if error[0] == "user_code.py"} == set()


def test_wrong_code_is_found_line_by_line(found: Found) -> None:
    assert {error for error in found if error[0] == "must_fail.py"} == expected()


def test_there_are_promises_to_keep() -> None:
    assert len(expected()) > 15
