"""The `firebrick` command as a user runs it: what it prints and how it exits."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

import firebrick
from firebrick.cli import main
from firebrick.cli.devices import AVAILABLE, device_rows

ROOT = Path(__file__).parents[2]
COMMAND = Path(sysconfig.get_path("scripts")) / "firebrick"
EXAMPLES = ROOT / "examples"


class Done(NamedTuple):
    """What a finished command left."""

    returncode: int
    stdout: str
    stderr: str


Run: TypeAlias = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in this process, in the folder of examples unless told otherwise."""

    def run_in(*arguments: str, cwd: Path = EXAMPLES) -> Done:
        monkeypatch.setattr(sys, "argv", ["firebrick", *arguments])
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.chdir(cwd)
        with pytest.raises(SystemExit) as exit_of:
            main()
        written = capsys.readouterr()
        return Done(int(exit_of.value.code or 0), written.out, written.err)

    return run_in


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout == f"firebrick {firebrick.__version__}\n"


def test_help_names_the_commands(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("check", "devices", "report"))


def test_a_right_operation_is_checked_from_the_current_folder(run: Run) -> None:
    done = run("check", "square")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "square" in done.stdout
    assert done.stderr == ""


def test_a_finding_exits_with_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        "import numpy as np\n"
        "from firebrick import Tensor\n"
        "from firebrick.extension import Flex, Float, NdArray, op\n"
        "@op(Flex, NdArray)\n"
        'def doubled(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:\n'
        "    return x + x\n"
        "@doubled.impl(Flex)\n"
        "def _(x: np.ndarray) -> np.ndarray:\n"
        "    return x + x + np.float32(1)\n"
    )
    done = run("check", "wrong:doubled", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "doubled" in done.stdout
    assert "forward" in done.stdout


def test_only_the_asked_for_device_is_exercised(run: Run) -> None:
    done = run("check", "square", "--device", "ndarray")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ndarray" in done.stdout
    assert "flex" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "square:SqareOps"), "Did you mean `SquareOps`?"),
        (("check", "no_such_module_at_all"), "there is no module"),
        (("check", "square", "--device", "flexx"), "`flex`"),
        (("report", "square:nothing_of_it"), "has no `nothing_of_it`"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exits_with_two(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = run(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_command_that_does_not_exist_exits_with_two(run: Run) -> None:
    assert run("chek", "square").returncode == 2


def test_the_report_shows_operations_and_selectors(run: Run) -> None:
    done = run("report", "boxes")
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("nms", "Flex", "NdArray", "own", "default"))


def test_a_strict_report_exits_with_one_when_an_implementation_is_missing(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "half.py").write_text(
        "from firebrick.extension import Flex, FloatTensor, NdArray, OpSet, P, backend_extension\n"
        "@backend_extension(Flex, NdArray)\n"
        "class Half(OpSet[P]):\n"
        "    def negate(self, x: FloatTensor[P]) -> FloatTensor[P]:\n"
        "        return self.backend.float_neg(x)\n"
        "Half.default_on(Flex)\n"
    )
    assert run("report", "half", cwd=tmp_path).returncode == 0
    done = run("report", "half", "--strict", cwd=tmp_path)
    assert done.returncode == 1
    assert "NdArray" in done.stderr


def test_the_table_of_devices_lists_those_that_are_here() -> None:
    states = {row.device: row.state for row in device_rows()}
    assert states["flex"] == AVAILABLE
    assert states["ndarray"] == AVAILABLE
    if find_spec("torch"):
        assert states["libtorch:cpu"] == AVAILABLE


def test_the_table_of_devices_says_what_a_missing_one_needs() -> None:
    states = {row.device: row.state for row in device_rows()}
    assert states["cuda"] != AVAILABLE
    assert "firebrick[cuda]" in states["cuda"]


def test_the_default_dtypes_of_devices_are_shown() -> None:
    dtypes = {row.device: row.dtypes for row in device_rows()}
    assert dtypes["flex"] == "float32, int32, bool"
    assert dtypes["ndarray"] == "float32, int64, bool"


def test_the_devices_command_prints_the_table(run: Run) -> None:
    done = run("devices")
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("flex", "ndarray", "libtorch"))


def test_ctrl_c_exits_with_130_and_a_short_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text("raise KeyboardInterrupt\n")
    done = run("check", "interrupted", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr.splitlines() == ["firebrick: interrupted"]


@pytest.mark.parametrize("name", ["square", "fused_linear_relu", "boxes"])
def test_an_example_prints_its_result(run: Run, name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "gradient" in done.stdout


@pytest.mark.parametrize("name", ["fused_linear_relu", "boxes"])
def test_an_example_has_no_findings(run: Run, name: str) -> None:
    done = run("check", name)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_installed_command_checks_a_module_of_the_current_folder() -> None:
    done = subprocess.run(
        [str(COMMAND), "check", "square"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=EXAMPLES,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "square" in done.stdout
