"""The table of `firebrick devices`: every device that could be here, usable or not, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from rich.table import Table
from rich.text import Text

from firebrick.core import Device, float32
from firebrick.errors import BackendUnavailableError

KINDS = ("flex", "ndarray", "libtorch", "cpu", "wgpu", "cuda", "rocm")
"""Devices of the backends that firebrick names itself, by the text that lists them."""

AVAILABLE = "available"


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device: its text, its backend, its default dtypes, and whether it can be used."""

    device: str
    backend: str
    dtypes: str
    state: str


def device_rows() -> list[DeviceRow]:
    """Usable devices, those of other packages last, with a row for each kind that is missing."""
    usable = Device.enumerate()
    rows: list[DeviceRow] = []
    for kind in KINDS:
        found = Device.enumerate(kind)
        rows += [_available(device) for device in found] or [_missing(kind)]
    known = {row.device for row in rows}
    return rows + [_available(device) for device in usable if str(device) not in known]


def device_table() -> Table:
    """The rows as a table for the terminal; kinds that are missing for one reason share a row."""
    table = Table("device", "backend", "float, int, bool", "state")
    for (backend, state), group in groupby(device_rows(), lambda row: (row.backend, row.state)):
        rows = list(group)
        if state == AVAILABLE:
            for row in rows:
                table.add_row(row.device, backend, row.dtypes, Text(state, "green"))
        else:
            names = "\n".join(row.device for row in rows)
            table.add_row(names, backend, "", Text(state, "yellow"))
    return table


def _available(device: Device) -> DeviceRow:
    dtypes = f"{device.float_dtype}, {device.int_dtype}, {device.bool_dtype}"
    return DeviceRow(str(device), device.backend, dtypes, AVAILABLE)


def _missing(kind: str) -> DeviceRow:
    """A row that says why devices of that kind cannot be used, as using one would."""
    device = Device(kind)
    try:
        device.supports_dtype(float32)
    except BackendUnavailableError as reason:
        return DeviceRow(kind, device.backend, "", str(reason))
    return DeviceRow(kind, device.backend, "", "no such hardware on this machine")
