"""Random nodes, and random values that have their structure."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from firebrick.core import DispatchTensor, Kind
from firebrick.extension import ExtensionType, FloatTensor, IntTensor, P
from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    struct_options,
    tensor_options,
)


class Point(ExtensionType[P]):
    x: FloatTensor[P]
    label: str
    ids: IntTensor[P] | None


class Nested(ExtensionType[P]):
    points: list[Point[P]]
    pair: tuple[FloatTensor[P], dict[str, IntTensor[P]]]


class Nothing(ExtensionType[P]): ...


KINDS: list[Kind] = ["float", "int", "bool"]
TENSORS = st.sampled_from(KINDS).map(TensorNode)
STRUCTS = st.sampled_from([StructNode(Point), StructNode(Nested), StructNode(Nothing)])
UNIONS = st.sampled_from(
    [
        UnionNode((StructNode(Point), StructNode(Nested), StructNode(Nothing))),
        UnionNode((TensorNode("float"), TensorNode("int"))),
        UnionNode((TensorNode("float"), PlainNode(float))),
        UnionNode((StructNode(Point), TensorNode("bool"), PlainNode(str))),
    ]
)
LEAVES: st.SearchStrategy[Node] = st.one_of(TENSORS, STRUCTS, UNIONS)


def _around(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    items = st.lists(st.one_of(inner, st.just(PlainNode(int))), min_size=1, max_size=3)
    containers: list[st.SearchStrategy[Any]] = [
        inner.map(OptionalNode),
        inner.map(ListNode),
        inner.map(DictNode),
        inner.map(lambda node: TupleNode((node,), variadic=True)),
        items.map(lambda nodes: TupleNode(tuple(nodes))),
    ]
    return st.one_of(containers)


NODES: st.SearchStrategy[Node] = st.recursive(LEAVES, _around, max_leaves=5)


def tensor(kind: Kind) -> DispatchTensor:
    """A dispatched tensor that stands for nothing."""
    return DispatchTensor(object(), kind, object())


@st.composite
def values_of(draw: st.DrawFn, node: Node) -> Any:
    """A value of a node."""
    match node:
        case TensorNode(kind):
            return tensor(kind)
        case StructNode(struct):
            fields = [draw(values_of(child)) for child in struct.__nodes__().values()]
            return cast("Any", struct)(*fields)
        case UnionNode(options):
            return draw(values_of(draw(st.sampled_from(options))))
        case OptionalNode(inner):
            return draw(values_of(inner)) if draw(st.booleans()) else None
        case ListNode(inner):
            return draw(st.lists(values_of(inner), max_size=3))
        case DictNode(inner):
            return draw(st.dictionaries(st.sampled_from("abc"), values_of(inner), max_size=3))
        case TupleNode(items, variadic=False):
            return tuple(draw(values_of(item)) for item in items)
        case TupleNode((inner, *_)):
            return tuple(draw(st.lists(values_of(inner), max_size=3)))
        case PlainNode(annotation):
            plain: dict[Any, st.SearchStrategy[Any]] = {
                float: st.floats(), str: st.text(max_size=2), int: st.integers(),
            }  # fmt: skip
            return draw(plain[annotation])
        case _:
            raise AssertionError(node)


@st.composite
def nodes_and_values(draw: st.DrawFn) -> tuple[Node, Any]:
    """A node and a value of it."""
    node = draw(NODES)
    return node, draw(values_of(node))


def tensors_in(value: Any, node: Node) -> list[DispatchTensor]:
    """The tensors of a value in declaration order, depth first, by plain recursion."""
    if isinstance(value, DispatchTensor):
        return [value]
    match node:
        case StructNode() | UnionNode() if isinstance(value, struct_options(node)):
            fields = type(value).__nodes__()
            return [t for n, child in fields.items() for t in tensors_in(getattr(value, n), child)]
        case OptionalNode(inner):
            return [] if value is None else tensors_in(value, inner)
        case ListNode(inner) | TupleNode((inner,), variadic=True):
            return [t for item in value for t in tensors_in(item, inner)]
        case DictNode(inner):
            return [t for item in value.values() for t in tensors_in(item, inner)]
        case TupleNode(items):
            pairs = zip(value, items, strict=True)
            return [t for item, child in pairs for t in tensors_in(item, child)]
        case _:
            assert not tensor_options(node) or isinstance(node, UnionNode)
            return []
