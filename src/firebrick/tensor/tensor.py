"""The user's tensor, put together from its families of methods."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from firebrick.tensor.persistence import Persistent
from firebrick.tensor.printing import Printing

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Self

    from firebrick.core import Device

NAMESPACE = "firebrick.tensor.array_namespace"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


class Tensor(Persistent, Printing):
    """An immutable multi-dimensional array on a device.

    Binary operations broadcast like NumPy and need operands of one device and one kind; dtypes
    of one kind promote, and a Python scalar adopts the tensor's dtype. A tracked and an untracked
    operand may be mixed.

    Raises, from every operation: `ShapeError`, `DTypeError`, `KindError`, `DeviceError`,
    `BackendMismatchError`, `CheckpointingMismatchError`.
    """

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """Python array API standard 2024.12; `ValueError` for a version that is not known."""
        if api_version is not None and api_version not in VERSIONS:
            raise ValueError(
                f"`__array_namespace__` knows the versions {', '.join(VERSIONS)} of the Python "
                f"array API standard; got {api_version!r}."
            )
        # By name and late: the namespace is made of tensors, and few programs use it.
        return import_module(NAMESPACE)

    def to_device(self, device: Device, /, *, stream: None = None) -> Self:
        """As `to`, by the name that the Python array API standard has for it."""
        return self.to(device)
