"""Ordinary arguments made up from their annotation: bools, numbers, names, members."""

from __future__ import annotations

import enum
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from firebrick.core import DType, Shape, bool_, float32, int32

BY_TYPE: dict[Any, tuple[Any, ...]] = {
    bool: (False, True),
    int: (1, 0, 2),
    float: (0.5, 2.0),
    str: ("a",),
    type(None): (None,),
    DType: (float32, int32, bool_),
    Shape: (Shape((2, 3)),),
    slice: (slice(0, 1),),
}
"""Values to try in order; numbers are small, so that they fit as dimensions and counts."""

_SEQUENCES = (list, tuple, set, frozenset, Sequence)


def options_for(annotation: Any) -> tuple[Any, ...]:
    """Values of a type, the most ordinary first; none where they cannot be made up."""
    known = BY_TYPE.get(annotation) if _is_hashable(annotation) else None
    if known is not None:
        return known
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return tuple(annotation)
    supertype: Any = getattr(cast("Any", annotation), "__supertype__", None)  # of a NewType
    if supertype is not None:
        return options_for(supertype)
    return _options_of_generic(get_origin(annotation) or annotation, get_args(annotation))


def _options_of_generic(origin: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    if origin is Literal:
        return arguments
    if origin is Annotated:
        return options_for(arguments[0])
    if origin in (Union, types.UnionType):
        return tuple(option for part in arguments for option in options_for(part))
    if origin in (dict, Mapping):
        return ({},)
    if origin in _SEQUENCES:
        return _options_of_sequence(list if origin is Sequence else origin, arguments)
    return ()


def _options_of_sequence(make: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    items = [options_for(item) for item in arguments if item is not Ellipsis]
    if not items or not all(items):
        return ()
    return tuple(make(choice) for choice in zip(*items, strict=False))


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
