"""Rules 5 and 6 of routing: the implementation of an operation on one backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.decorators.autodiff import Autodiff, derive, derive_constant
from firebrick.errors import (
    AutodiffNotSupportedError,
    BackendNotSupportedError,
    MissingImplementationError,
)
from firebrick.opset import BackendRoot, OpSet, bind_instance, own_member, raising_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.opset import NoDefault, Operation, Selector


def resolve(operation: Operation, backend: Any, *, float_input: bool) -> Callable[..., Any]:
    """The operation on the own tensors of `backend`, a decorator included.

    Raises: `AutodiffNotSupportedError`, `BackendNotSupportedError`, `MissingImplementationError`.
    """
    if operation.is_builtin:
        return getattr(backend, operation.name)
    if not isinstance(backend, Autodiff):
        return _concrete(operation, backend)
    owner = operation.owner
    selector = selector_of(operation, type(backend))
    if selector is None or not holds(operation, selector):
        why = "is not listed" if selector is None else "is listed with a condition that is false"
        raise AutodiffNotSupportedError(
            f"`{operation.label}` was called on an autodiff device, but `Autodiff` {why} in "
            f"`@backend_extension` of `{owner.__name__}`; list it, or call with `.inner()` tensors."
        )
    _concrete(operation, backend.inner)
    if not float_input:
        return derive_constant(operation, backend)
    return derive(operation, backend, owner.__implementations__.find(Autodiff))


def _concrete(operation: Operation, backend: BackendRoot) -> Callable[..., Any]:
    """The implementation on an execution backend, or its default body."""
    owner = operation.owner
    selector = selector_of(operation, type(backend))
    if selector is None:
        raise BackendNotSupportedError(
            f"`{operation.label}` does not support backend `{backend}`: `@backend_extension` lists "
            f"{', '.join(s.__name__ for s in owner.__selectors__ or {})}."
        )
    check_listed(operation, selector)
    implementation = owner.__implementations__.find(type(backend))
    own = None if implementation is None else own_member(owner, implementation, operation.name)
    if implementation is None or (own is None and not operation.has_default):
        raise MissingImplementationError(
            missing_message(operation, selector, has_class=implementation is not None)
        )
    return getattr(bind_instance(implementation, backend), operation.name)


def selector_of(operation: Operation, backend_class: type[Any]) -> Selector | None:
    """The listed selector that covers a backend: its exact class first, then its bases."""
    listed = operation.owner.__selectors__ or {}
    return next((base for base in backend_class.__mro__ if base in listed), None)


def holds(operation: Operation, selector: Selector) -> bool:
    """Whether the condition of a listed selector is true."""
    return (operation.owner.__selectors__ or {})[selector].holds()


def check_listed(operation: Operation, selector: Selector) -> None:
    """`BackendNotSupportedError` where the selector's condition is false."""
    if not holds(operation, selector):
        raise BackendNotSupportedError(
            f"`{operation.label}` does not support `{selector.__name__}` here: the condition in "
            f"`@backend_extension` of `{operation.owner.__name__}` is false."
        )


def missing_message(operation: Operation, selector: Selector, *, has_class: bool) -> str:
    """What to say of a listed selector without an implementation: the line to add."""
    op_set, backend = operation.owner.__name__, selector.__name__
    native: object = getattr(selector, "native", None)
    primitive = native.__name__ if isinstance(native, type) else "..."
    if has_class:
        return (
            f"`{operation.label}` has no default body, and the implementation of `{op_set}` on "
            f"`{backend}` does not define it; add a method `{operation.name}` to "
            f"`class ...({op_set}[{primitive}], on={backend})`."
        )
    return (
        f"`{operation.label}` lists `{backend}`, but nobody implemented `{op_set}` for it; add "
        f"`class {backend}{op_set}({op_set}[{primitive}], on={backend}): ...` or "
        f"`{op_set}.default_on({backend})`."
    )


def missing_body(
    operation: Operation, backend: BackendRoot, reason: NoDefault
) -> MissingImplementationError:
    """What to raise where a body that ran for `operation` on `backend` was `raise NoDefault`.

    The body may be that of another operation, called by the one that was asked for, or of one that
    is built in.
    """
    raised = raising_frame(reason)
    ops = None if raised is None else raised[1]
    name = operation.name if raised is None else raised[0].co_name
    if isinstance(ops, BackendRoot):
        needs = "has" if operation.is_builtin else f"needs `{name}`, which has"
        return MissingImplementationError(
            f"`{operation.label}` {needs} no default body and no implementation on backend `{ops}`."
        )
    asked, owner = operation, operation.owner
    if isinstance(ops, OpSet):
        owner = ops.__declaration__
        backend = ops.backend
        asked = owner.__operations__.get(name, operation)
    selector = selector_of(asked, type(backend)) or type(backend)
    return MissingImplementationError(missing_message(asked, selector, has_class=True))
