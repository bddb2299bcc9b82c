"""What the wgpu runtime refuses, what goes wrong on the device, and that it works afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.cube.runtime_kernels import (
    ADAPTERS,
    check_works,
    increment,
    launch_unchecked,
    open_runtime,
    scale,
)

import firebrick.cube as cube
from firebrick.cube.runtime.base import Runtime
from firebrick.errors import (
    BackendUnavailableError,
    KernelCompileError,
    KernelLaunchError,
    TooManyResourcesError,
)

pytest.importorskip("wgpu", reason="needs the package wgpu")

MIB = 1 << 20


@pytest.fixture(params=ADAPTERS)
def runtime(request: pytest.FixtureRequest) -> Iterator[cube.Runtime]:
    """An adapter; whatever the test did to it, an ordinary launch works afterwards."""
    runtime = open_runtime(request.param)
    yield runtime
    check_works(runtime)


# ---- adapters ---------------------------------------------------------------------------------


def test_an_adapter_that_is_not_there_is_refused_with_those_that_are(
    runtime: cube.Runtime,
) -> None:
    with pytest.raises(BackendUnavailableError, match=r"no wgpu adapter 99; there are \d.* via "):
        cube.runtime("wgpu", 99)


def test_a_kind_of_adapters_can_be_asked_for(runtime: cube.Runtime) -> None:
    from firebrick.cube.runtime.wgpu import adapters, open_driver

    with pytest.raises(BackendUnavailableError, match="kinds are discrete, integrated"):
        open_driver(0, "quick")
    kinds = {adapter.info["adapter_type"] for adapter in adapters.api.adapters()}
    if adapters.KINDS["cpu"] in kinds:
        assert open_driver(0, "cpu").name == "wgpu"
    if adapters.KINDS["discrete"] not in kinds:
        with pytest.raises(BackendUnavailableError, match="of kind `discrete`"):
            open_driver(0, "discrete")


def test_a_machine_without_a_driver_is_told_what_to_install() -> None:
    program = "import firebrick.cube as cube; cube.runtime('wgpu')"
    environment = {**os.environ, "VK_DRIVER_FILES": "/nonexistent", "VK_ADD_DRIVER_FILES": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert "BackendUnavailableError" in done.stderr
    assert "mesa-vulkan-drivers libvulkan1" in done.stderr


# ---- source kernels ---------------------------------------------------------------------------

DOUBLE = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
// @group(0) @binding(0) var<storage, read_write> in_a_comment: array<f32>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = x[id.x] * 2;
}
"""
BROKEN = {
    "syntax": (DOUBLE.replace("x[id.x] *", "x[id.x) *"), "expected"),
    "type": (DOUBLE.replace("* 2;", "* true;"), "this expression has type bool"),
    "name": (DOUBLE.replace("* 2;", "* valeu;"), "valeu"),
    "reserved": (DOUBLE.replace("x: array", "type: array"), "type"),
    "entry": (DOUBLE.replace("fn main", "fn other"), "main"),
    "binding": (DOUBLE.replace("@binding(1)", "@binding(7)"), "7"),
    "group": (DOUBLE.replace("@group(0) @binding(1)", "@group(1) @binding(1)"), "group"),
    "write": (DOUBLE.replace("read_write> out", "read> out"), "out|store|write"),
    "recursion": (DOUBLE + "fn f(x: f32) -> f32 { return f(x); }", "f|recursi|cycle"),
    "feature": (DOUBLE.replace("<f32>", "<i16>"), "i16"),
    "empty": ("", "main"),
    "binary": (DOUBLE + "\x01\u2603", "."),
    "units": (DOUBLE.replace("(2)", "(2, 100000)"), "[Ww]orkgroup|invocations"),
    "long": (DOUBLE + "x" * MIB, "."),
}


def launch_source(runtime: cube.Runtime, text: str) -> list[float]:
    x, out = runtime.tensor(np.array([1.0, 2.0], np.float32)), runtime.zeros(2, cube.f32)
    cube.SourceKernel.wgsl(text)[1, 2](x, out)
    return out.numpy().tolist()


@pytest.mark.parametrize("name", sorted(set(BROKEN) - {"units"}))
def test_a_broken_text_is_refused_in_the_words_of_the_compiler(
    runtime: cube.Runtime, name: str
) -> None:
    text, word = BROKEN[name]
    with pytest.raises(KernelCompileError, match=rf"(?s)`main` does not compile.*({word})"):
        launch_source(runtime, text)


def test_a_text_with_too_many_units_is_refused(runtime: cube.Runtime) -> None:
    text, word = BROKEN["units"]
    driver: Any = runtime.driver  # the launcher would refuse it before the device does
    with pytest.raises(KernelCompileError, match=word):
        driver.compile_source(text, "main", 2)


def test_a_source_kernel_runs(runtime: cube.Runtime) -> None:
    assert launch_source(runtime, DOUBLE) == [2.0, 4.0]


def test_numbers_are_no_arguments_of_a_wgsl_kernel(runtime: cube.Runtime) -> None:
    x, out = runtime.zeros(2, cube.f32), runtime.zeros(2, cube.f32)
    with pytest.raises(KernelLaunchError, match=r"takes tensors only, got the numbers \[3\]"):
        cube.SourceKernel.wgsl(DOUBLE)[1, 2](x, out, 3)


def test_one_tensor_cannot_be_read_and_written_by_two_bindings(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.array([1.0, 2.0], np.float32))
    with pytest.raises(KernelLaunchError, match=r"bindings 0 and 1 share memory.*read_write"):
        cube.SourceKernel.wgsl(DOUBLE)[1, 2](x, x)


def test_one_tensor_can_be_written_by_two_bindings(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.array([1.0, 2.0], np.float32))
    cube.SourceKernel.wgsl(DOUBLE.replace("read>", "read_write>"))[1, 2](x, x)
    assert x.numpy().tolist() == [2.0, 4.0]


def test_more_tensors_than_the_device_binds_are_refused(runtime: cube.Runtime) -> None:
    limit = runtime.driver.properties.max_buffers
    assert limit is not None
    tensors = [runtime.zeros(2, cube.f32) for _ in range(limit + 2)]
    with pytest.raises(TooManyResourcesError, match=f"{limit + 2} tensors.*at most {limit + 1}"):
        cube.SourceKernel.wgsl(DOUBLE)[1, 2](*tensors)


# ---- sizes ------------------------------------------------------------------------------------


def test_a_tensor_that_no_kernel_can_take_is_refused_with_the_limit(
    runtime: cube.Runtime,
) -> None:
    limit = runtime.driver.properties.max_buffer_bytes
    assert limit is not None
    with pytest.raises(TooManyResourcesError, match=f"{limit + MIB} bytes.*{limit}") as caught:
        runtime.driver.allocate(limit + MIB)
    assert (caught.value.requested, caught.value.maximum) == (limit + MIB, limit)


# ---- loops ------------------------------------------------------------------------------------


@cube.kernel
def count_trips(trips: cube.Tensor[cube.i32], out: cube.Mut[cube.Tensor[cube.i32]]) -> None:
    i = cube.ABSOLUTE_POS
    total = 0
    for _ in range(trips[i]):
        total += 1
    out[i] = total


def count(runtime: cube.Runtime, trips: int) -> list[int]:
    out = runtime.zeros(2, cube.i32)
    count_trips[1, 2](runtime.tensor(np.array([trips, 3], np.int32)), out)
    return out.numpy().tolist()


@pytest.mark.parametrize("trips", [10, 60_000, 70_000, 3_000_000])
def test_loops_make_all_their_trips_or_are_reported(runtime: cube.Runtime, trips: int) -> None:
    limit = runtime.driver.properties.max_loop_trips
    try:
        found = count(runtime, trips)
    except TooManyResourcesError:
        assert limit is not None
        assert trips > limit
        found, trips = count(runtime, 5), 5
    assert found == [trips, 3]


def test_a_loop_that_the_driver_would_end_is_reported_once(runtime: cube.Runtime) -> None:
    if runtime.driver.properties.max_loop_trips is None:
        pytest.skip("this driver ends no loops")
    with pytest.raises(TooManyResourcesError, match="loops of a unit of `count_trips`"):
        count(runtime, 3_000_000)
    runtime.sync()


# ---- failures on the device -------------------------------------------------------------------


def test_a_launch_that_the_device_refuses_fails_alone(runtime: cube.Runtime) -> None:
    before, after = runtime.zeros(2, cube.i32), runtime.zeros(2, cube.i32)
    increment[1, 2](before)
    limit = runtime.driver.properties.max_cube_count
    assert limit is not None
    launch_unchecked(runtime, increment, limit[0] + 1, runtime.zeros(2, cube.i32))
    increment[1, 2](after)
    with pytest.raises(KernelLaunchError, match=f"(?s)`increment` could not be.*{limit[0]}"):
        runtime.sync()
    assert before.numpy().tolist() == [1, 1]
    assert after.numpy().tolist() == [1, 1]


def test_every_error_is_raised_once(runtime: cube.Runtime) -> None:
    limit = runtime.driver.properties.max_cube_count
    assert limit is not None
    x = runtime.zeros(2, cube.i32)
    for cubes in (limit[0] + 1, limit[0] + 2):
        launch_unchecked(runtime, increment, cubes, x)
    for cubes in (limit[0] + 1, limit[0] + 2):
        with pytest.raises(KernelLaunchError, match=f"{cubes}"):
            x.numpy()
    assert x.numpy().tolist() == [0, 0]


@pytest.fixture(params=ADAPTERS)
def own_runtime(request: pytest.FixtureRequest) -> cube.Runtime:
    """A device that nothing else uses."""
    open_runtime(request.param)
    from firebrick.cube.runtime.wgpu import open_driver

    return Runtime(open_driver(request.param))


@pytest.mark.filterwarnings("default")
def test_a_lost_device_is_reported_and_opened_again(own_runtime: cube.Runtime) -> None:
    x, out = own_runtime.tensor(np.ones(2, np.float32)), own_runtime.zeros(2, cube.f32)
    scale[1, 2](x, 2.0, out)
    driver: Any = own_runtime.driver
    driver._session.device.destroy()  # as the system does that stops an endless kernel
    with pytest.raises(KernelLaunchError, match="was lost, and all tensors on it"):
        out.numpy()
    with pytest.raises(KernelLaunchError, match="make the tensor anew"):
        scale[1, 2](x, 2.0, out)
    check_works(own_runtime)


FORKED = """
import os, sys, time
import numpy as np
import firebrick.cube as cube
from firebrick.errors import BackendUnavailableError

runtime = cube.runtime("wgpu")
x = runtime.tensor(np.ones(4, np.float32))
child = os.fork()
if child == 0:
    refused = 0
    for attempt in (x.numpy, runtime.sync, lambda: runtime.zeros(4, cube.f32)):
        try:
            attempt()
        except BackendUnavailableError as reason:
            refused += "spawn" in str(reason)
    del x
    sys.exit(refused)
start = time.monotonic()
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 3, status
assert time.monotonic() - start < 10
assert x.numpy().tolist() == [1, 1, 1, 1]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_is_refused_at_once_and_ends_cleanly() -> None:
    open_runtime(0)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
