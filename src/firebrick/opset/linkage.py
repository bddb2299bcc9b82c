"""What the mechanism asks of the layer above: routing a call, and finding who executes it.

Dispatch installs a `Linker` when it is imported; generated code calls it off the fast path only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from firebrick.opset.dispatcher import Dispatcher
    from firebrick.opset.signature import Operation


class Linker(Protocol):
    """Routing and resolution, as dispatch implements them."""

    def route(self, dispatcher: Dispatcher, arguments: dict[str, Any]) -> Any:
        """Executes a call by the numbered rules; raises every routing error."""
        ...

    def operation(self, operation: Operation, backend: Any) -> Callable[..., Any]:
        """The operation on one backend, on that backend's own tensors."""
        ...


_installed: list[Linker] = []


def install_linker(linker: Linker) -> None:
    """Connects the mechanism to dispatch; the last one installed counts."""
    _installed[:] = [linker]


def linker() -> Linker:
    """The installed linker."""
    return _installed[0]
