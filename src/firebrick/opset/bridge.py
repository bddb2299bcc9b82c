"""From user tensors to dispatched ones and back, through any nesting of structs and containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, cast

from firebrick.core import DispatchTensor
from firebrick.opset.nodes import struct_fields

if TYPE_CHECKING:
    from collections.abc import Callable

_user_tensor: list[tuple[type[Any], Callable[[DispatchTensor], Any]]] = []


def install_tensor(tensor: type[Any], wrap: Callable[[DispatchTensor], Any]) -> None:
    """Tells the bridge which class users hold and how to make one.

    The class has a method `into_dispatch`, which gives the tensor inside.
    """
    _user_tensor[:] = [(tensor, wrap)]


def user_tensor() -> type[Any]:
    """The class that users hold."""
    return _user_tensor[0][0]


def is_user_tensor(value: object) -> bool:
    """Whether `value` is what users hold."""
    return bool(_user_tensor) and isinstance(value, _user_tensor[0][0])


def into_dispatch(value: Any) -> Any:
    """Replaces every user `Tensor` inside `value` by its dispatched tensor."""
    tensor = _user_tensor[0][0]
    if isinstance(value, tensor):
        return value.into_dispatch()
    return replace_leaves(value, lambda item: isinstance(item, tensor), _dispatched)


def from_dispatch(value: Any) -> Any:
    """Replaces every dispatched tensor inside `value` by a user `Tensor`."""
    wrap = _user_tensor[0][1]
    return wrap(value) if type(value) is DispatchTensor else replace_leaves(value, _is_leaf, wrap)


def _dispatched(value: Any) -> Any:
    return value.into_dispatch()


def _is_leaf(value: object) -> TypeGuard[DispatchTensor]:
    return isinstance(value, DispatchTensor)


def replace_leaves(
    value: Any, is_leaf: Callable[[Any], bool], replace: Callable[[Any], Any]
) -> Any:
    """`value` with its leaves replaced; parts without leaves pass by identity."""
    if is_leaf(value):
        return replace(value)
    parts = _parts(value)
    if not parts:
        return value
    rebuilt = {key: replace_leaves(part, is_leaf, replace) for key, part in parts.items()}
    if all(rebuilt[key] is part for key, part in parts.items()):
        return value
    return _rebuilt(value, rebuilt)


def _parts(value: Any) -> dict[Any, Any]:
    """What may hold leaves inside a struct or container, by name, key or position."""
    fields = struct_fields(value)
    if fields is not None:
        return {name: getattr(value, name) for name in fields}
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value)
    if isinstance(value, list | tuple):
        return dict(enumerate(cast("list[Any]", value)))
    return {}


def _rebuilt(value: object, parts: dict[Any, Any]) -> Any:
    """A structure like `value` with other parts."""
    kind = cast("Callable[..., Any]", type(value))  # a class of the user's, with its own arguments
    if struct_fields(value) is not None:
        struct = object.__new__(type(value))
        for name, part in parts.items():
            object.__setattr__(struct, name, part)
        return struct
    if isinstance(value, dict):
        return parts
    return kind(*parts.values()) if hasattr(kind, "_fields") else kind(parts.values())
