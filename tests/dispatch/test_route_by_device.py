"""Calls without tensors: a `Device` routes them, or the one backend of the list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.opset.calling import Array, floats, run

from firebrick import Device, float32
from firebrick.errors import (
    AutodiffNotSupportedError,
    BackendNotSupportedError,
    BackendUnavailableError,
    KindError,
)
from firebrick.extension import (
    Autodiff,
    Cube,
    Flex,
    FloatTensor,
    IntTensor,
    NdArray,
    NoDefault,
    OpSet,
    P,
    backend_extension,
    dispatch,
    when,
)


@backend_extension(Flex, NdArray, Autodiff, Cube)
class Made(OpSet[P]):
    def ones(self, size: int, device: Device, *, name: str = "") -> FloatTensor[P]:
        return self.backend.float_ones((size,), device, float32)

    def like(self, x: FloatTensor[P] | None, device: Device) -> FloatTensor[P]:
        return self.backend.float_ones((1,), device, float32) if x is None else x

    def many(self, xs: list[FloatTensor[P]], device: Device) -> list[FloatTensor[P]]:
        return xs

    async def later(self, size: int, device: Device) -> FloatTensor[P]:
        return self.backend.float_ones((size,), device, float32)


Made.default_on(Flex, NdArray, Autodiff)
made = dispatch(Made)


@pytest.mark.parametrize("name", ["flex", "ndarray"])
def test_a_device_chooses_the_backend(name: str) -> None:
    out = run(made.ones, 2, Device(name))
    assert (out.tolist(), out.device) == ([1.0, 1.0], Device(name))


def test_on_an_autodiff_device_outputs_carry_the_context(tracked: Device) -> None:
    out = run(made.ones, 2, tracked)
    assert out.device.is_autodiff
    assert not out.is_tracked


def test_an_asynchronous_call_is_routed_by_its_device(tracked: Device) -> None:
    import asyncio

    async def main() -> Any:
        return await made.later(2, tracked)

    assert asyncio.run(main()).is_autodiff


def test_tensors_come_before_the_device(flex: Device) -> None:
    x = floats([3.0], Device.ndarray())
    assert run(made.like, x, flex).device == Device.ndarray()
    assert run(made.like, None, flex).device == flex
    assert run(made.many, [], flex) == []


def test_another_value_than_a_device_is_refused() -> None:
    with pytest.raises(KindError, match=r"`Made\.ones`: `device` takes a Device; got a str\."):
        run(made.ones, 2, "flex")
    with pytest.raises(KindError, match=r"`Made\.like`: `device` takes a Device; got None\."):
        run(made.like, None, None)


def test_a_device_of_a_backend_that_is_not_listed_is_refused() -> None:
    @backend_extension(NdArray)
    class Only(OpSet[P]):
        def ones(self, size: int, device: Device) -> FloatTensor[P]:
            return self.backend.float_ones((size,), device, float32)

    Only.default_on(NdArray)
    with pytest.raises(
        BackendNotSupportedError, match=r"`Only\.ones` does not support backend `flex`"
    ):
        run(dispatch(Only).ones, 2, Device.flex())
    with pytest.raises(
        AutodiffNotSupportedError, match=r"`Only\.ones` was called on an autodiff devi"
    ):
        run(dispatch(Only).ones, 2, Device.ndarray().autodiff())


def test_a_device_that_is_not_here_is_unavailable() -> None:
    with pytest.raises(
        BackendUnavailableError, match=r"pip install 'firebrick\[cpu\]'|is not here"
    ):
        run(made.ones, 2, Device("wgpu:7"))


@backend_extension(Flex)
class Source(OpSet[P]):
    def count(self, size: int = 3) -> IntTensor[P]:
        raise NoDefault


class FlexSource(Source[Array], on=Flex):
    def count(self, size: int) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride] - defaults come from the declaration
        return np.arange(size, dtype=np.int32)


@backend_extension(when(Flex, False))
class Gated(OpSet[P]):
    def count(self, size: int) -> IntTensor[P]:
        raise NoDefault


def test_the_one_backend_of_the_list_runs_what_takes_neither(flex: Device) -> None:
    assert run(dispatch(Source).count).tolist() == [0, 1, 2]
    assert run(dispatch(Source).count, size=1).device == flex


def test_a_false_condition_leaves_nobody() -> None:
    with pytest.raises(
        BackendNotSupportedError, match=r"`Gated\.count` does not support `Flex` here"
    ):
        run(dispatch(Gated).count, 3)
