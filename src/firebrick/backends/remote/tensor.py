"""A tensor on a server, as a value: the name that the server knows it by."""

from __future__ import annotations

from dataclasses import dataclass

from firebrick.core import Device, DType, Shape


@dataclass(frozen=True, slots=True, eq=False)
class RemoteTensor:
    """A tensor that lives on a server."""

    id: int
    shape: Shape
    dtype: DType
    device: Device
