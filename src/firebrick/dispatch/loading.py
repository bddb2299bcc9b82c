"""Where backend classes come from: the built-in table, and entry points of other packages.

Nothing is imported before a backend is used; asking which names exist reads package metadata only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from firebrick.backend import Backend
from firebrick.errors import BackendUnavailableError, SelectorError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

GROUP = "firebrick.backends"
"""The entry point group; an entry's name is the `name` of its class."""

BUILTIN = {
    "flex": "firebrick.backends.flex:Flex",
    "ndarray": "firebrick.backends.ndarray:NdArray",
    "libtorch": "firebrick.backends.libtorch:LibTorch",
    "cube": "firebrick.backends.cube:Cube",
    "remote": "firebrick.backends.remote:Remote",
    "capture": "firebrick.decorators.capture:Capture",
}
"""Module and class by name."""

RESERVED = frozenset({"cpu", "wgpu", "cuda", "rocm", "autodiff", "fusion"})
"""Runtimes of `cube` and decorators: names that a backend cannot have."""


def builtin_class(name: str) -> type[Backend[Any]]:
    """The class of a built-in backend, imported now."""
    module, _, qualname = BUILTIN[name].partition(":")
    return getattr(import_module(module), qualname)


def is_builtin_class(cls: type, name: str) -> bool:
    """Whether `cls` is the class that the built-in table means by `name`."""
    module, _, qualname = BUILTIN.get(name, "").partition(":")
    return cls.__qualname__ == qualname and f"{cls.__module__}.".startswith(f"{module}.")


def entry_point_names() -> list[str]:
    """Names of the backends that installed packages offer."""
    return sorted({entry.name for entry in _entries()})


def entry_point_class(name: str) -> type[Backend[Any]] | None:
    """The class that an installed package offers under `name`, imported now; None if none does.

    Raises: `BackendUnavailableError` when it cannot be imported, `SelectorError` when it is no
    backend of that name.
    """
    entry = next((entry for entry in _entries() if entry.name == name), None)
    if entry is None:
        return None
    try:
        loaded = entry.load()
    except (ImportError, AttributeError) as error:
        raise BackendUnavailableError(
            f"backend `{name}` is offered by {_origin(entry)}, but that cannot be imported: {error}"
        ) from error
    cls = checked_class(loaded)
    if cls.name != name:
        raise SelectorError(
            f"{_origin(entry)} offers a backend under the name {name!r}, but the name of its class "
            f"`{cls.__name__}` is {cls.name!r}; make them equal."
        )
    return cls


def checked_class(value: object) -> type[Backend[Any]]:
    """`value` if it is a backend class that can have devices; else `SelectorError`."""
    if not (isinstance(value, type) and issubclass(value, Backend)):
        raise SelectorError(f"a backend is a subclass of `Backend`; got {value!r}.")
    backend = cast("type[Backend[Any]]", value)  # of any tensor type
    name = getattr(backend, "name", None)
    if not (isinstance(name, str) and name.isidentifier()):
        raise SelectorError(
            f"backend `{backend.__name__}` needs a class attribute `name` that is an identifier, "
            f"such as 'flex'; got {name!r}."
        )
    if name.casefold() in RESERVED:
        raise SelectorError(
            f"backend `{backend.__name__}` cannot be named {name!r}: that is a kernel runtime or a "
            "decorator; choose a name of its own."
        )
    if backend.role != "execution":
        raise SelectorError(
            f"`{backend.__name__}` decorates a backend (role {backend.role!r}) and has no devices "
            "of its own, so it cannot be registered."
        )
    return backend


def _entries() -> Iterable[EntryPoint]:
    # Imported here because most programs never ask, and it costs as much as this whole package.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _origin(entry: EntryPoint) -> str:
    package = f" of {entry.dist.name}" if entry.dist is not None else ""
    return f"the entry point `{entry.value}`{package}"
