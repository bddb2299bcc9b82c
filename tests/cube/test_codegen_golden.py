"""The text of some kernels, as it stands in `golden/`.

After a change that is meant, `FIREBRICK_UPDATE_GOLDEN=1 pytest tests/cube/test_codegen_golden.py`
writes the files anew; the difference belongs to the change.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cube.codegen_kernels import BOOLS, LAZY, NAMES, REGIONS, SHARED, Kernel, atomics, planes

from firebrick.cube.codegen import cuda, hip, wgsl

FOLDER = Path(__file__).parent / "golden"
UPDATE = os.environ.get("FIREBRICK_UPDATE_GOLDEN") == "1"
EMITTERS = {"cuda": cuda.emit, "hip": hip.emit, "wgsl": wgsl.emit}
KERNELS = [SHARED, LAZY, REGIONS, BOOLS, NAMES, atomics("f32")]
# WGSL has no planes on every device.
CASES = [(target, kernel) for target in EMITTERS for kernel in KERNELS]
CASES += [(target, planes("i32")) for target in ("cuda", "hip")]


@pytest.mark.parametrize(("target", "kernel"), CASES, ids=[f"{k.name}-{t}" for t, k in CASES])
def test_the_text_is_the_one_on_file(target: str, kernel: Kernel) -> None:
    path = FOLDER / f"{kernel.name}.{target}.txt"
    text = EMITTERS[target](kernel.function)
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
