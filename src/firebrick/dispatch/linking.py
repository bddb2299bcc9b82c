"""The linker that dispatch installs: routing and resolution for the generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.dispatch.resolution import missing_body
from firebrick.dispatch.route import Route, entry_of, route
from firebrick.opset import dispatcher_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.errors import MissingImplementationError
    from firebrick.opset import Dispatcher, NoDefault, Operation


class DispatchLinker:
    """Implements `opset.Linker` by the routing rules."""

    def route(self, dispatcher: Dispatcher, arguments: Mapping[str, Any]) -> Any:
        """Executes a call by the numbered rules."""
        return route(dispatcher, arguments)

    def operation(self, operation: Operation, backend: Any) -> Callable[..., Any]:
        """The operation on one backend, on that backend's own tensors."""
        if operation.is_builtin:
            return getattr(backend, operation.name)
        found = Route(backend, operation.may_have_float)
        return entry_of(dispatcher_for(operation), found).call

    def missing(
        self, operation: Operation, backend: Any, reason: NoDefault
    ) -> MissingImplementationError:
        """What to raise where a body turned out to be `raise NoDefault`."""
        return missing_body(operation, backend, reason)
