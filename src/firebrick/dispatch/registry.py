"""Backends by name: classes imported at first use, one instance per class and process.

`backend_for` is the door for operations: it also notes that the hardware is in use, which fixes
the default dtypes of a device. Everything else looks with `instance_of`.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from firebrick.decorators.autodiff import autodiff_of
from firebrick.dispatch.loading import (
    BUILTIN,
    builtin_class,
    checked_class,
    entry_point_class,
    entry_point_names,
    is_builtin_class,
)
from firebrick.dispatch.parse import known_devices, unknown_device
from firebrick.errors import BackendUnavailableError, SelectorError

if TYPE_CHECKING:
    from firebrick.backend import Backend
    from firebrick.core import CheckpointStrategy, Device

B = TypeVar("B", bound="type[Backend[Any]]")
# What devices are equal by: backend, place, index. A tuple hashes faster than a device.
Hardware: TypeAlias = "tuple[str, str | None, int]"
Opened: TypeAlias = "tuple[str, str | None, int, type[CheckpointStrategy] | None]"


class Registry:
    """Backend classes and their instances by name; methods may be called from any thread."""

    def __init__(self) -> None:
        # Neither lock is held while a module is imported: an import waits for its module's own
        # lock, and the body of that module may be registering a backend in another thread.
        self._tables = RLock()
        self._creation = RLock()
        self._classes: dict[str, type[Backend[Any]]] = {}
        self._instances: dict[str, Backend[Any]] = {}
        self._opened: dict[Opened, Backend[Any]] = {}
        self._used: set[Hardware] = set()

    def register(self, cls: type[Backend[Any]]) -> None:
        """Makes a backend known by its `name`.

        A class of the same module and qualified name, such as that of a notebook cell run
        again, is replaced. `SelectorError` when another class has the name.
        """
        checked_class(cls)
        with self._tables:
            owner = self._other_owner(cls)
            if owner is not None:
                raise SelectorError(
                    f"backend `{cls.__qualname__}` cannot be named {cls.name!r}: {owner} has that "
                    "name; choose another."
                )
            self._put(cls)

    def spelling(self, name: str) -> str | None:
        """The known name that equals `name` but for letter case; None if there is none."""
        folded = name.casefold()
        if folded in BUILTIN:
            return folded
        with self._tables:
            registered = list(self._classes)
        for known in registered:
            if known.casefold() == folded:
                return known
        return next((known for known in entry_point_names() if known.casefold() == folded), None)

    def names(self) -> list[str]:
        """Every backend: built-in ones, then registered ones, then those of entry points."""
        with self._tables:
            registered = list(self._classes)
        return list(dict.fromkeys([*BUILTIN, *registered, *entry_point_names()]))

    def class_of(self, name: str) -> type[Backend[Any]]:
        """The class of that name, imported now if it was not.

        Raises: `DispatchError` for an unknown name, `BackendUnavailableError` when it cannot
        be imported.
        """
        known = self._classes.get(name)
        if known is not None:
            return known
        if name in BUILTIN:
            loaded = builtin_class(name)
        else:
            offered = entry_point_class(name)
            if offered is None:
                raise unknown_device(name, known_devices(self))
            loaded = offered
        self.register(loaded)
        return self._classes[name]

    def instance_of(self, name: str) -> Backend[Any]:
        """The process' instance of that backend, made at first use; failures are tried again."""
        found = self._instances.get(name)
        if found is not None:
            return found
        cls = self.class_of(name)
        with self._creation:
            found = self._instances.get(name)
            if found is not None:
                return found
            made = cls()
            with self._tables:
                # Not if the class was replaced meanwhile.
                if self._classes[name] is cls:
                    self._instances[name] = made
            return made

    def backend_for(self, device: Device) -> Backend[Any]:
        """Who executes operations on `device`: the backend, or its autodiff decorator.

        From now on the hardware counts as used. `BackendUnavailableError` if it is not here.
        """
        key = (device.backend, device.place, device.index, device.checkpointing)
        found = self._opened.get(key)
        return self._open(device, key) if found is None else found

    def is_used(self, device: Device) -> bool:
        """Whether an operation was executed on this hardware."""
        return hardware_of(device) in self._used

    def decorated(self, device: Device) -> Backend[Any]:
        """As `backend_for`, without counting as use."""
        inner = self.instance_of(device.backend)
        return inner if device.checkpointing is None else autodiff_of(inner, device.checkpointing)

    def _open(self, device: Device, key: Opened) -> Backend[Any]:
        inner = self.instance_of(device.backend)
        # A backend that could be made has its first device; others depend on the hardware.
        if device.place is not None or device.index:
            _require(device, inner.devices())
        opened = self.decorated(device)
        with self._tables:
            # Not if the class was replaced meanwhile.
            if self._instances.get(device.backend) is inner:
                self._opened[key] = opened
            self._used.add(hardware_of(device))
        return opened

    def _other_owner(self, cls: type[Backend[Any]]) -> str | None:
        """Who else has the name of `cls`, letter case aside; None if it is free or its own."""
        folded = cls.name.casefold()
        if folded in BUILTIN:
            return None if is_builtin_class(cls, cls.name) else f"firebrick's own `{folded}`"
        for name, known in self._classes.items():
            if name.casefold() == folded and not _same_definition(known, cls):
                return f"`{known.__module__}.{known.__qualname__}`"
        return None

    def _put(self, cls: type[Backend[Any]]) -> None:
        if self._classes.get(cls.name) is cls:
            return
        self._classes[cls.name] = cls
        self._instances.pop(cls.name, None)
        for key in [key for key in self._opened if key[0] == cls.name]:
            del self._opened[key]


def hardware_of(device: Device) -> Hardware:
    """The key of a device among those that are equal to it."""
    return device.backend, device.place, device.index


def _same_definition(one: type, other: type) -> bool:
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def _require(device: Device, usable: list[Device]) -> None:
    if device not in usable:
        listed = ", ".join(f"`{found.inner()}`" for found in usable) or "none"
        raise BackendUnavailableError(
            f"device `{device.inner()}` is not here; usable devices of its backend are {listed}."
        )


REGISTRY = Registry()
"""The registry of this process."""

instance_of = REGISTRY.instance_of
backend_for = REGISTRY.backend_for


def register_backend(backend: B) -> B:
    """Makes a third party's backend known by its `name`; usable as a class decorator.

    Packages list theirs under the entry point group `firebrick.backends` instead.

    Raises: `SelectorError` for a name in use by another class.
    """
    REGISTRY.register(backend)
    return backend
