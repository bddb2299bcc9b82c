"""All benchmarks in one run: `python -m benchmarks [--quick] [--json FILE]`."""

from __future__ import annotations

import torch

from benchmarks import dispatch, import_time
from benchmarks.harness import FULL, QUICK, options, publish

chosen = options("all benchmarks")
plan, rounds = (QUICK, import_time.QUICK_ROUNDS) if chosen.quick else (FULL, import_time.ROUNDS)
torch.set_num_threads(1)
publish(
    [*dispatch.against_torch(plan), *dispatch.over_numpy(plan), *import_time.measure(rounds)],
    chosen.json,
)
