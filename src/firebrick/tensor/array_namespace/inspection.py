"""What the namespace says of itself.

https://data-apis.org/array-api/2024.12/API_specification/inspection.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import Device, DType
from firebrick.tensor.array_namespace.constants import isdtype

if TYPE_CHECKING:
    from typing import TypeAlias

    Kinds: TypeAlias = str | tuple[str, ...] | None

# NumPy's limit, the lowest of the built-in backends.
MOST_DIMENSIONS = 64


class Info:
    """Devices, dtypes and capabilities."""

    def capabilities(self) -> dict[str, bool | int]:
        """Masks and shapes that depend on values work, and how many dimensions there may be."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MOST_DIMENSIONS,
        }

    def default_device(self) -> Device:
        """Where tensors are made without `device`."""
        return Device.default()

    def devices(self) -> list[Device]:
        """Every usable device."""
        return Device.enumerate()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, DType]:
        """What Python numbers become. There are no complex dtypes."""
        where = device or Device.default()
        return {
            "real floating": where.float_dtype,
            "integral": where.int_dtype,
            "indexing": where.int_dtype,
        }

    def dtypes(self, *, device: Device | None = None, kind: Kinds = None) -> dict[str, DType]:
        """The dtypes that a device has, by name."""
        where = device or Device.default()
        return {
            name: dtype
            for name, dtype in DType.by_name.items()
            if where.supports_dtype(dtype) and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:  # noqa: N807 # the standard's name
    """Devices, dtypes and capabilities of the namespace."""
    return Info()
