"""From user tensors to dispatched ones and back, through any nesting of structs and containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from firebrick.core import DispatchTensor


class UserTensor(Protocol):
    """What the bridge needs of the user's tensor class."""

    def into_dispatch(self) -> DispatchTensor: ...


_user_tensor: list[tuple[type, Callable[[DispatchTensor], Any]]] = []


def install_tensor(tensor: type, wrap: Callable[[DispatchTensor], Any]) -> None:
    """Tells the bridge which class users hold and how to make one."""
    _user_tensor[:] = [(tensor, wrap)]


def user_tensor() -> type:
    """The class that users hold."""
    return _user_tensor[0][0]


def is_user_tensor(value: Any) -> bool:
    """Whether `value` is what users hold."""
    return bool(_user_tensor) and isinstance(value, _user_tensor[0][0])


def into_dispatch(value: Any) -> Any:
    """Replaces every user `Tensor` inside `value` by its dispatched tensor."""
    tensor = _user_tensor[0][0]
    return value.into_dispatch() if isinstance(value, tensor) else _map(value, tensor, _dispatched)


def from_dispatch(value: Any) -> Any:
    """Replaces every dispatched tensor inside `value` by a user `Tensor`."""
    if type(value) is DispatchTensor:
        return _user_tensor[0][1](value)
    return _map(value, DispatchTensor, _user_tensor[0][1])


def _dispatched(value: Any) -> DispatchTensor:
    return value.into_dispatch()


def _map(value: Any, leaf: type, replace: Callable[[Any], Any]) -> Any:
    """`value` with its leaves replaced; parts without leaves pass by identity."""
    if isinstance(value, leaf):
        return replace(value)
    kind = type(value)
    if hasattr(kind, "__nodes__"):
        names = tuple(kind.__nodes__())
        old = [getattr(value, name) for name in names]
        new = [_map(item, leaf, replace) for item in old]
        return value if _same(old, new) else _rebuilt(kind, names, new)
    if kind is dict:
        new = {key: _map(item, leaf, replace) for key, item in value.items()}
        return value if _same(list(value.values()), list(new.values())) else new
    if isinstance(value, list | tuple):
        new = [_map(item, leaf, replace) for item in value]
        if _same(list(value), new):
            return value
        return kind(*new) if hasattr(kind, "_fields") else kind(new)
    return value


def _same(old: list[Any], new: list[Any]) -> bool:
    return all(a is b for a, b in zip(old, new, strict=True))


def _rebuilt(kind: type, names: tuple[str, ...], values: list[Any]) -> Any:
    struct = object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(struct, name, value)
    return struct
