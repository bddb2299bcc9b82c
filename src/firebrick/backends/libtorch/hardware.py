"""Where tensors of PyTorch live: devices, their random generators, waiting for their work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick import core
from firebrick.backend.options import Array
from firebrick.backends.libtorch.dtypes import dtypes, torch_dtypes
from firebrick.backends.libtorch.lazy import torch
from firebrick.core import Device, DType, Kind
from firebrick.errors import BackendUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Generator, Tensor


class Hardware:
    """The members of the backend that are about tensors and devices rather than operations.

    An instance imports torch; the class does not. Nothing that an instance keeps outlives the
    process: tables of devices, and a random generator per device.
    """

    name = "libtorch"
    has_many_devices = True

    def __init__(self) -> None:
        self.native: Any = torch.Tensor
        self.kinds: Mapping[torch.dtype, Kind] = {
            known: dtype.kind for known, dtype in dtypes().items()
        }
        self._dtypes = dtypes()
        self._places: dict[Device, torch.device] = {}
        self._devices: dict[torch.device, Device] = {}
        self._generators: dict[torch.device, Generator] = {}

    @classmethod
    def devices(cls) -> list[Device]:
        """The processor, then every accelerator that torch can use.

        Raises: `BackendUnavailableError` when torch is not installed.
        """
        found = [Device.of(cls.name, "cpu")]
        found += [Device.of(cls.name, "cuda", index) for index in range(torch.cuda.device_count())]
        if torch.backends.mps.is_available():
            found.append(Device.of(cls.name, "mps"))
        return found

    def place(self, device: Device) -> torch.device:
        """Torch's name for `device`; `BackendUnavailableError` if this machine does not have it."""
        found = self._places.get(device)
        return self._find(device) if found is None else found

    def _find(self, device: Device) -> torch.device:
        kind = device.place or "cpu"
        usable = self.devices()
        if Device.of(self.name, kind, device.index) not in usable:
            listed = ", ".join(f"`{found}`" for found in usable)
            raise BackendUnavailableError(
                f"torch cannot use device `{device.inner()}` here; usable are {listed}."
            )
        place = torch.device(kind) if kind == "cpu" else torch.device(kind, device.index)
        self._places[device] = place
        return place

    def device_of(self, tensor: Tensor) -> Device:
        place = tensor.device
        found = self._devices.get(place)
        if found is None:
            found = Device.of(self.name, place.type, place.index or 0)
            self._devices[place] = found
        return found

    def from_dlpack(self, producer: Any) -> Tensor:
        """The memory of a DLPack producer as a tensor, on the producer's device."""
        shared: Tensor = torch.from_dlpack(producer)
        return shared.detach()

    def dtype_of(self, tensor: Tensor) -> DType:
        return self._dtypes[tensor.dtype]

    def adopt(self, value: Any) -> Any:
        # Firebrick differentiates by itself: a graph of torch's own would only keep memory.
        if isinstance(value, torch.Tensor) and value.requires_grad:
            return value.detach()
        return value

    def default_dtypes(self, device: Device) -> dict[str, DType]:
        return {"float": core.float32, "int": core.int64, "bool": core.bool_}

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        if self.place(device).type == "mps" and dtype is core.float64:
            return False
        return dtype in torch_dtypes()

    def shares_memory(self, first: Tensor, second: Tensor) -> bool:
        return first.device == second.device and np.shares_memory(_bytes(first), _bytes(second))

    def generator(self, device: Device) -> Generator:
        """The source of random numbers of `device`; seeded by the system until `seed` is called."""
        place = self.place(device)
        found = self._generators.get(place)
        if found is None:
            made = torch.Generator(device=place)
            made.seed()
            # Another thread may have been first: then its generator counts.
            found = self._generators.setdefault(place, made)
        return found

    def seed(self, device: Device, seed: int) -> None:
        # Torch takes seeds of 64 bits.
        self.generator(device).manual_seed(seed % 2**64)

    def sync(self, device: Device) -> None:
        place = self.place(device)
        if place.type == "cuda":
            torch.cuda.synchronize(place)
        elif place.type == "mps":
            torch.mps.synchronize()


class _Stretch:
    """Tells NumPy where the elements of a tensor lie, on any device; nothing there is read."""

    def __init__(self, tensor: Tensor) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{size}",
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * size for stride in tensor.stride()),
            "data": (tensor.data_ptr(), True),
        }


def _bytes(tensor: Tensor) -> Array:
    return np.asarray(_Stretch(tensor))
