"""Names of places in inputs and outputs, such as `lhs`, `boxes.coords`, `out.0`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    OptionalNode,
    StructNode,
    TupleNode,
    UnionNode,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from firebrick.opset.nodes import Node


def is_path(nodes: Mapping[str, Node], path: str) -> bool:
    """Whether some value of the named nodes has a place of that name."""
    head, _, rest = path.partition(".")
    return head in nodes and _leads(nodes[head], rest)


def _leads(node: Node, path: str) -> bool:
    if not path:
        return True
    head, _, rest = path.partition(".")
    match node:
        case StructNode(struct):
            fields = struct.__nodes__()
            return head in fields and _leads(fields[head], rest)
        case TupleNode(items, variadic=False):
            return head.isdigit() and int(head) < len(items) and _leads(items[int(head)], rest)
        case ListNode(inner) | TupleNode((inner,)):
            return head.isdigit() and _leads(inner, rest)
        case DictNode(inner):
            return _leads(inner, rest)
        case OptionalNode(inner):
            return _leads(inner, path)
        case UnionNode(options):
            return any(_leads(option, path) for option in options)
        case _:
            return False


def known_paths(nodes: Mapping[str, Node]) -> Iterator[str]:
    """The names that do not depend on values; a recursive struct is entered once."""
    for name, node in nodes.items():
        yield name
        yield from _below(node, name, frozenset())


def _below(node: Node, prefix: str, seen: frozenset[object]) -> Iterator[str]:
    match node:
        case StructNode(struct):
            if struct in seen:
                return
            seen |= {struct}
        case TupleNode(variadic=False):
            pass
        case OptionalNode() | UnionNode():
            for _, child in children(node):
                yield from _below(child, prefix, seen)
            return
        case _:
            return
    for name, child in children(node):
        yield f"{prefix}.{name}"
        yield from _below(child, f"{prefix}.{name}", seen)
