"""Whether one annotation accepts everything that another does, as far as that can be told."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

# What type checkers accept besides subclasses (PEP 484, "the numeric tower").
_PROMOTED: dict[Any, tuple[type, ...]] = {float: (int,), complex: (int, float)}


def is_wider(wide: Any, narrow: Any) -> bool:
    """Whether `wide` is `Any`, equal to `narrow`, or accepts all its values.

    Arguments of generics must be equal or wider one by one: `Sequence[float]` is taken to accept
    `list[int]`, and so is `list[float]`, since callers pass values on without changing them.
    """
    wide, narrow = _plain(wide), _plain(narrow)
    if wide is Any or wide is object or wide == narrow:
        return True
    if get_origin(narrow) in (Union, types.UnionType):
        return all(is_wider(wide, option) for option in get_args(narrow))
    if get_origin(wide) in (Union, types.UnionType):
        return any(is_wider(option, narrow) for option in get_args(wide))
    if get_origin(narrow) is Literal:
        return _accepts_values(wide, get_args(narrow))
    if isinstance(narrow, NewType):
        return is_wider(wide, narrow.__supertype__)
    return _is_wider_class(wide, narrow)


def _plain(annotation: Any) -> Any:
    """Without `Annotated`, and None as its type."""
    if get_origin(annotation) is Annotated:
        return _plain(annotation.__origin__)
    return type(None) if annotation is None else annotation


def _accepts_values(wide: Any, values: tuple[Any, ...]) -> bool:
    if get_origin(wide) is Literal:
        return set(values) <= set(get_args(wide))
    return all(is_wider(wide, type(value)) for value in values)


def _is_wider_class(wide: Any, narrow: Any) -> bool:
    outer, inner = get_origin(wide) or wide, get_origin(narrow) or narrow
    if not (isinstance(outer, type) and isinstance(inner, type)):
        return False
    if inner in _PROMOTED.get(outer, ()):
        return True
    try:
        if not issubclass(inner, outer):
            return False
    except TypeError:  # a protocol that cannot be asked
        return False
    theirs, ours = get_args(wide), get_args(narrow)
    if not theirs or not ours:
        return not theirs or inner is not outer  # what `range` holds is not written on it
    if inner is tuple and outer is not tuple:  # `Sequence[float]` for `tuple[int, ...]`
        return all(is_wider(theirs[0], item) for item in ours if item is not Ellipsis)
    return len(theirs) == len(ours) and all(map(is_wider, theirs, ours))
