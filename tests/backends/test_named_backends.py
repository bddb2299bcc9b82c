"""Backends of which this version has the names only: selectors and the types of their tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from firebrick.backend import Backend
from firebrick.backends.cube import Cube, CubeTensor
from firebrick.backends.remote import Remote, RemoteTensor
from firebrick.core import Device, Shape, float32
from firebrick.errors import BackendUnavailableError, DeviceError
from firebrick.opset import OpSet, P, backend_extension
from firebrick.opset.kinds import FloatTensor


def cube_tensor(
    shape: tuple[int, ...], strides: tuple[int, ...], device: Device | None = None
) -> CubeTensor:
    return CubeTensor(object(), Shape(shape), strides, float32, device or Device.cuda(0))


@pytest.mark.parametrize("make", [Cube, Cube.devices], ids=["instance", "devices"])
def test_kernel_runtimes_name_their_extras(make: Callable[[], object]) -> None:
    for extra in ("cpu", "wgpu", "cuda", "rocm"):
        with pytest.raises(BackendUnavailableError, match=rf"firebrick\[{extra}\]"):
            make()
    with pytest.raises(BackendUnavailableError, match="no kernel runtime yet; use `flex`"):
        make()


@pytest.mark.parametrize("make", [Remote, Remote.devices], ids=["instance", "devices"])
def test_remote_devices_name_their_extra(make: Callable[[], object]) -> None:
    with pytest.raises(BackendUnavailableError, match=r"firebrick\[remote\].* no client"):
        make()


def test_they_are_selectors() -> None:
    @backend_extension(Cube, Remote)
    class Ops(OpSet[P]):
        def same(self, x: FloatTensor[P]) -> FloatTensor[P]:
            """The input."""
            return x

    class OnCube(Ops[CubeTensor], on=Cube):
        """The default body."""

    assert issubclass(Cube, Backend)
    assert Ops.__implementations__.find(Cube) is OnCube


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 1, 3), (3, 99, 1), True),
        ((2, 3), (4, 1), False),
        ((), (), True),
        ((0, 3), (7, 7), True),
        ((3,), (0,), False),
    ],
)
def test_contiguous_is_row_major_without_gaps(
    shape: tuple[int, ...], strides: tuple[int, ...], expected: bool
) -> None:
    assert cube_tensor(shape, strides).is_contiguous is expected


def test_tensors_of_two_devices_are_refused_by_name() -> None:
    first = cube_tensor((1,), (1,))
    first.assert_same_device(first, cube_tensor((2,), (1,)))
    other = cube_tensor((1,), (1,), Device.cuda(1))
    with pytest.raises(DeviceError, match=r"got `cuda:0` and `cuda:1`: move one of them"):
        first.assert_same_device(first, other)


def test_tensors_are_immutable_and_equal_to_themselves_only() -> None:
    tensor = cube_tensor((1,), (1,))
    remote = RemoteTensor(1, Shape((2,)), float32, Device.of("remote"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        tensor.shape = Shape((2,))  # pyright: ignore[reportAttributeAccessIssue] - what is tested
    with pytest.raises(dataclasses.FrozenInstanceError):
        remote.id = 2  # pyright: ignore[reportAttributeAccessIssue] - what is tested
    assert tensor != dataclasses.replace(tensor)
    assert {tensor, remote} == {tensor, remote}
