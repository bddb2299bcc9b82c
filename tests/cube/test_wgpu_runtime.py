"""The wgpu runtime: memory, order and many launches, on every adapter of this machine."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from tests.cube.runtime_kernels import (
    ADAPTERS,
    F,
    fill_shared,
    flip,
    increment,
    open_runtime,
    scale,
    with_unused,
)

import firebrick.cube as cube
from firebrick.errors import TooManyResourcesError

pytest.importorskip("wgpu", reason="needs the package wgpu")


@pytest.fixture(params=ADAPTERS)
def runtime(request: pytest.FixtureRequest) -> cube.Runtime:
    return open_runtime(request.param)


# ---- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [1, 2, 3, 4, 5, 63, 64, 65, 1000])
def test_what_is_uploaded_is_read(runtime: cube.Runtime, elements: int) -> None:
    for array in (
        np.arange(elements, dtype=np.float32),
        np.arange(elements, dtype=np.int32) - 2,
        np.arange(elements) % 3 == 0,
    ):
        np.testing.assert_array_equal(runtime.tensor(array).numpy(), array)


def test_a_tensor_without_dimensions_is_read(runtime: cube.Runtime) -> None:
    assert runtime.tensor(np.float32(3.5)).numpy() == np.float32(3.5)


def test_a_tensor_without_elements_is_read(runtime: cube.Runtime) -> None:
    assert runtime.zeros((3, 0), cube.f32).numpy().shape == (3, 0)


@pytest.mark.parametrize("elements", [1, 3, 5, 130])
def test_bools_of_any_number_are_computed(runtime: cube.Runtime, elements: int) -> None:
    array = np.arange(elements) % 3 == 0
    out = runtime.zeros(elements, bool)
    flip["auto", 64](runtime.tensor(array), out)
    np.testing.assert_array_equal(out.numpy(), ~array)


def test_many_megabytes_go_there_and_back(runtime: cube.Runtime) -> None:
    array = np.random.default_rng(0).standard_normal(5_000_001).astype(np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(runtime.tensor(array).numpy(), array)


def test_memory_is_used_again(runtime: cube.Runtime) -> None:
    driver = runtime.driver
    lease = driver.allocate(3000)
    serial = lease.block.serial
    del lease
    gc.collect()
    assert driver.allocate(3001).block.serial == serial


def test_memory_can_be_dropped_while_the_driver_is_busy(runtime: cube.Runtime) -> None:
    # A collection of garbage may come at any time, the lock's owner's included.
    driver: Any = runtime.driver
    tensors = [runtime.zeros(100, cube.f32) for _ in range(5)]
    with driver._lock:
        tensors.clear()
        gc.collect()
    assert runtime.zeros(100, cube.f32).numpy().sum() == 0


def test_reused_memory_does_not_disturb_launches_before(runtime: cube.Runtime) -> None:
    outs = [runtime.zeros(500, cube.f32) for _ in range(150)]
    for i, out in enumerate(outs):
        x = runtime.tensor(np.full(500, i, np.float32))
        scale[8, 64](x, 2.0, out)
        del x
    for i, out in enumerate(outs):
        assert set(out.numpy().tolist()) == {2.0 * i}


def test_an_upload_comes_after_launches_that_use_its_memory(runtime: cube.Runtime) -> None:
    x, out = runtime.tensor(np.ones(4, np.float32)), runtime.zeros(4, cube.f32)
    scale[1, 4](x, 5.0, out)
    runtime.driver.upload(x.handle.raw, np.full(4, 9, np.float32))
    assert out.numpy().tolist() == [5, 5, 5, 5]
    assert x.numpy().tolist() == [9, 9, 9, 9]


# ---- launches ---------------------------------------------------------------------------------


def test_each_launch_sees_what_the_one_before_wrote(runtime: cube.Runtime) -> None:
    x = runtime.zeros(100, cube.i32)
    for _ in range(1000):
        increment[2, 64](x)
    assert set(x.numpy().tolist()) == {1000}


def test_numbers_that_are_equal_and_not_the_same_are_told_apart(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.ones(1, np.float32))
    signs: list[bool] = []
    for factor in (0.0, -0.0, 0.0):
        out = runtime.zeros(1, cube.f32)
        scale[1, 1](x, factor, out)
        signs.append(bool(np.signbit(out.numpy()[0])))
    assert signs == [False, True, False]


def test_more_different_numbers_than_the_metadata_buffer_holds(runtime: cube.Runtime) -> None:
    x = runtime.tensor(np.ones(1, np.float32))
    outs: list[tuple[int, cube.DeviceTensor]] = []
    for i in range(1, 4400):  # the buffer has 4096 places
        out = runtime.zeros(1, cube.f32)
        scale[1, 1](x, float(i), out)
        if i % 500 < 2 or 4090 < i < 4100:
            outs.append((i, out))
    assert [(i, out.numpy()[0]) for i, out in outs] == [(i, float(i)) for i, _ in outs]


def test_an_unused_parameter_is_bound(runtime: cube.Runtime) -> None:
    first = runtime.tensor(np.array([1, 2], np.float32))
    second = runtime.tensor(np.array([3, 4], np.float32))
    out = runtime.zeros(2, cube.f32)
    with_unused[1, 2](first, second, out)
    assert out.numpy().tolist() == [3, 4]


def test_more_cubes_than_one_axis_has_are_spread(runtime: cube.Runtime) -> None:
    x = runtime.zeros(65536 * 8 + 1, cube.i32)
    increment["auto", 8](x)
    assert (x.numpy() == 1).all()


def test_shared_memory_up_to_the_limit_and_no_further(runtime: cube.Runtime) -> None:
    limit = runtime.driver.properties.max_shared_bytes
    assert limit is not None
    out = runtime.zeros(1, cube.u32)
    fill_shared[1, 1](limit // 4, out)
    assert out.numpy().tolist() == [7]
    with pytest.raises(TooManyResourcesError, match=f"{limit + 4} bytes of shared memory"):
        fill_shared[1, 1](limit // 4 + 1, out)


def test_kernels_of_one_name_do_not_meet(runtime: cube.Runtime) -> None:
    def make(factor: float) -> cube.Kernel[...]:
        @cube.kernel
        def multiply(x: cube.Tensor[F], out: cube.Mut[cube.Tensor[F]]) -> None:
            out[cube.ABSOLUTE_POS] = x[cube.ABSOLUTE_POS] * factor

        return multiply

    x = runtime.tensor(np.ones(2, np.float32))
    outs = [runtime.zeros(2, cube.f32) for _ in range(3)]
    for factor, out in zip((2.0, 3.0, 4.0), outs, strict=True):
        make(factor)[1, 2](x, out)
    assert [out.numpy().tolist() for out in outs] == [[2, 2], [3, 3], [4, 4]]


# ---- threads ----------------------------------------------------------------------------------


def test_threads_do_not_disturb_each_other(runtime: cube.Runtime) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            for i in range(100):
                value = float(seed * 1000 + i)
                x = runtime.tensor(np.full(100 + i, value, np.float32))
                out = runtime.zeros(100 + i, cube.f32)
                scale[4, 64](x, 2.0, out)
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
