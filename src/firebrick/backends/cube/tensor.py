"""A tensor on a kernel runtime, as a value: where its elements are and how they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firebrick.core import Device, DType, Shape
from firebrick.errors import DeviceError


@dataclass(frozen=True, slots=True, eq=False)
class CubeTensor:
    """A tensor on a kernel runtime; goes into kernel launches as it is."""

    handle: Any
    """The runtime's own name of the memory."""
    shape: Shape
    strides: tuple[int, ...]
    """In elements, never negative."""
    dtype: DType
    device: Device

    @property
    def is_contiguous(self) -> bool:
        """Row-major without gaps; dimensions of size 1 do not matter."""
        if 0 in self.shape:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1:
                if stride != expected:
                    return False
                expected *= size
        return True

    def assert_same_device(self, *others: CubeTensor) -> None:
        """`DeviceError` naming both devices, unless all tensors live where this one does."""
        for other in others:
            if other.device != self.device:
                raise DeviceError(
                    f"all tensors of one call live on one device; got `{self.device}` and "
                    f"`{other.device}`: move one of them with `.to(device)`."
                )
