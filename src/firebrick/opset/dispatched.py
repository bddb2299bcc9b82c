"""`dispatch(Ops)`: the op set on dispatched tensors, one generated function per operation."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

from firebrick.errors import SelectorError
from firebrick.opset.declaration import OpSet
from firebrick.opset.dispatch_source import compile_dispatch
from firebrick.opset.dispatcher import Dispatcher

S = TypeVar("S", bound=OpSet[Any])

_lock = threading.RLock()
_behind: weakref.WeakKeyDictionary[Callable[..., Any], Dispatcher] = weakref.WeakKeyDictionary()


class Dispatched:
    """Operations of one op set as attributes; compiled when first asked for."""

    def __init__(self, op_set: type[OpSet[Any]]) -> None:
        self._op_set = op_set

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = self._op_set.__operations__.get(name)
        if operation is None:
            raise AttributeError(
                f"op set `{self._op_set.__name__}` has no operation `{name}`; it has "
                f"{', '.join(self._op_set.__operations__)}."
            )
        with _lock:
            known = self.__dict__.get(name)
            if known is not None:
                return known
            dispatcher = Dispatcher(operation, self._op_set.__implementations__)
            function = compile_dispatch(dispatcher)
            _behind[function] = dispatcher
            self.__dict__[name] = function
        return function

    def __repr__(self) -> str:
        return f"dispatch({self._op_set.__name__})"


def dispatch(op_set: type[S]) -> S:
    """The op set on dispatched tensors: each call picks the backend from its tensors.

    Raises, at a call: `NoTensorInputError`, `BackendMismatchError`, `BackendNotSupportedError`,
    `AutodiffNotSupportedError`, `MissingImplementationError`, `CheckpointingMismatchError`,
    `KindError`, `DeviceError`, `ShapeError`, `DTypeError`.
    """
    found = op_set.__dict__.get("__dispatched__")
    if found is None:
        found = _make(op_set)
    return cast("S", found)  # has the operations of `op_set`, on dispatched tensors


def _make(op_set: type[OpSet[Any]]) -> Dispatched:
    if op_set.__declaration__ is not op_set:
        raise SelectorError(
            f"`dispatch` takes the declaration `{op_set.__declaration__.__name__}`, not the "
            f"implementation `{op_set.__name__}`."
        )
    if op_set.__selectors__ is None:
        raise SelectorError(
            f"`{op_set.__name__}` is not open to any backend; decorate it with "
            "`@backend_extension(...)`."
        )
    with _lock:
        known = op_set.__dict__.get("__dispatched__")
        if known is None:
            known = Dispatched(op_set)
            type.__setattr__(op_set, "__dispatched__", known)
    return known


def dispatcher_of(function: Callable[..., Any]) -> Dispatcher | None:
    """The dispatcher behind `dispatch(Ops).name`; None for another callable."""
    try:
        return _behind.get(function)
    except TypeError:  # not hashable or not weakly referable: no function of ours
        return None
