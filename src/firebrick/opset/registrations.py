"""The implementations of an op set by backend class; replaced whole, never half."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from firebrick.errors import DuplicateImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.opset.namespaces import Origin
    from firebrick.opset.selectors import Selector


class Implementations:
    """The implementations of one op set; methods may be called from any thread."""

    def __init__(self) -> None:
        self._by_selector: dict[Selector, type[Any]] = {}
        self._origins: dict[Selector, Origin] = {}
        self._replaceable: set[type[Any]] = set()
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []
        self.generation = 0
        """Grows with every registration, so that what was resolved before it can be told."""

    def on_change(self, listener: Callable[[], None]) -> None:
        """Calls `listener` after every registration, so that caches can be emptied."""
        with self._lock:
            self._listeners.append(listener)

    def register(self, op_set: str, cls: type[Any], selector: Selector, origin: Origin) -> None:
        """Adds an implementation; the same definition run again replaces the first.

        `DuplicateImplementationError` names the one that is there, and the op set.
        """
        with self._lock:
            known = self._by_selector.get(selector)
            if known is not None and not self._may_replace(selector, known, origin):
                first = self._origins[selector]
                raise DuplicateImplementationError(
                    f"`{cls.__name__}` implements `{op_set}` on `{selector.__name__}`, which "
                    f"`{first.qualname}` (module {first.module}, line {first.line}) does already; "
                    "keep one of them."
                )
            self._by_selector[selector] = cls
            self._origins[selector] = origin
            self.generation += 1
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def _may_replace(self, selector: Selector, known: type[Any], new: Origin) -> bool:
        if known in self._replaceable:
            return True
        old = self._origins[selector]
        if (old.module, old.qualname) != (new.module, new.qualname):
            return False
        return old.line == new.line or new.module == "__main__"

    def let_replace(self, cls: type[Any]) -> None:
        """Any other definition may take the place of `cls`, which stands in for one."""
        with self._lock:
            self._replaceable.add(cls)

    def find(self, backend_class: type[Any]) -> type[Any] | None:
        """The implementation that serves a backend: its exact class first, then its bases."""
        for base in backend_class.__mro__:
            found = self._by_selector.get(base)
            if found is not None:
                return found
        return None
