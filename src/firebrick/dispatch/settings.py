"""Default dtypes of each hardware: those of its backend, until `configure` says otherwise.

They change once at most, and only before the first operation there: tensors of one device that
were made from the same Python values never differ in dtype. Reading a default, seeding, or
asking what is supported is no operation; making or moving a tensor to the device is.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Literal

from firebrick.core import DType
from firebrick.dispatch.registry import hardware_of
from firebrick.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.core import Device
    from firebrick.dispatch.registry import Hardware, Registry

SettingKind = Literal["float", "int", "bool"]


class Settings:
    """What was configured, by hardware; methods may be called from any thread."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lock = Lock()
        self._configured: dict[Hardware, dict[str, DType]] = {}

    def default_dtype(self, device: Device, kind: SettingKind) -> DType:
        """Of tensors made from Python values of that kind. Does not count as use."""
        chosen = self._configured.get(hardware_of(device))
        if chosen is not None and kind in chosen:
            return chosen[kind]
        return self._registry.instance_of(device.backend).default_dtypes(device)[kind]

    def configure(self, device: Device, dtypes: Mapping[str, DType]) -> None:
        """Sets the defaults of the given kinds; nothing is set if one of them is refused.

        Raises: `SettingsError` after the first operation or the first `configure` there, for
        a dtype of another kind, and for one that the device does not support.
        """
        if not dtypes:
            return
        for kind, wanted in dtypes.items():
            self._require_supported(device, kind, wanted)
        with self._lock:
            if hardware_of(device) in self._configured:
                self._refuse(device, "they were configured before, and can be only once")
            if self._registry.is_used(device):
                self._refuse(device, "tensors were made there already; configure it before them")
            self._configured[hardware_of(device)] = dict(dtypes)

    def _refuse(self, device: Device, reason: str) -> None:
        defaults = ", ".join(
            f"{kind} {self.default_dtype(device, kind)}" for kind in ("float", "int", "bool")
        )
        raise SettingsError(
            f"`configure` cannot change the default dtypes of `{device.inner()}`: {reason}. "
            f"They are {defaults}; give `dtype=` to make a tensor of another one."
        )

    def _require_supported(self, device: Device, kind: str, wanted: DType) -> None:
        backend = self._registry.instance_of(device.backend)
        if wanted.kind == kind and backend.supports_dtype(device.inner(), wanted):
            return
        supported = [
            str(known)
            for known in DType.by_name.values()
            if known.kind == kind and backend.supports_dtype(device.inner(), known)
        ]
        raise SettingsError(
            f"`configure` cannot make {wanted} the default {kind} dtype of `{device.inner()}`; "
            f"supported are {', '.join(supported)}."
        )
