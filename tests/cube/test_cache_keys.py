"""What a compiled kernel is stored under: everything that decides it, and nothing else."""

from __future__ import annotations

import importlib
import importlib.resources
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import firebrick.cube as cube
from firebrick.cube.cache import content_key, kernel_key, toolchain
from firebrick.cube.frontend.functions import TensorBinding, lower_kernel
from firebrick.cube.frontend.parameters import read_parameters
from firebrick.cube.frontend.source import read_source
from firebrick.cube.ir.types import F32, F64, I32, Type

KERNEL = """
import sys
sys.path.insert(0, {folder!r})
import firebrick.cube as cube
from firebrick.cube.cache import kernel_key
from firebrick.cube.frontend.functions import TensorBinding, lower_kernel
from firebrick.cube.frontend.parameters import read_parameters
from firebrick.cube.frontend.source import read_source
from firebrick.cube.ir.types import F32, I32
from {helpers} import bend

SCALE = {scale}

def bent(x: cube.Tensor[cube.f32], out: cube.Mut[cube.Tensor[cube.f32]]) -> None:
    if cube.ABSOLUTE_POS < len(out):
        out[cube.ABSOLUTE_POS] = bend(x[cube.ABSOLUTE_POS]) * SCALE

source = read_source(bent)
tensors = dict.fromkeys(["x", "out"], TensorBinding(F32, 1))
parameters = read_parameters(source, {{}})
lowered = lower_kernel(source, parameters, tensors, {{}}, {{}}, I32, (64, 1, 1))
print(kernel_key(lowered.function, identity="device", compiler="compiler 1"))
"""
HELPERS = """
import firebrick.cube as cube

LIMIT = {limit}

@cube.func
def bend(x: cube.f32) -> cube.f32:
    {comment}
    return min(x, LIMIT) {operator} 0.5
"""
_names = (f"bending_{count}" for count in itertools.count())


def key_in_a_new_process(
    folder: Path,
    scale: float = 2.0,
    limit: float = 1.0,
    operator: str = "+",
    comment: str = "# as it was",
    seed: int = 1,
) -> str:
    """The key of a kernel that reads a global and calls a function of another module."""
    helpers = next(_names)
    helper_text = HELPERS.format(limit=limit, operator=operator, comment=comment)
    (folder / f"{helpers}.py").write_text(helper_text)
    main = folder / f"main_{helpers}.py"
    main.write_text(KERNEL.format(folder=str(folder), helpers=helpers, scale=scale))
    done = subprocess.run(
        [sys.executable, main],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def scaled(x: cube.Tensor[cube.f32], out: cube.Mut[cube.Tensor[cube.f32]], by: Any) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * by


def scaled_by(value: Any, rank: int = 1, index: Type = I32, units: int = 64) -> str:
    """The key of `scaled` with a compile-time value, and other circumstances."""
    scaled.__annotations__["by"] = cube.Comptime[type(value)]
    source = read_source(scaled)
    tensor = TensorBinding(F32, rank)
    tensors = {"x": tensor, "out": tensor}
    parameters = read_parameters(source, {})
    lowered = lower_kernel(source, parameters, tensors, {"by": value}, {}, index, (units, 1, 1))
    return kernel_key(lowered.function, identity="device", compiler="compiler 1")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The key that the others are compared with."""
    return key_in_a_new_process(tmp_path_factory.mktemp("known"))


def test_a_key_is_the_same_in_every_process_and_folder(known: str, tmp_path: Path) -> None:
    assert key_in_a_new_process(tmp_path, seed=2, comment="# reworded") == known
    assert len(known) == 64


@pytest.mark.parametrize(
    "changed",
    [{"scale": 3.0}, {"limit": 2.0}, {"operator": "-"}],
    ids=["global", "global of the other module", "function of the other module"],
)
def test_a_key_changes_with_what_a_kernel_uses(
    changed: dict[str, Any], known: str, tmp_path: Path
) -> None:
    assert key_in_a_new_process(tmp_path, **changed) != known


def test_a_key_changes_with_compile_time_values_ranks_index_type_and_geometry() -> None:
    keys = [
        scaled_by(2.0),
        scaled_by(-0.0),
        scaled_by(0.0),
        scaled_by(2.0, rank=2),
        scaled_by(2.0, index=Type("i64")),
        scaled_by(2.0, units=128),
    ]
    assert len(set(keys)) == len(keys)
    assert scaled_by(2.0) == keys[0]


def test_a_key_changes_with_device_compiler_options_and_text() -> None:
    keys = [
        kernel_key("text", identity="device", compiler="c 1"),
        kernel_key("text", identity="other", compiler="c 1"),
        kernel_key("text", identity="device", compiler="c 2"),
        kernel_key("text", identity="device", compiler="c 1", options="unchecked"),
        kernel_key("text ", identity="device", compiler="c 1"),
    ]
    assert len(set(keys)) == len(keys)


def test_a_closure_value_changes_the_key() -> None:
    def key(offset: float) -> str:
        def moved(out: cube.Mut[cube.Tensor[cube.f64]]) -> None:
            out[0] = offset

        source = read_source(moved)
        tensors = {"out": TensorBinding(F64, 1)}
        lowered = lower_kernel(source, read_parameters(source, {}), tensors, {}, {}, I32, (1, 1, 1))
        return kernel_key(lowered.function, identity="device", compiler="compiler")

    assert key(1.0) == key(1.0) != key(2.0)


def test_where_one_text_ends_and_the_next_begins_counts() -> None:
    assert content_key("ab", "c") != content_key("a", "bc") != content_key("abc")


def test_the_kernel_tower_itself_is_part_of_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        return kernel_key("text", identity="device", compiler="compiler")

    before = key()
    key_module = importlib.import_module("firebrick.cube.cache.key")
    monkeypatch.setattr(key_module, "toolchain", lambda: "a changed code generator")
    assert key() != before


def test_the_hash_of_the_tower_covers_its_code_generators() -> None:
    root = Path(cube.__file__).parent
    names = {path.relative_to(root).as_posix() for path in root.rglob("*.py")}
    key_module = importlib.import_module("firebrick.cube.cache.key")
    found = key_module._files(importlib.resources.files("firebrick.cube"), "")
    assert {name.removeprefix("/") for name, _ in found} >= names
    assert len(toolchain()) == 64
