"""Rules 5 and 6 of routing: the implementation of an operation on one backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firebrick.decorators.autodiff import Autodiff, derive, derive_constant
from firebrick.errors import (
    AutodiffNotSupportedError,
    BackendNotSupportedError,
    MissingImplementationError,
)
from firebrick.opset import Operation, bind_instance, own_member

if TYPE_CHECKING:
    from firebrick.opset import Conditional, Selector


def resolve(operation: Operation, backend: Any, *, float_input: bool) -> Callable[..., Any]:
    """The operation on the own tensors of `backend`, a decorator included.

    Raises: `AutodiffNotSupportedError`, `BackendNotSupportedError`, `MissingImplementationError`.
    """
    if operation.is_builtin:
        return getattr(backend, operation.name)
    op_set: Any = operation.owner
    if not isinstance(backend, Autodiff):
        return _concrete(operation, backend)
    selector = _selector_of(op_set, type(backend))
    if selector is None or not op_set.__selectors__[selector].holds():
        why = "is not listed" if selector is None else "is listed with a condition that is false"
        raise AutodiffNotSupportedError(
            f"`{operation.label}` was called on an autodiff device, but `Autodiff` {why} in "
            f"`@backend_extension` of `{op_set.__name__}`; list it, or call with `.inner()` tensors."
        )
    _concrete(operation, backend.inner)
    if not float_input:
        return derive_constant(operation, backend)
    return derive(operation, backend, op_set.__implementations__.find(type(backend)))


def _concrete(operation: Operation, backend: Any) -> Callable[..., Any]:
    """The implementation on an execution backend, or its default body."""
    op_set: Any = operation.owner
    selector = _selector_of(op_set, type(backend))
    if selector is None:
        raise BackendNotSupportedError(
            f"`{operation.label}` does not support backend `{backend}`: "
            f"`@backend_extension` lists {', '.join(s.__name__ for s in op_set.__selectors__)}."
        )
    check_listed(operation, selector)
    implementation = op_set.__implementations__.find(type(backend))
    own = None if implementation is None else own_member(op_set, implementation, operation.name)
    if implementation is None or (own is None and not operation.has_default):
        raise MissingImplementationError(
            missing_message(operation, selector, has_class=implementation is not None)
        )
    return getattr(bind_instance(implementation, backend), operation.name)


def missing_message(operation: Operation, selector: Selector, *, has_class: bool) -> str:
    """What to say of a listed selector without an implementation: the line to add."""
    op_set = operation.owner.__name__
    native = getattr(selector, "native", None)
    primitive = getattr(native, "__name__", "...") if isinstance(native, type) else "..."
    if has_class:
        return (
            f"`{operation.label}` has no default body, and the implementation of `{op_set}` on "
            f"`{selector.__name__}` does not define it; add a method `{operation.name}` to "
            f"`class ...({op_set}[{primitive}], on={selector.__name__})`."
        )
    return (
        f"`{operation.label}` lists `{selector.__name__}`, but nobody implemented `{op_set}` for it; "
        f"add `class {selector.__name__}{op_set}({op_set}[{primitive}], on={selector.__name__}): ...`"
        f" or `{op_set}.default_on({selector.__name__})`."
    )


def _selector_of(op_set: Any, backend_class: type) -> Selector | None:
    """The listed selector that covers a backend: its exact class first, then its bases."""
    listed: dict[Any, Conditional] = op_set.__selectors__ or {}
    return next((base for base in backend_class.__mro__ if base in listed), None)


def check_listed(operation: Operation, selector: Selector) -> None:
    """`BackendNotSupportedError` where the selector's condition is false."""
    op_set: Any = operation.owner
    if not op_set.__selectors__[selector].holds():
        raise BackendNotSupportedError(
            f"`{operation.label}` does not support `{selector.__name__}` here: the condition in "
            f"`@backend_extension` of `{op_set.__name__}` is false."
        )
