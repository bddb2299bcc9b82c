"""Values in values: walking structs, sequences and dicts, whatever their leaves are.

The mechanism of operations walks along signatures; tests look at values that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from firebrick.opset import ExtensionType

L = TypeVar("L")


def is_struct(value: object) -> bool:
    """Whether `value` is a struct of an extension."""
    return isinstance(value, ExtensionType)


def field_names(struct: Any) -> list[str]:
    """The fields of a struct, those of its bases first."""
    return list(cast("type[ExtensionType[Any]]", type(struct)).__nodes__())


def children(value: Any) -> dict[str, Any] | None:
    """The parts of a struct, sequence or dict by name; None for any other value."""
    if is_struct(value):
        return {name: getattr(value, name) for name in field_names(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value)
        return {str(key): item for key, item in items.items()}
    if isinstance(value, list | tuple):
        sequence = cast("list[Any] | tuple[Any, ...]", value)
        return {str(index): item for index, item in enumerate(sequence)}
    return None


def find_leaves(value: Any, leaf: type[L], path: str = "") -> Iterator[tuple[str, L]]:
    """Every `leaf` inside `value` with its path, depth first."""
    if isinstance(value, leaf):
        yield path, value
        return
    for name, item in (children(value) or {}).items():
        yield from find_leaves(item, leaf, f"{path}.{name}" if path else name)


def replace_leaves(value: Any, leaf: type[L], replace: Callable[[L], Any]) -> Any:
    """`value` rebuilt with every `leaf` replaced; structs are rebuilt without `__init__`."""
    if isinstance(value, leaf):
        return replace(value)
    parts = children(value)
    if parts is None:
        return value
    items = [replace_leaves(item, leaf, replace) for item in parts.values()]
    return with_children(value, items)


def with_children(value: Any, items: list[Any]) -> Any:
    """A struct, dict or sequence like `value` with other parts."""
    if is_struct(value):
        return make_struct(
            cast("Any", type(value)), dict(zip(field_names(value), items, strict=True))
        )
    if isinstance(value, Mapping):
        return dict(zip(cast("Mapping[Any, Any]", value), items, strict=True))
    kind = cast("Any", type(value))  # a list or tuple, or a subclass such as a named tuple
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def make_struct(struct: type[Any], fields: Mapping[str, Any]) -> Any:
    """A struct with these fields, made as the mechanism makes them: without `__init__`."""
    made = object.__new__(struct)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made
