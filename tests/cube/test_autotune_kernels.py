"""Autotuning of kernels: device tensors, limits, errors that come late."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firebrick.cube as cube
from firebrick.cube.autotune import Configuration, Needs, Space, Tuner, autotune, default_key
from firebrick.cube.cache import KernelCache
from firebrick.cube.runtime.base import DeviceTensor, Memory, Properties, Runtime
from firebrick.errors import KernelError, KernelLaunchError

SMALL_DEVICE = Properties(types=frozenset({"f32"}), max_units=256)


@cube.kernel
def scale_in_place(x: cube.Mut[cube.Tensor[cube.f32]], by: cube.Comptime[int]) -> None:
    i = cube.ABSOLUTE_POS
    if i < len(x):
        x[i] = x[i] * by


@pytest.fixture
def interpreter() -> Runtime:
    """A runtime that every machine has."""
    return cube.runtime("interpreter")


def scaler(cache: KernelCache, **limits: Any) -> Tuner[None, DeviceTensor]:
    """Multiplies by 2 in place, with cubes of several sizes."""

    @autotune(
        Space(block=(8, 16, 100_000)).needs(lambda c: Needs(cube_dim=c["block"])),
        mutable=[0],
        cache=cache,
    )
    def scaled(c: Configuration) -> Callable[[DeviceTensor], None]:
        return lambda x: scale_in_place["auto", c["block"]](x, 2)

    return scaled


def test_a_tuned_kernel_writes_the_user_s_tensor_once(interpreter: Runtime) -> None:
    scaled = scaler(KernelCache())
    x = interpreter.tensor(np.arange(20, dtype=np.float32))
    scaled(x)
    np.testing.assert_array_equal(x.numpy(), np.arange(20) * 2)
    scaled(x)
    np.testing.assert_array_equal(x.numpy(), np.arange(20) * 4)


def test_a_tuner_is_named_after_its_function() -> None:
    assert scaler(KernelCache()).name == f"{__name__}.scaler.<locals>.scaled"


class LimitedDriver:
    """Another runtime's driver, with limits, and errors that come late."""

    def __init__(self, runtime: Runtime, properties: Properties) -> None:
        self.properties = properties
        self._driver: Any = runtime.driver
        self.queued: list[Exception] = []
        self.allocated = 0
        self.memory = 1000

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def allocate(self, size_bytes: int) -> Any:
        self.allocated += size_bytes
        if self.allocated > self.memory:
            raise KernelLaunchError("the device is full")
        return self._driver.allocate(size_bytes)

    def sync(self) -> None:
        if self.queued:
            raise self.queued.pop(0)


@pytest.fixture
def limited(interpreter: Runtime) -> Runtime:
    """A small device."""
    driver: Any = LimitedDriver(interpreter, SMALL_DEVICE)
    return Runtime(driver)


def test_a_configuration_beyond_the_device_is_never_built(limited: Runtime) -> None:
    scaled = scaler(KernelCache())
    tuning = scaled.tuning(limited.tensor(np.ones(20, np.float32)))
    assert tuning.failures == {"block=100000": "needs 100000 units in a cube, the device has 256"}
    assert tuning.seconds.keys() == {"block=8", "block=16"}


def test_if_no_configuration_fits_the_device_the_error_says_what_each_needs(
    limited: Runtime,
) -> None:
    space = Space(block=(512, 1024)).needs(lambda c: Needs(cube_dim=c["block"]))

    @autotune(space, cache=KernelCache())
    def big(c: Configuration) -> Callable[[DeviceTensor], None]:
        return lambda x: None

    with pytest.raises(KernelError, match=r"  block=512: needs 512 units in a cube, the device"):
        big(limited.tensor(np.ones(20, np.float32)))


def test_an_error_of_an_earlier_launch_is_no_candidate_s(limited: Runtime) -> None:
    scaled = scaler(KernelCache())
    x = limited.tensor(np.ones(20, np.float32))
    driver: Any = limited.driver
    driver.queued.append(KernelLaunchError("an earlier launch"))
    with pytest.raises(KernelLaunchError, match="an earlier launch"):
        scaled(x)
    scaled(x)
    assert x.numpy().tolist() == [2.0] * 20


def test_what_a_failed_candidate_left_in_the_queue_is_its_own(limited: Runtime) -> None:
    driver: Any = limited.driver

    def build(c: Configuration) -> Callable[[DeviceTensor], None]:
        def run(x: DeviceTensor) -> None:
            if c["n"] == 1:
                driver.queued += [KernelLaunchError("first"), KernelLaunchError("second")]

        return run

    cache = KernelCache()
    tuner = Tuner("late", Space(n=(1, 2)), build, default_key, mutable=[], cache=cache)
    x = limited.tensor(np.ones(2, np.float32))
    tuner(x)
    assert tuner.tuning(x).failures == {
        "n=1": "KernelLaunchError: first; KernelLaunchError: second"
    }
    assert driver.queued == []


def test_without_memory_for_copies_the_first_candidate_runs_untimed(limited: Runtime) -> None:
    driver: Any = limited.driver
    scaled = scaler(KernelCache())
    x = limited.tensor(np.ones(20, np.float32))
    driver.memory = 0
    tuning = scaled.tuning(x)
    scaled(x)
    assert x.numpy().tolist() == [2.0] * 20
    assert tuning.winner["block"] == 8
    assert tuning.failures["timing"] == "no copies to work on: the device is full"


def test_an_empty_tensor_can_be_tuned(interpreter: Runtime) -> None:
    scaled = scaler(KernelCache())
    x = interpreter.zeros(0, cube.f32)
    scaled(x)
    assert x.numpy().shape == (0,)


def test_copies_of_tensors_that_share_memory_share_it(interpreter: Runtime) -> None:
    seen: list[tuple[Memory, Memory]] = []

    def build(c: Configuration) -> Callable[[DeviceTensor, DeviceTensor], None]:
        return lambda x, y: seen.append((x.handle, y.handle))

    x = interpreter.tensor(np.ones(4, np.float32))
    view = DeviceTensor(x.handle, x.shape, x.strides, x.dtype)
    cache = KernelCache()
    tuner = Tuner("views", Space(n=(1, 2)), build, default_key, mutable=[1], cache=cache)
    tuner(x, view)
    assert all(first is second for first, second in seen)
    assert seen[0][0] is not x.handle
    assert seen[-1][0] is x.handle


def test_winners_of_the_process_s_own_cache_go_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firebrick.cube.cache.kernel_cache._shared", [])
    monkeypatch.setenv("FIREBRICK_CACHE", "on")
    monkeypatch.setenv("FIREBRICK_CACHE_DIR", str(tmp_path / "cache"))

    @autotune(Space(n=(1, 2)), name="shared")
    def counted(c: Configuration) -> Callable[[int], int]:
        return lambda x: x + 1

    assert counted(1) == 2
    assert len(os.listdir(tmp_path / "cache")) == 1
