"""The shape of a value in a signature: a tree of nodes made from an annotation.

Nodes are data. What is done with them stands elsewhere: `annotations.py` makes them, `leaves.py`
walks values along them, `traversal.py` turns them into source text. Here are only questions that
a node answers by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from firebrick.core import Kind
    from firebrick.opset.dims import Dims


@runtime_checkable
class Struct(Protocol):
    """What nodes ask of an `ExtensionType`: the nodes of its fields, base fields first."""

    @classmethod
    def __nodes__(cls) -> Mapping[str, Node]:
        """The node of every field."""
        ...


@dataclass(frozen=True, slots=True)
class TensorNode:
    """One tensor; `dims` where the annotation has dimensions."""

    kind: Kind
    dims: Dims | None = None


@dataclass(frozen=True, slots=True)
class StructNode:
    """An `ExtensionType`; its fields are asked from the class, which may be recursive."""

    struct: type[Struct]


@dataclass(frozen=True, slots=True)
class UnionNode:
    """A tagged union: structs, tensors of several kinds, or a tensor and plain values."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class OptionalNode:
    """The inner value or None."""

    inner: Node


@dataclass(frozen=True, slots=True)
class ListNode:
    """`list[...]` or `Sequence[...]`; tuples are taken too and arrive as lists."""

    inner: Node


@dataclass(frozen=True, slots=True)
class TupleNode:
    """`tuple[A, B]`; `tuple[A, ...]` is a ListNode's twin with `variadic` set."""

    items: tuple[Node, ...]
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class DictNode:
    """`dict[str, ...]`."""

    inner: Node


@dataclass(frozen=True, slots=True)
class PlainNode:
    """No tensor inside: passes through by identity."""

    annotation: Any
    encode: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A `Device`; routes an operation that takes no tensors."""


Node: TypeAlias = (
    TensorNode
    | StructNode
    | UnionNode
    | OptionalNode
    | ListNode
    | TupleNode
    | DictNode
    | PlainNode
    | DeviceNode
)


def children(node: Node) -> Iterator[tuple[str, Node]]:
    """The direct parts of a node with the name each adds to a path; of a union, its options."""
    match node:
        case StructNode(struct):
            yield from struct.__nodes__().items()
        case UnionNode(options):
            yield from (("", option) for option in options)
        case TupleNode(items):
            yield from ((str(index), item) for index, item in enumerate(items))
        case OptionalNode(inner) | ListNode(inner) | DictNode(inner):
            yield "", inner
        case _:
            return


def struct_fields(value: object) -> Mapping[str, Node] | None:
    """The nodes of the fields of a struct; None for any other value."""
    read: Callable[[], Mapping[str, Node]] | None = getattr(type(value), "__nodes__", None)
    return None if read is None else read()


def tensor_nodes(node: Node, seen: frozenset[object] = frozenset()) -> Iterator[TensorNode]:
    """Every tensor that a value of this node can hold; a recursive struct is entered once."""
    if isinstance(node, TensorNode):
        yield node
        return
    if isinstance(node, StructNode):
        if node.struct in seen:
            return
        seen |= {node.struct}
    for _, child in children(node):
        yield from tensor_nodes(child, seen)


def holds_tensors(node: Node) -> bool:
    """Whether some value of this node holds a tensor, or is a struct, which is rebuilt."""
    if isinstance(node, TensorNode | StructNode):
        return True
    return any(holds_tensors(child) for _, child in children(node))


def always_holds(node: Node, kind: Kind) -> bool:
    """Whether every value of this node holds a tensor of `kind` for sure."""
    match node:
        case TensorNode():
            return node.kind == kind
        case UnionNode(options):
            return all(always_holds(option, kind) for option in options)
        case TupleNode(items, variadic=False):
            return any(always_holds(item, kind) for item in items)
        case StructNode():
            return any(
                isinstance(child, TensorNode) and child.kind == kind for _, child in children(node)
            )
        case _:
            return False


def tensor_options(node: Node) -> tuple[TensorNode, ...]:
    """What a single tensor in the place of a node can be: the node itself, or options of it."""
    options = node.options if isinstance(node, UnionNode) else (node,)
    return tuple(option for option in options if isinstance(option, TensorNode))


def option_of_kind(node: Node, kind: Kind | None) -> TensorNode | None:
    """The tensor that a node declares for a kind; None if it declares none."""
    return next((option for option in tensor_options(node) if option.kind == kind), None)


def takes_plain(node: Node) -> bool:
    """Whether an ordinary value may stand in place of a tensor, as in `FloatTensor[P] | float`."""
    return isinstance(node, UnionNode) and any(isinstance(o, PlainNode) for o in node.options)


def struct_options(node: Node) -> tuple[type[Struct], ...]:
    """The structs that may stand in the place of a node."""
    options = node.options if isinstance(node, UnionNode) else (node,)
    return tuple(option.struct for option in options if isinstance(option, StructNode))


def float_paths(node: Node, prefix: str) -> list[str] | None:
    """Paths of the float leaves, such as `boxes.coords`; None when the value decides."""
    match node:
        case TensorNode(kind="float"):
            return [prefix]
        case TensorNode() | PlainNode() | DeviceNode():
            return []
        case StructNode() | TupleNode(variadic=False):
            found: list[str] = []
            for name, child in children(node):
                inner = float_paths(child, f"{prefix}.{name}")
                if inner is None:
                    return None
                found += inner
            return found
        case _:
            return None if any(n.kind == "float" for n in tensor_nodes(node)) else []
