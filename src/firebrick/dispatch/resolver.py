"""What devices can do: the behaviour that `core.Device` asks of whoever is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from firebrick.dispatch.parse import (
    RUNTIMES,
    known_devices,
    parse_device,
    parse_environment,
    unknown_device,
)
from firebrick.errors import BackendUnavailableError, DispatchError

if TYPE_CHECKING:
    from firebrick.core import Device, DType
    from firebrick.dispatch.parse import Parts
    from firebrick.dispatch.registry import Registry
    from firebrick.dispatch.settings import SettingKind, Settings

VARIABLE = "FIREBRICK_DEVICE"
"""The environment variable that names the default device."""

NO_REMOTE = (
    "remote devices come with the extra `firebrick[remote]`, but this version has no remote "
    "runtime yet; use `flex`, `ndarray` or `libtorch`."
)


class Resolver:
    """Gives devices their behaviour from a registry of backends and the settings."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._default: tuple[str, Parts] = ("", ("flex", None, 0))

    def parse(self, text: str) -> Parts:
        """Backend, place and index that `text` names."""
        return parse_device(text, self._registry)

    def default(self) -> Parts:
        """What `FIREBRICK_DEVICE` names, `flex` where it is unset or empty."""
        wanted = os.environ.get(VARIABLE, "")
        known, parts = self._default
        if wanted == known:
            return parts
        parts = parse_environment(wanted, self._registry) if wanted else ("flex", None, 0)
        self._default = (wanted, parts)
        return parts

    def enumerate(self, kind: str | None, token: str | None) -> list[Device]:
        """Usable devices of one kind; of all backends that execute when `kind` is None.

        What is unavailable has no devices. The capture device executes nothing, so it is
        listed only where it is asked for.
        """
        if kind is None:
            executing = [name for name in self._registry.names() if name != "capture"]
            return [device for name in executing for device in self._usable(name)]
        if "://" in kind:
            raise BackendUnavailableError(f"cannot list {kind!r}: {NO_REMOTE}")
        if kind in RUNTIMES:
            return [device for device in self._usable("cube") if device.runtime == kind]
        if kind == "remote":
            raise DispatchError("the devices of a server are listed by its URL; got 'remote'.")
        if self._registry.spelling(kind) != kind:
            raise unknown_device(kind, known_devices(self._registry))
        return self._usable(kind)

    def open(self, device: Device) -> Any:
        """The backend of a device, its autodiff decorator on an autodiff one; no use of it."""
        return self._registry.decorated(device)

    def configure(self, device: Device, dtypes: dict[str, DType]) -> None:
        """Sets default dtypes, once and before the first operation."""
        self._settings.configure(device, dtypes)

    def default_dtype(self, device: Device, kind: SettingKind) -> DType:
        """The dtype of tensors made from Python values of that kind."""
        return self._settings.default_dtype(device, kind)

    def connect(self, url: str, index: int, options: dict[str, Any]) -> Device:
        """Device `index` of a server."""
        raise BackendUnavailableError(f"cannot connect to {url!r}: {NO_REMOTE}")

    def _usable(self, name: str) -> list[Device]:
        try:
            return self._registry.class_of(name).devices()
        except BackendUnavailableError:
            return []
