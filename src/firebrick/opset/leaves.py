"""Visiting the leaves of a value along its node, each with its path.

Interpreted: it serves errors and rare calls. What every call does is generated text, see
`traversal.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    struct_fields,
    struct_options,
    takes_plain,
    tensor_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firebrick.opset.nodes import Node


@dataclass(frozen=True, slots=True)
class Leaf:
    """A place where a tensor is due: its path, its node and the value found there."""

    path: str
    node: TensorNode | UnionNode
    value: Any
    scope: str = ""
    """The path of the struct around, in which names of dimensions are looked up."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that has not the structure its node asks for."""

    path: str
    expected: str
    value: Any


def leaves(value: Any, node: Node, path: str, scope: str = "") -> Iterator[Leaf | Misfit]:
    """Every tensor place of a value, in declaration order, depth first."""
    match node:
        case TensorNode():
            yield Leaf(path, node, value, scope)
        case OptionalNode(inner):
            if value is not None:
                yield from leaves(value, inner, path, scope)
        case StructNode() | UnionNode():
            yield from _variant_leaves(value, node, path, scope)
        case ListNode() | TupleNode() | DictNode():
            for name, item, child in _items(value, node):
                if child is None:
                    yield Misfit(path, name, value)
                else:
                    yield from leaves(item, child, f"{path}.{name}", scope)
        case _:
            return


def _variant_leaves(
    value: Any, node: StructNode | UnionNode, path: str, scope: str
) -> Iterator[Leaf | Misfit]:
    """Those of the struct that is there, or the value itself where it is none."""
    fields = struct_fields(value)
    if fields is not None and isinstance(value, struct_options(node)):
        for name, child in fields.items():
            yield from leaves(getattr(value, name), child, f"{path}.{name}", path)
    elif isinstance(node, UnionNode) and tensor_options(node) and fields is None:
        yield Leaf(path, node, value, scope)
    elif fields is not None or not takes_plain(node):
        yield Misfit(path, describe_node(node), value)


def describe_node(node: TensorNode | StructNode | UnionNode) -> str:
    """What may stand in the place of a tensor, struct or union, in words."""
    options = [f"a `{struct.__name__}`" for struct in struct_options(node)]
    kinds = [tensor.kind for tensor in tensor_options(node)]
    if kinds:
        options.append(f"a tensor of kind {' or '.join(kinds)}")
    if isinstance(node, UnionNode):
        plain = (o.annotation for o in node.options if isinstance(o, PlainNode))
        options += [f"a `{getattr(annotation, '__name__', annotation)}`" for annotation in plain]
    *others, last = options
    return f"{', '.join(others)} or {last}" if others else last


def describe_value(value: object) -> str:
    """A value that does not fit, in words."""
    name = type(value).__name__
    if isinstance(value, tuple | list):
        return f"a {name} of {len(cast('Sequence[object]', value))}"
    return "None" if value is None else f"a {name}"


def _items(
    value: Any, node: ListNode | TupleNode | DictNode
) -> Iterator[tuple[str, Any, Node | None]]:
    """Name, value and node of every item; a node of None says what was expected instead."""
    if isinstance(node, DictNode):
        if has_str_keys(value):
            yield from ((key, item, node.inner) for key, item in value.items())
        else:
            yield "a dict with str keys", value, None
        return
    given = cast("Sequence[Any]", value) if isinstance(value, tuple | list) else None
    if isinstance(node, TupleNode) and not node.variadic:
        if given is None or len(given) != len(node.items):
            yield f"a tuple of {len(node.items)}", value, None
            return
        pairs = zip(given, node.items, strict=True)
        yield from ((str(i), item, child) for i, (item, child) in enumerate(pairs))
        return
    if given is None:
        yield "a list", value, None
        return
    inner = node.inner if isinstance(node, ListNode) else node.items[0]
    yield from ((str(i), item, inner) for i, item in enumerate(given))


def has_str_keys(value: object) -> bool:
    """Whether a value is a mapping whose keys are strings."""
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(key, str) for key in cast("Mapping[object, object]", value))
