"""The benchmarks run, and write what a reader of their results relies on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.harness import Plan, compare, publish, result

ROOT = Path(__file__).parents[1]
FIELDS = {"bar", "ours", "peer", "ratio", "unit", "machine", "versions"}


def test_a_ratio_is_ours_over_the_peers() -> None:
    measured = compare(
        "sleeping", lambda: time.sleep(0.02), lambda: time.sleep(0.005), Plan(rounds=3, calls=3)
    )
    assert measured.unit == "us"
    assert measured.ratio == pytest.approx(measured.ours / measured.peer)
    assert measured.ratio > 2.0  # 4 on an idle machine


def test_results_are_written_as_a_list_of_bars(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    publish([result("one", 3.0, 2.0, "ms"), result("two", 1.0, 4.0, "us")], file)
    one, two = json.loads(file.read_text())
    assert set(one) == FIELDS
    assert (one["bar"], one["ratio"], two["ratio"]) == ("one", 1.5, 0.25)
    assert one["versions"]["python"] == sys.version.split()[0]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="the peer of dispatch is PyTorch")
def test_all_benchmarks_run_and_name_their_bars(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(file)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    bars = json.loads(file.read_text())
    assert len({bar["bar"] for bar in bars}) == len(bars) == 9
    assert all(bar["ours"] > 0 and bar["peer"] > 0 for bar in bars)
