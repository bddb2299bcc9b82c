"""The linker that dispatch installs: routing and resolution for the generated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firebrick.dispatch.route import Route, entry_of, route
from firebrick.opset import Dispatcher, Operation, dispatch, dispatcher_of


class DispatchLinker:
    """Implements `opset.Linker` by the routing rules."""

    def route(self, dispatcher: Dispatcher, arguments: dict[str, Any]) -> Any:
        """Executes a call by the numbered rules."""
        return route(dispatcher, arguments)

    def operation(self, operation: Operation, backend: Any) -> Callable[..., Any]:
        """The operation on one backend, on that backend's own tensors."""
        if operation.is_builtin:
            return getattr(backend, operation.name)
        dispatcher = dispatcher_of(getattr(dispatch(operation.owner), operation.name))
        if dispatcher is None:
            raise LookupError(operation.label)
        return entry_of(dispatcher, Route(backend, operation.may_have_float)).call
