"""What the mechanism asks of the layer above: routing a call, and finding who executes it.

Dispatch installs a `Linker` when it is imported; generated code calls it off the fast path only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.errors import MissingImplementationError
    from firebrick.opset.dispatcher import Dispatcher
    from firebrick.opset.no_default import NoDefault
    from firebrick.opset.signature import Operation


class Linker(Protocol):
    """Routing and resolution, as dispatch implements them."""

    def route(self, dispatcher: Dispatcher, arguments: Mapping[str, Any]) -> Any:
        """Executes a call by the numbered rules; raises every routing error."""
        ...

    def operation(self, operation: Operation, backend: Any) -> Callable[..., Any]:
        """The operation on one backend, on that backend's own tensors."""
        ...

    def missing(
        self, operation: Operation, backend: Any, reason: NoDefault
    ) -> MissingImplementationError:
        """What to raise where the body that ran for `operation` turned out to be none."""
        ...


_installed: list[Linker] = []


def install_linker(linker: Linker) -> None:
    """Connects the mechanism to dispatch; the last one installed counts."""
    _installed[:] = [linker]


def linker() -> Linker:
    """The installed linker."""
    return _installed[0]
