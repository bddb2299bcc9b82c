"""From annotations to nodes: resolves strings and aliases, then reads marks, never spelling."""

from __future__ import annotations

import collections.abc
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
)
from typing import get_type_hints as typing_hints

from firebrick.core import Device
from firebrick.errors import SignatureError
from firebrick.opset.dims import parse_dims
from firebrick.opset.forms import scalar
from firebrick.opset.kinds import P, TensorMark
from firebrick.opset.nodes import (
    DeviceNode,
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    holds_tensors,
)

if TYPE_CHECKING:
    from types import FrameType


@dataclass(frozen=True, slots=True)
class Namespace:
    """Where names in string annotations are looked up."""

    globals: Mapping[str, Any]
    locals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An annotation that could not be evaluated, and why."""

    text: str
    reason: Exception


def defining_namespace() -> Namespace:
    """The names visible in the frame whose `class` statement is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("firebrick.opset"):
        frame = frame.f_back
    if frame is None:
        return Namespace({}, {})
    return Namespace(frame.f_globals, dict(frame.f_locals))


def resolve(annotation: Any, namespace: Namespace, extra: Mapping[str, Any]) -> Any:
    """The object that an annotation means; `Unresolved` if evaluating it fails."""
    holder = type("Holder", (), {"__annotations__": {"value": annotation}})
    local = {**namespace.locals, **extra}
    try:
        hints = typing_hints(holder, dict(namespace.globals), local, include_extras=True)
    except Exception as reason:  # whatever evaluating a user's string raises is the finding
        return Unresolved(str(annotation), reason)
    return hints["value"]


def node_of(annotation: Any, *, tensor: Any = P, where: str) -> Node:
    """The node of an annotation; `tensor` is what stands for the tensor type, `P` as a rule.

    `SignatureError` names `where` for an annotation that cannot be used.
    """
    return _Reader(tensor, where).read(annotation)


@dataclass(frozen=True, slots=True)
class _Reader:
    tensor: Any
    where: str

    def read(self, annotation: Any) -> Node:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if isinstance(annotation, Unresolved):
            self.refuse(f"{annotation.text!r} cannot be resolved ({annotation.reason})")
        if origin is Annotated:
            return self.annotated(arguments[0], annotation.__metadata__, annotation)
        if origin in (Union, types.UnionType):
            return self.union(arguments, annotation)
        if annotation is Device:
            return DeviceNode()
        struct = origin if isinstance(origin, type) else annotation
        if hasattr(struct, "__nodes__"):
            return self.struct(struct, arguments)
        if origin in (list, collections.abc.Sequence):
            return self.container(ListNode, arguments[0], annotation)
        if origin is tuple:
            return self.tuple(arguments, annotation)
        if origin in (dict, collections.abc.Mapping):
            return self.dict(arguments, annotation)
        return self.plain(annotation)

    def refuse(self, reason: str) -> NoReturn:
        raise SignatureError(f"{self.where}: the annotation {reason}.")

    def annotated(self, inner: Any, metadata: tuple[Any, ...], annotation: Any) -> Node:
        for mark in metadata:
            if isinstance(mark, TensorMark):
                if inner is not self.tensor:
                    self.refuse(
                        f"names the tensor type {_name(inner)}; write `{_name(self.tensor)}` "
                        f"there, as in `{mark.kind.capitalize()}Tensor[{_name(self.tensor)}]`"
                    )
                dims = None if mark.dims is None else parse_dims(mark.dims)
                return TensorNode(mark.kind, dims)
        for mark in metadata:
            if isinstance(mark, scalar):
                return PlainNode(inner, mark.encode)
        return self.read(inner)

    def struct(self, struct: Any, arguments: tuple[Any, ...]) -> Node:
        wanted = f"{struct.__name__}[{_name(self.tensor)}]"
        if arguments != (self.tensor,):
            found = f"{struct.__name__}[{', '.join(map(_name, arguments))}]"
            self.refuse(f"`{found if arguments else struct.__name__}` should be `{wanted}`")
        return StructNode(struct)

    def union(self, arguments: tuple[Any, ...], annotation: Any) -> Node:
        nodes = tuple(self.read(a) for a in arguments if a is not type(None))
        if not any(holds_tensors(node) for node in nodes):
            return self.plain(annotation)
        inner = nodes[0] if len(nodes) == 1 else UnionNode(_flat(nodes))
        for node in nodes:
            is_option = isinstance(node, StructNode | TensorNode | PlainNode | UnionNode)
            if not is_option and inner is not node:
                self.refuse("mixes a container of tensors with other types; use a struct")
        return OptionalNode(inner) if type(None) in arguments else inner

    def container(self, kind: type[ListNode], inner: Any, annotation: Any) -> Node:
        node = self.read(inner)
        return kind(node) if holds_tensors(node) else self.plain(annotation)

    def tuple(self, arguments: tuple[Any, ...], annotation: Any) -> Node:
        variadic = len(arguments) == 2 and arguments[1] is Ellipsis
        nodes = tuple(self.read(a) for a in (arguments[:1] if variadic else arguments))
        if not any(holds_tensors(node) for node in nodes):
            return self.plain(annotation)
        return TupleNode(nodes, variadic)

    def dict(self, arguments: tuple[Any, ...], annotation: Any) -> Node:
        node = self.read(arguments[1])
        if not holds_tensors(node):
            return self.plain(annotation)
        if arguments[0] is not str:
            self.refuse(f"has keys of type {_name(arguments[0])}; dicts of tensors have str keys")
        return DictNode(node)

    def plain(self, annotation: Any) -> Node:
        if annotation is self.tensor and isinstance(annotation, TypeVar):
            self.refuse("is the bare type variable; say which kind, as in `FloatTensor[P]`")
        if self.tensor in getattr(annotation, "__parameters__", ()):
            self.refuse(
                f"`{annotation}` hides a tensor; accepted around tensors are structs, unions, "
                "Optional, list, tuple and dict[str, ...]"
            )
        return PlainNode(annotation)


def _flat(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    flat: list[Node] = []
    for node in nodes:
        flat += node.options if isinstance(node, UnionNode) else (node,)
    return tuple(flat)


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))
