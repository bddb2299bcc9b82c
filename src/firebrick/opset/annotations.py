"""From annotations to nodes: reads marks through aliases, `Optional` and `Annotated`, not spelling.

What strings mean is `namespaces.py`'s affair; here annotations are objects.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from typing_extensions import TypeAliasType

from firebrick.core import Device
from firebrick.errors import SignatureError
from firebrick.opset.dims import parse_dims
from firebrick.opset.forms import scalar
from firebrick.opset.kinds import P, TensorMark
from firebrick.opset.namespaces import Unresolved
from firebrick.opset.nodes import (
    DeviceNode,
    DictNode,
    ListNode,
    OptionalNode,
    PlainNode,
    Struct,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    holds_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.opset.nodes import Node


# `type X = ...` of Python 3.12, and its twin for older versions, which need not be the same class.
_ALIASES: tuple[type[Any], ...] = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))


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
        if isinstance(annotation, Unresolved):
            self.refuse(f"{annotation.text!r} cannot be resolved ({annotation.reason})")
        if isinstance(annotation, _ALIASES):
            return self.read(annotation.__value__)
        if annotation is Device:
            return DeviceNode()
        origin, arguments = get_origin(annotation), get_args(annotation)
        if isinstance(origin, _ALIASES):
            return self.read(origin.__value__[arguments])
        if origin is Annotated:
            return self.annotated(arguments[0], annotation.__metadata__)
        if origin in (Union, types.UnionType):
            return self.union(arguments, annotation)
        struct = annotation if origin is None else origin
        if isinstance(struct, type) and issubclass(struct, Struct):
            return self.struct(struct, arguments)
        return self.container(origin, arguments, annotation)

    def refuse(self, reason: str) -> NoReturn:
        raise SignatureError(f"{self.where}: the annotation {reason}.")

    def annotated(self, inner: Any, metadata: tuple[Any, ...]) -> Node:
        marks = [mark for mark in metadata if isinstance(mark, TensorMark)]
        encoders = [mark for mark in metadata if isinstance(mark, scalar)]
        if not marks:
            node = self.read(inner)
            if not encoders:
                return node
            if not isinstance(node, PlainNode):
                self.refuse("has `scalar(...)`, which is for ordinary arguments, on tensors")
            return PlainNode(node.annotation, encoders[0].encode)
        if len(marks) > 1 or encoders:
            self.refuse("says twice what it is; one of `FloatTensor`, `Int`, ... is enough")
        if inner is not self.tensor:
            wanted, kind = _name(self.tensor), marks[0].kind.capitalize()
            self.refuse(
                f"names the tensor type {_name(inner)}; write `{wanted}` there, as in "
                f"`{kind}Tensor[{wanted}]`"
            )
        dims = None if marks[0].dims is None else self.dims(marks[0].dims)
        return TensorNode(marks[0].kind, dims)

    def dims(self, text: str) -> Any:
        try:
            return parse_dims(text)
        except SignatureError as fact:
            raise SignatureError(f"{self.where}: {fact}") from None

    def struct(self, struct: type[Struct], arguments: tuple[Any, ...]) -> Node:
        if arguments != (self.tensor,):
            found = f"{struct.__name__}[{', '.join(map(_name, arguments))}]"
            wanted = f"{struct.__name__}[{_name(self.tensor)}]"
            self.refuse(f"`{found if arguments else struct.__name__}` should be `{wanted}`")
        return StructNode(struct)

    def union(self, arguments: tuple[Any, ...], annotation: Any) -> Node:
        nodes = tuple(self.read(a) for a in arguments if a is not type(None))
        if not any(holds_tensors(node) for node in nodes):
            return self.plain(annotation)
        inner = nodes[0] if len(nodes) == 1 else self.options(nodes)
        return OptionalNode(inner) if type(None) in arguments else inner

    def options(self, nodes: tuple[Node, ...]) -> Node:
        """A union of structs, of tensors of different kinds, and of ordinary values."""
        kinds: list[str] = []
        for node in nodes:
            if isinstance(node, DeviceNode):
                continue
            if not isinstance(node, StructNode | TensorNode | PlainNode):
                self.refuse("mixes a container of tensors with other types; use a struct")
            if isinstance(node, TensorNode):
                kinds.append(node.kind)
        if len(set(kinds)) < len(kinds):
            self.refuse("has two tensors of one kind; only the kind tells a union's tensors apart")
        plain = tuple(PlainNode(Device) if isinstance(n, DeviceNode) else n for n in nodes)
        return UnionNode(plain)

    def container(self, origin: Any, arguments: tuple[Any, ...], annotation: Any) -> Node:
        if origin is tuple and arguments:
            return self.tuple(arguments, annotation)
        if origin in (list, collections.abc.Sequence):
            node = self.read(arguments[0])
            return ListNode(node) if holds_tensors(node) else self.plain(annotation)
        if origin in (dict, collections.abc.Mapping):
            return self.dict(arguments, annotation)
        return self.plain(annotation)

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
        if annotation is self.tensor:
            what = "bare type variable" if isinstance(annotation, TypeVar) else "bare tensor type"
            example = "FloatTensor[P]" if annotation is P else f'Float[{_name(annotation)}, "..."]'
            self.refuse(f"is the {what} `{_name(annotation)}`; say which kind, as in `{example}`")
        if _mentions(annotation, self.tensor):
            self.refuse(
                f"`{annotation}` hides a tensor; accepted around tensors are structs, unions, "
                "Optional, list, tuple and dict[str, ...]"
            )
        return PlainNode(annotation)


def _mentions(annotation: Any, tensor: Any) -> bool:
    """Whether the tensor type stands anywhere inside an annotation."""
    if annotation is tensor:
        return True
    inside: Sequence[Any] = get_args(annotation)
    if isinstance(annotation, list):  # the parameters of a `Callable[[...], ...]`
        inside = cast("Sequence[Any]", annotation)
    return any(_mentions(item, tensor) for item in inside)


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))
