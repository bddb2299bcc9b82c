"""The cuda runtime on a GPU: memory, versions by vectors, limits, and a broken context."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from tests.cube.runtime_kernels import check_works, fill_shared, increment, scale

import firebrick.cube as cube
from firebrick.errors import (
    BackendUnavailableError,
    KernelCompileError,
    KernelLaunchError,
    TooManyResourcesError,
)


@pytest.fixture(scope="module")
def runtime() -> cube.Runtime:
    """The first device; a visible skip where there is none."""
    try:
        return cube.runtime("cuda")
    except BackendUnavailableError as reason:
        pytest.skip(f"cuda: {reason}")


# ---- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint16", "int64"])
@pytest.mark.parametrize("elements", [1, 3, 1000, 1_000_001])
def test_what_is_uploaded_is_read(runtime: cube.Runtime, dtype: str, elements: int) -> None:
    array = (np.arange(elements) % 100).astype(dtype)
    np.testing.assert_array_equal(runtime.tensor(array).numpy(), array)


def test_a_tensor_without_elements_is_read(runtime: cube.Runtime) -> None:
    assert runtime.zeros((3, 0), cube.f32).numpy().shape == (3, 0)


def test_reused_memory_does_not_disturb_launches_before(runtime: cube.Runtime) -> None:
    outs = [runtime.zeros(5000, cube.f32) for _ in range(200)]
    for i, out in enumerate(outs):
        scale[80, 64](runtime.tensor(np.full(5000, i, np.float32)), 2.0, out)
    for i, out in enumerate(outs):
        assert set(out.numpy().tolist()) == {2.0 * i}


def test_more_memory_than_there_is_is_refused_and_no_harm_done(runtime: cube.Runtime) -> None:
    with pytest.raises(KernelLaunchError, match="no memory left for 1099511627776 bytes"):
        runtime.driver.allocate(1 << 40)
    check_works(runtime)


# ---- launches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [1, 7, 8, 9, 511, 512, 513, 4096, 100_003])
@pytest.mark.parametrize("units", [32, 64, 256])
def test_every_element_is_computed_by_vectors_too(
    runtime: cube.Runtime, elements: int, units: int
) -> None:
    array = np.arange(elements, dtype=np.float32)
    x, out = runtime.tensor(array), runtime.zeros(elements + 64, cube.f32)
    scale["auto", units](x, 3.0, out)  # lengths differ: element by element
    np.testing.assert_array_equal(out.numpy()[:elements], array * 3)
    out = runtime.zeros(elements, cube.f32)
    scale["auto", units](x, 3.0, out)
    np.testing.assert_array_equal(out.numpy(), array * 3)


def test_each_launch_sees_what_the_one_before_wrote(runtime: cube.Runtime) -> None:
    x = runtime.zeros(1000, cube.i32)
    for _ in range(1000):
        increment[16, 64](x)
    assert set(x.numpy().tolist()) == {1000}


def test_more_different_numbers_than_the_metadata_page_holds(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.ones(1, np.float32))
    outs: list[tuple[int, cube.DeviceTensor]] = []
    for i in range(1, 4400):
        out = runtime.zeros(1, cube.f32)
        scale[1, 1](x, float(i), out)
        if i % 500 < 2 or 4090 < i < 4100:
            outs.append((i, out))
    assert [(i, out.numpy()[0]) for i, out in outs] == [(i, float(i)) for i, _ in outs]


def test_numbers_that_are_equal_and_not_the_same_are_told_apart(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.ones(1, np.float32))
    signs: list[bool] = []
    for factor in (0.0, -0.0, 0.0):
        out = runtime.zeros(1, cube.f32)
        scale[1, 1](x, factor, out)
        signs.append(bool(np.signbit(out.numpy()[0])))
    assert signs == [False, True, False]


def test_shared_memory_up_to_the_limit_and_no_further(runtime: cube.Runtime) -> None:
    limit = runtime.driver.properties.max_shared_bytes
    assert limit is not None
    out = runtime.zeros(1, cube.u32)
    fill_shared[1, 1](limit // 4, out)
    assert out.numpy().tolist() == [7]
    with pytest.raises(TooManyResourcesError, match=f"{limit + 4} bytes of shared memory"):
        fill_shared[1, 1](limit // 4 + 1, out)


def test_threads_do_not_disturb_each_other(runtime: cube.Runtime) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            for i in range(200):
                value = float(seed * 1000 + i)
                out = runtime.zeros(100 + i, cube.f32)
                scale[8, 64](runtime.tensor(np.full(100 + i, value, np.float32)), 2.0, out)
                found = set(out.numpy().tolist())
                if found != {2 * value}:
                    wrong.append((value, found))
        except BaseException as reason:  # reported by the thread that waits
            wrong.append(reason)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


# ---- source kernels ---------------------------------------------------------------------------

AXPY = """
#include <cuda_fp16.h>

extern "C" __global__ void axpy(const {{ T }}* x, {{ T }}* y, {{ T }} a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i] = a * x[i] + y[i]; }
}
"""


@pytest.mark.parametrize("number", [cube.f32, cube.f64, cube.i32, cube.i64])
def test_a_source_kernel_takes_tensors_then_numbers(runtime: cube.Runtime, number: type) -> None:
    kernel = cube.SourceKernel.cuda(AXPY, entry="axpy").fill(T=number)
    x, y = runtime.zeros(100, number), runtime.zeros(100, number)
    runtime.driver.upload(x.handle.raw, np.arange(100).astype(x.numpy().dtype))
    factor = 2.0 if number in (cube.f32, cube.f64) else 2
    kernel[2, 64](x, y, factor, 100)
    np.testing.assert_array_equal(y.numpy(), 2 * np.arange(100))


def test_a_source_kernel_with_other_arguments_is_refused(runtime: cube.Runtime) -> None:
    kernel = cube.SourceKernel.cuda(AXPY, entry="axpy").fill(T=cube.f32)
    x = runtime.zeros(4, cube.f32)
    with pytest.raises(KernelLaunchError, match="4 parameters; got 2 tensors and 1 numbers"):
        kernel[1, 4](x, x, 2.0)
    check_works(runtime)


def test_a_broken_source_kernel_is_refused_in_the_words_of_the_compiler(
    runtime: cube.Runtime,
) -> None:
    kernel = cube.SourceKernel.cuda(AXPY.replace("x[i]", "z[i]"), entry="axpy").fill(T=cube.f32)
    x = runtime.zeros(4, cube.f32)
    with pytest.raises(KernelCompileError, match=r'(?s)`axpy` does not compile.*"z" is undefined'):
        kernel[1, 4](x, x, 2.0, 4)
    check_works(runtime)


def test_a_launch_that_the_device_refuses_fails_at_once(runtime: cube.Runtime) -> None:
    kernel = cube.SourceKernel.cuda(AXPY, entry="axpy").fill(T=cube.f32)
    x = runtime.zeros(4, cube.f32)
    kernel[1, 4](x, x, 2.0, 4)
    compiled = next(v for k, v in runtime.variants.items() if "axpy" in k)
    bound = increment.bind((x,)).tensors * 2
    driver: Any = runtime.driver  # the launcher would refuse it before the device does
    with pytest.raises(KernelLaunchError, match="`axpy` is launched: cuda device 0 refused"):
        driver.launch_source(compiled, (1, 1, 1), (2048, 1, 1), bound, (2.0, 4))
    check_works(runtime)


# ---- failures on the device -------------------------------------------------------------------

BROKEN = '''
import numpy as np
import firebrick.cube as cube
from firebrick.errors import KernelLaunchError

runtime = cube.runtime("cuda")
x = runtime.tensor(np.ones(4, np.float32))
TEXT = """
extern "C" __global__ void astray(float* x, long long offset) { x[offset] = 1; }
"""
cube.SourceKernel.cuda(TEXT, entry="astray")[1, 1](x, 1 << 45)
for attempt in (x.numpy, runtime.sync, lambda: runtime.zeros(4, cube.f32)):
    try:
        attempt()
    except KernelLaunchError as reason:
        assert "broke the context of cuda device 0" in str(reason), reason
        assert "start a new one" in str(reason), reason
    else:
        raise SystemExit("no error")
'''


def test_a_broken_context_is_reported_by_every_call(runtime: cube.Runtime) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


FORKED = """
import os, sys
import numpy as np
import firebrick.cube as cube
from firebrick.errors import BackendUnavailableError

runtime = cube.runtime("cuda")
x = runtime.tensor(np.ones(4, np.float32))
child = os.fork()
if child == 0:
    try:
        x.numpy()
    except BackendUnavailableError as reason:
        os._exit(0 if "spawn" in str(reason) else 1)
    os._exit(2)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert x.numpy().tolist() == [1, 1, 1, 1]
"""


def test_a_forked_child_is_refused(runtime: cube.Runtime) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
