"""The kernel cache between processes: races, deaths in the middle of a build, forks."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.cube.cache_worker import run_worker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the processes are forked")

PATIENCE_S = 5.0
"""Far above a build's time, far below the time after which a lock is not waited for."""


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Eight processes, fifty entries, one directory that is not there at first."""
    return run_worker("race", tmp_path_factory.mktemp("race") / "cache", 8, 50)


def test_processes_that_ask_at_once_all_get_every_entry(raced: Any) -> None:
    assert raced["codes"] == [0] * 8


def test_processes_that_ask_at_once_build_each_entry_once(raced: Any) -> None:
    assert raced["builds"] == 50


def test_a_race_leaves_entries_and_nothing_else(raced: Any) -> None:
    assert len(raced["files"]) == 50
    assert all(name.endswith(".kernel") for name in raced["files"])


@pytest.mark.slow
def test_many_processes_that_ask_at_once_build_each_entry_once(tmp_path: Path) -> None:
    found = run_worker("race", tmp_path / "cache", 16, 500, timeout_s=600)
    assert found["codes"] == [0] * 16
    assert found["builds"] == 500


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_the_next_process_builds_at_once_after_one_that_died(name: str, tmp_path: Path) -> None:
    found = run_worker("kill", tmp_path, name, 20)
    assert found["slowest_s"] < PATIENCE_S
    assert set(found["ends"]) - {0} != set()  # some died in the middle


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_no_moment_to_die_stops_the_next_process(name: str, tmp_path: Path) -> None:
    found = run_worker("kill", tmp_path, name, 500, timeout_s=600)
    assert found["slowest_s"] < PATIENCE_S


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A fork while another thread builds, with a child that lives on."""
    return run_worker("fork", tmp_path_factory.mktemp("fork"))


def test_a_child_forked_while_another_thread_builds_builds_for_itself(forked: Any) -> None:
    assert forked["code"] == 0


def test_a_child_that_lives_on_does_not_keep_the_lock_of_a_build_that_ended(forked: Any) -> None:
    assert forked["again"] == "again"
    assert forked["took_s"] < PATIENCE_S


def test_a_child_that_lives_on_does_not_keep_the_lock_of_a_parent_that_died(tmp_path: Path) -> None:
    assert run_worker("hold", tmp_path)["took_s"] < PATIENCE_S


def test_a_read_only_directory_is_read_and_costs_one_warning() -> None:
    # Not in `tmp_path`, which other users cannot enter: root becomes another user here.
    directory = Path(tempfile.mkdtemp())
    try:
        found = run_worker("read_only", directory)
    finally:
        shutil.rmtree(directory)
    assert found["found"] == ["there", "NEW", "NEWER", "NEW"]
    assert found["builds"] == 2
    assert len(found["said"]) == 1
    assert "cannot be used, compiled kernels stay in memory: Permission denied" in found["said"][0]
    assert os.path.basename(directory) in found["said"][0]
