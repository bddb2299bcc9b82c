"""The structure of a case from the nodes of a signature: which variant, which optionals, how long.

Every place where a value has a choice is a site with a number of options. The first option of
each is the ordinary one; a case with another option at one site is a variant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
)
from firebrick.testing.case import DevicePlace
from firebrick.testing.nests import make_struct
from firebrick.testing.ordinary import options_for
from firebrick.testing.sizes import Slot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firebrick.opset import Operation

LENGTHS = (2, 1, 3)
"""Of lists and dicts, the ordinary length first."""

NESTED = 1
"""How often a struct is put into another one of its class."""


class CannotMakeError(Exception):
    """A value that cannot be made up: its path and its type."""


class Structure:
    """Builds arguments with a `Slot` for every tensor, and remembers the sites that it passes."""

    def __init__(self, chosen: Mapping[str, int]) -> None:
        self._chosen = chosen
        self._open: list[Any] = []
        self.sites: dict[str, int] = {}
        self.number_sites: set[str] = set()
        self.variant_sites: set[str] = set()

    def arguments(self, operation: Operation) -> dict[str, Any]:
        """A value for every parameter; `CannotMakeError` where none can be made up."""
        found: dict[str, Any] = {}
        for parameter in operation.parameters:
            if parameter.is_required or not isinstance(parameter.node, PlainNode):
                found[parameter.name] = self._value(parameter.node, parameter.name, "")
            else:
                found[parameter.name] = self._defaulted(parameter.name, parameter.default,
                                                        parameter.annotation)  # fmt: skip
        return found

    def _choose(self, path: str, options: int) -> int:
        if options > 1:
            self.sites[path] = options
        return self._chosen.get(path, 0)

    def _defaulted(self, path: str, default: Any, annotation: Any) -> Any:
        others = [option for option in options_for(annotation) if option != default]
        return [default, *others][self._choose(path, 1 + len(others))]

    def _value(self, node: Node, path: str, scope: str) -> Any:
        match node:
            case TensorNode("quantized"):
                raise CannotMakeError(f"`{path}` is a quantized tensor")
            case TensorNode(kind, dims):
                return Slot(path, kind, dims, scope)
            case StructNode(struct):
                return self._struct(struct, path)
            case UnionNode() | OptionalNode() | PlainNode() | DeviceNode():
                return self._single(node, path, scope)
            case ListNode(inner) | TupleNode((inner,), variadic=True):
                count = self._length(inner, path)
                items = [self._value(inner, f"{path}.{i}", scope) for i in count]
                return items if isinstance(node, ListNode) else tuple(items)
            case TupleNode(items):
                return tuple(self._value(n, f"{path}.{i}", scope) for i, n in enumerate(items))
            case DictNode(inner):
                names = [f"key{i}" for i in self._length(inner, path)]
                return {name: self._value(inner, f"{path}.{name}", scope) for name in names}

    def _single(
        self, node: UnionNode | OptionalNode | PlainNode | DeviceNode, path: str, scope: str
    ) -> Any:
        match node:
            case UnionNode(options):
                return self._union(options, path, scope)
            case OptionalNode(inner):
                return self._optional(inner, path, scope)
            case PlainNode(annotation):
                return self._plain(annotation, path)
            case DeviceNode():
                return DevicePlace()

    def _plain(self, annotation: Any, path: str) -> Any:
        options = options_for(annotation)
        if not options:
            name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
            raise CannotMakeError(f"`{path}` is of type `{name}`")
        if type(options[0]) is int:
            self.number_sites.add(path)
        return options[self._choose(path, len(options))]

    def _struct(self, struct: Any, path: str) -> Any:
        self._open.append(struct)
        fields = {
            name: self._value(node, f"{path}.{name}", path)
            for name, node in struct.__nodes__().items()
        }
        self._open.pop()
        return make_struct(struct, fields)

    def _is_open(self, node: Node) -> bool:
        """Whether a value of this node would nest a struct that contains itself too deep."""
        return isinstance(node, StructNode) and self._open.count(node.struct) > NESTED

    def _union(self, options: tuple[Node, ...], path: str, scope: str) -> Any:
        finite = [option for option in options if not self._is_open(option)] or list(options)
        choice = self._choose(path, len(finite))
        self.variant_sites.add(path)
        # What stands inside an option is another site than the choice of it.
        option = finite[choice]
        inner = f"{path}|{choice}" if isinstance(option, PlainNode) else path
        return self._value(option, inner, scope)

    def _optional(self, inner: Node, path: str, scope: str) -> Any:
        if self._is_open(inner):
            return None
        self.variant_sites.add(f"{path}?")
        if self._choose(f"{path}?", 2) == 1:
            return None
        return self._value(inner, path, scope)

    def _length(self, inner: Node, path: str) -> range:
        if self._is_open(inner):
            return range(0)
        return range(LENGTHS[self._choose(f"{path}[]", len(LENGTHS))])
