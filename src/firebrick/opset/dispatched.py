"""`dispatch(Ops)`: the op set on dispatched tensors, one generated function per operation."""

from __future__ import annotations

import difflib
import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

from firebrick.errors import SelectorError
from firebrick.opset.declaration import OpSet
from firebrick.opset.dispatch_source import compile_dispatch
from firebrick.opset.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.opset.signature import Operation

S = TypeVar("S", bound=OpSet[Any])

_lock = threading.RLock()


class Dispatched:
    """Operations of one op set as attributes; compiled when first asked for."""

    def __init__(self, op_set: type[OpSet[Any]]) -> None:
        self._op_set = op_set

    def __getattr__(self, name: str) -> Callable[..., Any]:
        known = self._op_set.__operations__
        operation = known.get(name)
        if operation is None:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean `{close[0]}`?" if close else ""
            raise AttributeError(
                f"op set `{self._op_set.__name__}` has no operation `{name}`; it has "
                f"{', '.join(known)}.{hint}"
            )
        with _lock:
            found: Callable[..., Any] | None = self.__dict__.get(name)
            if found is None:
                dispatcher = Dispatcher(operation, self._op_set.__implementations__)
                found = compile_dispatch(dispatcher)
                vars(found)["__dispatcher__"] = dispatcher
                self.__dict__[name] = found
        return found

    def __repr__(self) -> str:
        return f"dispatch({self._op_set.__name__})"


def dispatch(op_set: type[S]) -> S:
    """The op set on dispatched tensors: each call picks the backend from its tensors.

    Raises, at a call: `NoTensorInputError`, `BackendMismatchError`, `BackendNotSupportedError`,
    `AutodiffNotSupportedError`, `MissingImplementationError`, `CheckpointingMismatchError`,
    `KindError`, `DeviceError`, `ShapeError`, `DTypeError`.
    """
    return cast("S", _dispatched(op_set))  # has the operations of `op_set`, on other tensors


def _dispatched(op_set: object) -> Dispatched:
    known = getattr(op_set, "__dict__", {}).get("__dispatched__")
    return _make(op_set) if known is None else known


def _make(op_set: object) -> Dispatched:
    if not (isinstance(op_set, type) and issubclass(op_set, OpSet) and op_set is not OpSet):
        raise SelectorError(f"`dispatch` takes an op set, a subclass of `OpSet`; got {op_set!r}.")
    declared = cast("type[OpSet[Any]]", op_set)
    if declared.__declaration__ is not declared:
        raise SelectorError(
            f"`dispatch` takes the declaration `{declared.__declaration__.__name__}`, not the "
            f"implementation `{declared.__name__}`."
        )
    if declared.__selectors__ is None:
        raise SelectorError(
            f"`{declared.__name__}` is not open to any backend; decorate it with "
            "`@backend_extension(...)`."
        )
    with _lock:
        known: Dispatched | None = declared.__dict__.get("__dispatched__")
        if known is None:
            known = Dispatched(declared)
            type.__setattr__(declared, "__dispatched__", known)
    return known


def dispatcher_for(operation: Operation) -> Dispatcher:
    """The dispatcher of an operation of an op set that is open to backends."""
    function: Callable[..., Any] = getattr(_dispatched(operation.owner), operation.name)
    found: Dispatcher = vars(function)["__dispatcher__"]
    return found


def dispatcher_of(function: object) -> Dispatcher | None:
    """The dispatcher behind `dispatch(Ops).name`; None for anything else."""
    found = getattr(function, "__dispatcher__", None)
    return found if isinstance(found, Dispatcher) else None
