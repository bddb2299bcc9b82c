"""`feature` against metadata of packages that are made up for the test."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from firebrick.errors import SelectorError
from firebrick.extension import feature

METADATA = """Metadata-Version: 2.1
Name: mine
Version: 1.0
Provides-Extra: gpu
Provides-Extra: dev_tools
Provides-Extra: all
Provides-Extra: other
Provides-Extra: lacking
Provides-Extra: nothing
Provides-Extra: elsewhere
Provides-Extra: old
Provides-Extra: odd
Provides-Extra: circle
Requires-Dist: absent-always
Requires-Dist: present>=2 ; extra == 'gpu'
Requires-Dist: absent ; sys_platform == 'nowhere' and extra == 'gpu'
Requires-Dist: absent ; extra == "lacking"
Requires-Dist: present ; extra == 'dev-tools'
Requires-Dist: mine[gpu,dev-tools] ; extra == 'all'
Requires-Dist: mine[lacking] ; extra == 'other'
Requires-Dist: present[tests] ; extra == 'elsewhere'
Requires-Dist: absent ; python_version < '3.4' and extra == 'old'
Requires-Dist: absent ; (os_name == 'a' or 'b' in sys_platform) and extra == 'old'
Requires-Dist: absent (>=1) ; python_version ~= '3.0' and extra == 'odd'
Requires-Dist: mine[circle] ; extra == 'circle'
"""
PRESENT = """Metadata-Version: 2.1
Name: present
Version: 3.0
Provides-Extra: tests
Requires-Dist: absent ; extra == 'tests'
"""


@pytest.fixture(autouse=True)
def _packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, metadata in (("mine", METADATA), ("present", PRESENT)):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(metadata)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


@pytest.mark.parametrize(
    ("extra", "installed"),
    [
        ("gpu", True),
        ("lacking", False),
        ("nothing", True),
        ("all", True),
        ("other", False),
        ("elsewhere", False),
        ("old", True),
        ("odd", False),
        ("circle", True),
    ],
)
def test_an_extra_is_there_if_all_that_it_adds_is(extra: str, *, installed: bool) -> None:
    assert feature(extra, package="mine") is installed


@pytest.mark.parametrize("extra", ["dev-tools", "dev_tools", "Dev.Tools"])
def test_extras_are_compared_as_packaging_does(extra: str) -> None:
    assert feature(extra, package="mine")


def test_an_extra_of_our_own_is_the_default() -> None:
    assert isinstance(feature("torch"), bool)


def test_an_unknown_extra_gets_a_suggestion() -> None:
    message = r"the package 'mine' has no extra 'gpus'; extras are all, .*\. Did you mean 'gpu'\?"
    with pytest.raises(SelectorError, match=message):
        feature("gpus", package="mine")


def test_a_package_without_extras_says_so() -> None:
    with pytest.raises(
        SelectorError, match="the package 'present' has no extra 'x'; extras are test"
    ):
        feature("x", package="present")


def test_a_package_that_is_not_installed_is_refused() -> None:
    message = r"`feature\('gpu'\)`: the package 'nowhere' is not installed\."
    with pytest.raises(SelectorError, match=message) as caught:
        feature("gpu", package="nowhere")
    assert not isinstance(caught.value.__cause__, PackageNotFoundError)
