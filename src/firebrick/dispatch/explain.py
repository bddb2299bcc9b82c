"""`explain`: which implementation a call would run and why not the others; nothing is executed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from firebrick.decorators.autodiff import Autodiff, is_tracked
from firebrick.dispatch.resolution import holds, missing_message, selector_of
from firebrick.dispatch.route import collect, entry_of, execution_backend, find_route
from firebrick.errors import DispatchError, FirebrickError, TensorError
from firebrick.opset import ShortOperation, dispatcher_of, into_dispatch, own_member, place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.dispatch.route import Route
    from firebrick.opset import BackendRoot, Dispatcher, Operation, Selector

AUTODIFF = "Autodiff"


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
    function = operation
    if isinstance(operation, ShortOperation):
        function = cast("ShortOperation[..., Any]", operation).dispatched
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


def _explained(dispatcher: Dispatcher, arguments: Mapping[str, Any]) -> Explanation:
    operation = dispatcher.operation
    try:
        found = find_route(operation, arguments)
    except FirebrickError as reason:
        return Explanation(operation.label, None, {"call": str(reason)})
    reasons = _other_selectors(operation, found)
    wanted = _wanted(operation, found, arguments)
    try:
        entry_of(dispatcher, found)
        dispatcher.expect(tuple(arguments.values()))
    except TensorError as reason:
        return Explanation(operation.label, None, {**reasons, "call": str(reason)})
    except FirebrickError as reason:
        return Explanation(operation.label, None, {**reasons, wanted: str(reason)})
    if wanted == AUTODIFF and not _has_backward(operation, found):
        why = (
            f"the call is tracked, and nothing differentiates `{operation.label}`: it has neither "
            "an `Autodiff` implementation nor a default body that an `Autodiff` class would run"
        )
        return Explanation(operation.label, None, {**reasons, wanted: why})
    reasons.pop(wanted, None)
    runs_inner = wanted != AUTODIFF
    backend = execution_backend(found.backend) if runs_inner else found.backend
    return Explanation(operation.label, wanted, reasons, _where(operation, backend))


def _wanted(operation: Operation, found: Route, arguments: Mapping[str, Any]) -> str:
    """The name of the selector that a route leads to."""
    if isinstance(found.backend, Autodiff) and found.float_input:
        tensors = (leaf.value for leaf in collect(operation, arguments))
        if _has_backward(operation, found) or any(map(is_tracked, tensors)):
            return AUTODIFF
    backend: BackendRoot = execution_backend(found.backend)
    return (selector_of(operation, type(backend)) or type(backend)).__name__


def _has_backward(operation: Operation, found: Route) -> bool:
    """Whether tracked calls are differentiated, or have nothing to differentiate."""
    owner = operation.owner
    implementation = owner.__implementations__.find(Autodiff)
    if operation.is_builtin or not operation.may_return_float:
        return True
    if implementation is None:
        return False
    own = own_member(owner, implementation, operation.name)
    return own is not None or operation.has_default


def _other_selectors(operation: Operation, found: Route) -> dict[str, str]:
    """Why each listed selector would not run, were another one chosen."""
    base = execution_backend(found.backend)
    listed = operation.owner.__selectors__ or {}
    return {s.__name__: _why_not(operation, s, base) for s in listed}


def _why_not(operation: Operation, selector: Selector, base: BackendRoot) -> str:
    try:
        if not holds(operation, selector):
            return "its condition is false"
    except FirebrickError as reason:
        return str(reason)
    if selector.role == "autodiff":
        return "the call has no float on an autodiff device, or nothing to differentiate"
    if selector.role == "fusion":
        return f"backend `{base}` is not fused"
    if operation.owner.__implementations__.find(selector) is None:
        return missing_message(operation, selector, has_class=False)
    return f"the tensors are on backend `{base}`"


def _where(operation: Operation, backend: BackendRoot) -> str:
    """File and line of what runs."""
    owner = operation.owner
    implementation = owner.__implementations__.find(type(backend))
    own = None
    if implementation is not None:
        own = own_member(owner, implementation, operation.name)
    elif operation.is_builtin:
        own = getattr(type(backend), operation.name, None)
    file, line = place(own if own is not None else operation.function)
    return "" if file is None else f"{file}:{line}"
