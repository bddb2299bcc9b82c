"""Walking values along nodes: visiting leaves, rebuilding structures with other leaves.

`leaves` interprets a node and gives every leaf its path; it serves errors and rare calls.
`collect` and `convert` are source text made once per node or struct and serve every call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

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

Collect = Callable[[Any, list[Any], list[Any], type], None]
Convert = Callable[[Any, Callable[[Any, Node], Any]], Any]


class UnusualValueError(Exception):
    """Inside the package only: a value that generated code leaves to the interpreting walk."""


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """A place where a tensor is due: its path, its node and the value found there."""

    path: str
    node: TensorNode | UnionNode
    value: Any
    scope: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Misfit:
    """A value that has not the structure its node asks for."""

    path: str
    expected: str
    value: Any


def leaves(value: Any, node: Node, path: str, scope: str = "") -> Iterator[Leaf | Misfit]:
    """Every tensor place of a value, in declaration order, depth first.

    `scope` is the path of the struct around, in which names of dimensions are looked up.
    """
    match node:
        case TensorNode():
            yield Leaf(path, node, value, scope)
        case OptionalNode(inner):
            if value is not None:
                yield from leaves(value, inner, path, scope)
        case StructNode(struct):
            if isinstance(value, struct):
                yield from _field_leaves(value, path)
            else:
                yield Misfit(path, f"a `{struct.__name__}`", value)
        case UnionNode():
            yield from _union_leaves(value, node, path, scope)
        case ListNode() | TupleNode() | DictNode():
            for name, item, child in _items(value, node):
                if child is None:
                    yield Misfit(path, name, value)
                else:
                    yield from leaves(item, child, f"{path}.{name}", scope)
        case _:
            return


def _field_leaves(value: Any, path: str) -> Iterator[Leaf | Misfit]:
    for name, child in type(value).__nodes__().items():
        yield from leaves(getattr(value, name), child, f"{path}.{name}", path)


def _union_leaves(
    value: Any, node: UnionNode, path: str, scope: str
) -> Iterator[Leaf | Misfit]:
    structs = tuple(o.struct for o in node.options if isinstance(o, StructNode))
    if isinstance(value, structs):
        yield from _field_leaves(value, path)
    elif any(isinstance(option, TensorNode) for option in node.options):
        yield Leaf(path, node, value, scope)
    elif not any(isinstance(option, PlainNode) for option in node.options):
        yield Misfit(path, "one of " + ", ".join(f"`{s.__name__}`" for s in structs), value)


def _items(
    value: Any, node: ListNode | TupleNode | DictNode
) -> Iterator[tuple[str, Any, Node | None]]:
    """Name, value and node of every item; a node of None says what was expected instead."""
    match node:
        case DictNode(inner):
            if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
                yield "a dict with str keys", value, None
                return
            yield from ((key, item, inner) for key, item in value.items())
        case TupleNode(items, variadic=False):
            if not isinstance(value, tuple | list) or len(value) != len(items):
                yield f"a tuple of {len(items)}", value, None
                return
            pairs = zip(value, items, strict=True)
            yield from ((str(i), item, child) for i, (item, child) in enumerate(pairs))
        case TupleNode((inner,)) | ListNode(inner):
            if not isinstance(value, tuple | list):
                yield "a list", value, None
                return
            yield from ((str(i), item, inner) for i, item in enumerate(value))
        case _:
            return


class Source:
    """Source text of one generated function, with the constants that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self._variables = 0

    def fresh(self) -> str:
        """A variable that the text does not use yet."""
        self._variables += 1
        return f"v_{self._variables}"

    def constant(self, value: Any, stem: str) -> str:
        """A name for `value` in the generated text."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"{stem}_{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, depth: int, line: str) -> None:
        """Appends a line, indented by `depth` steps."""
        self.lines.append("    " * depth + line)

    def compile(self, name: str, label: str) -> Any:
        """The function `name` that the text defines; `label` stands in tracebacks."""
        namespace = dict(self.names)
        exec(compile("\n".join(self.lines), f"<firebrick {label}>", "exec"), namespace)
        return namespace[name]


def convert_expression(node: Node, value: str, source: Source) -> str:
    """An expression that rebuilds `value` with every leaf replaced by `f(leaf, node)`."""
    if not holds_tensors(node):
        return value
    fresh = source.fresh()
    match node:
        case TensorNode():
            return f"f({value}, {source.constant(node, 'node')})"
        case StructNode():
            return f"{source.constant(convert_struct, 'convert_struct')}({value}, f)"
        case UnionNode():
            convert = source.constant(convert_union, "convert_union")
            return f"{convert}({value}, f, {source.constant(node, 'node')})"
        case OptionalNode(inner):
            inside = convert_expression(inner, fresh, source)
            return f"(None if ({fresh} := {value}) is None else {inside})"
        case ListNode(inner):
            return f"[{convert_expression(inner, fresh, source)} for {fresh} in {value}]"
        case DictNode(inner):
            inside = convert_expression(inner, fresh, source)
            return f"{{k{fresh}: {inside} for k{fresh}, {fresh} in {value}.items()}}"
        case TupleNode(items, variadic=True):
            inside = convert_expression(items[0], fresh, source)
            return f"tuple([{inside} for {fresh} in {value}])"
        case TupleNode(items):
            parts = (convert_expression(n, f"{value}[{i}]", source) for i, n in enumerate(items))
            return f"({', '.join(parts)},)"
        case PlainNode() | DeviceNode():
            return value


def compile_convert(node: Node, label: str) -> Convert:
    """`convert(value, f)` for values of one node."""
    source = Source()
    expression = convert_expression(node, "value", source)
    source.add(0, "def convert(value, f):")
    source.add(1, f"return {expression}")
    return source.compile("convert", label)


def collect_lines(node: Node, value: str, source: Source, depth: int) -> None:
    """Appends statements that collect the leaves of `value`, or raise `UnusualValueError`.

    They name `leaves`, `marks` (what beside leaves tells one structure from another) and
    `tensor_type`.
    """
    unusual = source.constant(UnusualValueError, "Unusual")
    fresh = source.fresh()
    match node:
        case TensorNode(kind):
            source.add(depth, f"{fresh} = {value}")
            source.add(depth, f"if type({fresh}) is not tensor_type or {fresh}.kind != {kind!r}:")
            source.add(depth + 1, f"raise {unusual}")
            source.add(depth, f"leaves.append({fresh})")
        case StructNode() | UnionNode():
            collect = source.constant(collect_struct, "collect_struct")
            known = source.constant(node, "node")
            source.add(depth, f"{collect}({value}, leaves, marks, tensor_type, {known})")
        case OptionalNode(inner):
            source.add(depth, f"{fresh} = {value}")
            source.add(depth, f"marks.append({fresh} is None)")
            source.add(depth, f"if {fresh} is not None:")
            collect_lines(inner, fresh, source, depth + 1)
        case ListNode(inner) | TupleNode((inner,), variadic=True):
            source.add(depth, f"if type({value}) is not list and type({value}) is not tuple:")
            source.add(depth + 1, f"raise {unusual}")
            source.add(depth, f"marks.append(len({value}))")
            source.add(depth, f"for {fresh} in {value}:")
            collect_lines(inner, fresh, source, depth + 1)
        case DictNode(inner):
            source.add(depth, f"if type({value}) is not dict:")
            source.add(depth + 1, f"raise {unusual}")
            source.add(depth, f"marks.append(tuple({value}))")
            source.add(depth, f"for {fresh} in {value}.values():")
            collect_lines(inner, fresh, source, depth + 1)
        case TupleNode(items):
            source.add(depth, f"if type({value}) is not tuple or len({value}) != {len(items)}:")
            source.add(depth + 1, f"raise {unusual}")
            for index, item in enumerate(items):
                collect_lines(item, f"{value}[{index}]", source, depth)
        case PlainNode() | DeviceNode():
            source.add(depth, "pass")


_converters: dict[type, Convert] = {}
_collectors: dict[type, Collect] = {}


def convert_struct(value: Any, f: Callable[[Any, Node], Any]) -> Any:
    """Rebuilds a struct without calling `__init__`, each leaf replaced by `f(leaf, node)`."""
    converter = _converters.get(type(value))
    if converter is None:
        converter = _converters[type(value)] = _compile_struct_convert(type(value))
    return converter(value, f)


def convert_union(value: Any, f: Callable[[Any, Node], Any], node: UnionNode) -> Any:
    """As `convert_struct` where a struct is active; else the leaf itself goes to `f`."""
    return convert_struct(value, f) if hasattr(type(value), "__nodes__") else f(value, node)


def _compile_struct_convert(struct: Any) -> Convert:
    source = Source()
    nodes: dict[str, Node] = struct.__nodes__()
    source.add(0, "def convert(value, f):")
    if any(holds_tensors(node) for node in nodes.values()):
        new = source.constant(object.__new__, "new")
        source.add(1, f"struct = {new}({source.constant(struct, 'struct')})")
        for name, node in nodes.items():
            setter = source.constant(getattr(struct, name).__set__, f"set_{name}")
            source.add(1, f"{setter}(struct, {convert_expression(node, f'value.{name}', source)})")
        source.add(1, "return struct")
    else:
        source.add(1, "return value")
    return source.compile("convert", f"struct {struct.__name__}")


def collect_struct(
    value: Any, found: list[Any], marks: list[Any], tensor_type: type, node: StructNode | UnionNode
) -> None:
    """Collects the leaves of a struct, or of what is active in a union."""
    kind = type(value)
    marks.append(kind)
    options = (node,) if isinstance(node, StructNode) else node.options
    if kind is tensor_type:
        if not any(isinstance(o, TensorNode) and o.kind == value.kind for o in options):
            raise UnusualValueError
        found.append(value)
        return
    if not any(isinstance(o, StructNode) and issubclass(kind, o.struct) for o in options):
        if hasattr(kind, "__nodes__") or not any(isinstance(o, PlainNode) for o in options):
            raise UnusualValueError
        return
    collector = _collectors.get(kind)
    if collector is None:
        collector = _collectors[kind] = _compile_struct_collect(kind)
    collector(value, found, marks, tensor_type)


def _compile_struct_collect(struct: Any) -> Collect:
    source = Source()
    source.add(0, "def collect(value, leaves, marks, tensor_type):")
    source.add(1, "pass")
    for name, node in struct.__nodes__().items():
        if holds_tensors(node):
            collect_lines(node, f"value.{name}", source, 1)
    return source.compile("collect", f"struct {struct.__name__}")
