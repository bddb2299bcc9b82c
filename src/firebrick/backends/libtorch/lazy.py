"""`torch`, imported when an attribute of it is first asked for.

Naming the backend class must not cost the seconds that importing PyTorch takes, nor fail where
PyTorch is not installed. Every file of this package takes `torch` from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from firebrick.errors import BackendUnavailableError

__all__ = ["LazyModule", "torch"]


class LazyModule:
    """Stands for a package until it is needed, then has the attributes of that package.

    What was looked up stays in the instance's own dictionary, so that later uses cost as much as
    those of a real module.
    """

    def __init__(self, name: str, extra: str) -> None:
        self._name = name
        self._extra = extra

    def __getattr__(self, attribute: str) -> Any:
        # Inspection asks any object for `__wrapped__` and the like; that is no use of the package.
        if attribute.startswith("__"):
            raise AttributeError(f"{self!r} has no attribute {attribute!r}.")
        try:
            module = import_module(self._name)
        except ModuleNotFoundError as error:
            if error.name != self._name:
                raise
            raise BackendUnavailableError(
                f"this backend needs the package `{self._name}`, which is not installed; "
                f"`pip install '{self._extra}'` brings it."
            ) from error
        value = getattr(module, attribute)
        self.__dict__[attribute] = value
        return value

    def __repr__(self) -> str:
        return f"LazyModule({self._name!r})"


if TYPE_CHECKING:
    import torch
else:
    torch = LazyModule("torch", extra="firebrick[torch]")
