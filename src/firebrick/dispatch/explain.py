"""`explain`: which implementation a call would run and why not the others; nothing is executed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from firebrick.decorators.autodiff import Autodiff
from firebrick.dispatch.resolution import missing_message
from firebrick.dispatch.route import Route, entry_of, execution_backend, find_route
from firebrick.errors import DispatchError, FirebrickError
from firebrick.opset import (
    Dispatcher,
    ShortOperation,
    dispatch,
    dispatcher_of,
    into_dispatch,
    own_member,
    place,
)


@dataclass(frozen=True)
class Explanation:
    """Which implementation a call would run and why not the others; `str()` is a table."""

    operation: str
    chosen: str | None
    """The selector that would run, or None when the call would fail."""
    rejected: Mapping[str, str]
    """Selector to reason."""
    where: str = ""

    def __str__(self) -> str:
        """One line per selector, the chosen one first."""
        lines = [f"`{self.operation}`"]
        if self.chosen is not None:
            lines.append(f"  {self.chosen.ljust(10)} runs  {self.where}".rstrip())
        lines += [f"  {name.ljust(10)} not: {why}" for name, why in self.rejected.items()]
        return "\n".join(lines)


def explain(operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Tells what a call would run.

    Args:
        operation: An `@op` function or `dispatch(Ops).name`.
        args: The call's arguments, user tensors or dispatched ones.
        kwargs: As `args`, by name.

    Raises:
        DispatchError: `operation` is something else.
    """
    function: Any = operation
    if isinstance(operation, ShortOperation):
        function = getattr(dispatch(operation.op_set), operation.__name__)
    dispatcher = dispatcher_of(function)
    if dispatcher is None:
        raise DispatchError(
            f"`explain` takes an `@op` function or `dispatch(Ops).name`; got {operation!r}."
        )
    bound = inspect.signature(function).bind(
        *into_dispatch(args), **{name: into_dispatch(value) for name, value in kwargs.items()}
    )
    bound.apply_defaults()
    return _explained(dispatcher, dict(bound.arguments))


def _explained(dispatcher: Dispatcher, arguments: dict[str, Any]) -> Explanation:
    label = dispatcher.operation.label
    try:
        found = find_route(dispatcher.operation, arguments)
    except FirebrickError as reason:
        return Explanation(label, None, {"call": str(reason)})
    reasons = _other_selectors(dispatcher, found)
    wanted = _wanted(dispatcher, found)
    try:
        entry_of(dispatcher, found)
    except FirebrickError as reason:
        return Explanation(label, None, {**reasons, wanted: str(reason)})
    reasons.pop(wanted, None)
    return Explanation(label, wanted, reasons, _where(dispatcher, found))


def _wanted(dispatcher: Dispatcher, found: Route) -> str:
    """The name of the selector that a route leads to."""
    if isinstance(found.backend, Autodiff) and found.float_input:
        return "Autodiff"
    backend_class = type(execution_backend(found.backend))
    listed = _selectors(dispatcher)
    covering = next((base for base in backend_class.__mro__ if base in listed), backend_class)
    return covering.__name__


def _selectors(dispatcher: Dispatcher) -> dict[Any, Any]:
    op_set: Any = dispatcher.operation.owner
    return op_set.__selectors__ or {}


def _other_selectors(dispatcher: Dispatcher, found: Route) -> dict[str, str]:
    base = execution_backend(found.backend)
    op_set: Any = dispatcher.operation.owner
    reasons: dict[str, str] = {}
    for selector, conditional in _selectors(dispatcher).items():
        if not conditional.holds():
            why = "its condition is false"
        elif selector.role == "autodiff":
            why = "the call has no float on an autodiff device"
        elif selector.role == "fusion":
            why = f"backend `{base}` is not fused"
        elif op_set.__implementations__.find(selector) is None:
            why = missing_message(dispatcher.operation, selector, has_class=False)
        else:
            why = f"the tensors are on backend `{base}`"
        reasons[selector.__name__] = why
    return reasons


def _where(dispatcher: Dispatcher, found: Route) -> str:
    """File and line of what runs."""
    operation = dispatcher.operation
    op_set: Any = operation.owner
    backend = found.backend if found.float_input else execution_backend(found.backend)
    implementation = op_set.__implementations__.find(type(backend))
    own = None if implementation is None else own_member(op_set, implementation, operation.name)
    file, line = place(getattr(own, "function", own) or operation.function)
    return "" if file is None else f"{file}:{line}"
