"""Memory shared with other libraries through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firebrick import Device, Tensor, float32
from firebrick.errors import DeviceError, DTypeError


@pytest.fixture(params=["flex", "ndarray"])
def on_host(request: pytest.FixtureRequest) -> Device:
    """The backends whose tensors are NumPy arrays."""
    return Device(request.param)


@pytest.mark.parametrize("autodiff", [False, True])
def test_memory_goes_both_ways_without_a_copy(on_host: Device, autodiff: bool) -> None:
    source = np.arange(3, dtype=np.float32)
    x = Tensor.from_dlpack(source, on_host.autodiff() if autodiff else on_host)
    assert x.device.is_autodiff is autodiff
    assert np.shares_memory(np.from_dlpack(x), source)


def test_later_writes_to_shared_memory_show(on_host: Device) -> None:
    source = np.zeros(2)
    x = Tensor.from_dlpack(source, on_host)
    source[0] = 5.0
    assert x.tolist() == [5.0, 0.0]


def test_a_shared_tensor_cannot_be_written_through_numpy(on_host: Device) -> None:
    x = Tensor.from_dlpack(np.zeros(2), on_host)
    assert not x.numpy().flags.writeable


def test_a_read_only_array_is_taken(device: Device) -> None:
    source = np.arange(3.0)
    source.flags.writeable = False
    assert Tensor.from_dlpack(source, device).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("name", ["float64", "float32", "int32", "uint8", "bool"])
def test_every_kind_is_exchanged(name: str, device: Device) -> None:
    source = np.array([0, 1, 1]).astype(name)
    x = Tensor.from_dlpack(source, device)
    assert x.dtype.name == name
    np.testing.assert_array_equal(np.from_dlpack(x), source)


def test_tensors_of_two_backends_exchange_values(device: Device) -> None:
    x = Tensor([[1.0, 2.0]], Device.flex())
    y = Tensor.from_dlpack(x, device)
    assert (y.device, y.tolist()) == (device, [[1.0, 2.0]])
    assert x.__dlpack_device__() == (1, 0)  # the processor, by DLPack's numbering


def test_a_backend_that_takes_producers_shares_their_memory() -> None:
    torch = pytest.importorskip("torch")
    source = torch.arange(3, dtype=torch.float32)
    x = Tensor.from_dlpack(source, Device.libtorch())
    source[0] = 5.0
    assert (x.dtype, x.tolist()) == (float32, [5.0, 1.0, 2.0])
    assert torch.from_dlpack(x).tolist() == [5.0, 1.0, 2.0]


def test_torch_tensors_come_and_go() -> None:
    torch = pytest.importorskip("torch")
    x = Tensor.from_dlpack(torch.arange(3, dtype=torch.float32), Device.libtorch())
    assert torch.from_dlpack(x).tolist() == [0.0, 1.0, 2.0]


def test_torch_tensors_are_shared_with_numpy_backends(on_host: Device) -> None:
    torch = pytest.importorskip("torch")
    source = torch.zeros(2)
    x = Tensor.from_dlpack(source, on_host)
    source[1] = 5.0
    assert x.tolist() == [0.0, 5.0]
    assert Tensor(source, on_host).tolist() == [0.0, 5.0]


def test_what_exports_nothing_is_refused(on_host: Device) -> None:
    with pytest.raises(DTypeError, match=r"with `__dlpack__`; got list: `Tensor\(data\)` takes"):
        Tensor.from_dlpack([1.0], on_host)


def test_memory_that_the_host_cannot_read_is_refused(on_host: Device) -> None:
    class Elsewhere:
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("it is on another device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    for make in (Tensor.from_dlpack, Tensor):
        with pytest.raises(DeviceError, match="Elsewhere cannot be read on the host"):
            make(Elsewhere(), on_host)


def test_a_read_only_view_of_a_writable_array_is_copied(on_host: Device) -> None:
    base = np.ones(3, np.float32)
    view = base.view()
    view.flags.writeable = False
    x = Tensor.from_numpy(view, on_host)
    base[0] = 9.0
    assert x.tolist() == [1.0, 1.0, 1.0]
