"""Source text that walks values along nodes, made once per node or struct.

`convert` rebuilds a structure with its leaves replaced, `collect` gathers the leaves of a call.
Both prove as they go that a value has the structure of its node, and leave anything unusual to
`leaves.py`, which names what is wrong.

In the text, names that begin with `@` belong to it. They get a prefix that no parameter of the
operation has, and builtins are among them: parameters may have any name, `type`, `f` and `_f_` too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from firebrick.opset.bridge import is_user_tensor
from firebrick.opset.leaves import has_str_keys
from firebrick.opset.nodes import (
    DeviceNode,
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    Struct,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    holds_tensors,
    struct_fields,
    struct_options,
    takes_plain,
    tensor_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from firebrick.core import DispatchTensor, Kind

Replace: TypeAlias = Callable[[Any, Node], Any]
Convert: TypeAlias = Callable[[Any, Replace], Any]
Collect: TypeAlias = Callable[[Any, list[Any], list[Any], type[Any]], None]


class UnusualValueError(Exception):
    """Inside the package only: a value that generated code leaves to the interpreting walk."""


class Source:
    """Source text of one generated function, with the constants that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self._taken: set[str] = set()
        self._variables = 0
        self.define(type=type, len=len, tuple=tuple, list=list, dict=dict, any=any)

    def avoid(self, names: Iterable[str]) -> None:
        """Names that belong to somebody else, such as parameters."""
        self._taken.update(names)

    def define(self, **values: Any) -> None:
        """Constants of the text: `define(slow=f)` is called as `@slow(...)`."""
        self.names.update({f"@{name}": value for name, value in values.items()})

    def fresh(self) -> str:
        """A variable that the text does not use yet."""
        self._variables += 1
        return f"@v{self._variables}"

    def constant(self, value: Any, stem: str) -> str:
        """A name for `value` in the text."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"@{stem}_{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, depth: int, line: str) -> None:
        """Appends a line, indented by `depth` steps."""
        self.lines.append("    " * depth + line)

    def compile(self, name: str, label: str) -> Any:
        """The function `name` that the text defines; `label` stands in tracebacks."""
        prefix = "_f_"
        while any(taken.startswith(prefix) for taken in self._taken):
            prefix = f"_{prefix}"
        namespace = {known.replace("@", prefix): value for known, value in self.names.items()}
        text = "\n".join(self.lines).replace("@", prefix)
        exec(compile(text, f"<firebrick {label}>", "exec"), namespace)
        return namespace[name.replace("@", prefix)]


# ---- convert ----------------------------------------------------------------------------------


def convert_expression(node: Node, value: str, source: Source) -> str:
    """An expression that rebuilds `value`, which is cheap to read, with leaves `@f(leaf, node)`.

    It raises `UnusualValueError` for another structure than the node's.
    """
    if not holds_tensors(node):
        return value
    match node:
        case TensorNode():
            return f"@f({value}, {source.constant(node, 'node')})"
        case StructNode(struct):
            convert = source.constant(convert_struct, "convert_struct")
            return f"{convert}({value}, @f, {source.constant(struct, 'struct')})"
        case UnionNode():
            convert = source.constant(convert_union, "convert_union")
            structs = source.constant(struct_options(node), "structs")
            return f"{convert}({value}, @f, {source.constant(node, 'node')}, {structs})"
        case OptionalNode(inner):
            return f"(None if {value} is None else {convert_expression(inner, value, source)})"
        case TupleNode(variadic=False):
            return _fixed_tuple(node, value, source)
        case ListNode() | TupleNode() | DictNode():
            return _open_container(node, value, source)
        case PlainNode() | DeviceNode():
            return value


def _fixed_tuple(node: TupleNode, value: str, source: Source) -> str:
    parts = [convert_expression(n, f"{value}[{i}]", source) for i, n in enumerate(node.items)]
    again = source.constant(partial(_convert_irregular, node), "irregular")
    fits = f"@type({value}) is @tuple and @len({value}) == {len(parts)}"
    return f"(({', '.join(parts)},) if {fits} else {again}({value}, @f))"


def _convert_irregular(node: TupleNode, value: Any, replace: Replace) -> tuple[Any, ...]:
    """As the text for `node`, for a list or a subclass of tuple of the right length."""
    given = _list_items(value)
    if len(given) != len(node.items):
        raise UnusualValueError
    return compile_convert(node, "tuple")(tuple(given), replace)


def _open_container(node: ListNode | TupleNode | DictNode, value: str, source: Source) -> str:
    """A list, a variadic tuple or a dict."""
    fresh = source.fresh()
    if isinstance(node, DictNode):
        inside = convert_expression(node.inner, fresh, source)
        items = source.constant(_dict_items, "items")
        return f"{{@k{fresh[1:]}: {inside} for @k{fresh[1:]}, {fresh} in {items}({value})}}"
    inner = node.inner if isinstance(node, ListNode) else node.items[0]
    inside = convert_expression(inner, fresh, source)
    items = source.constant(_list_items, "items")
    given = f"({value} if @type({value}) is @list else {items}({value}))"
    rebuilt = f"[{inside} for {fresh} in {given}]"
    return rebuilt if isinstance(node, ListNode) else f"@tuple({rebuilt})"


def _list_items(value: object) -> Sequence[Any]:
    if not isinstance(value, tuple | list):
        raise UnusualValueError
    return cast("Sequence[Any]", value)


def _dict_items(value: Any) -> Any:
    if not has_str_keys(value):
        raise UnusualValueError
    return value.items()


def compile_convert(node: Node, label: str) -> Convert:
    """`convert(value, f)` for values of one node; `UnusualValueError` for other structures."""
    source = Source()
    expression = convert_expression(node, "@value", source)
    source.add(0, "def @convert(@value, @f):")
    source.add(1, f"return {expression}")
    return source.compile("@convert", label)


_converters: dict[type[object], Convert] = {}


def convert_struct(value: object, replace: Replace, struct: type[Struct]) -> Any:
    """Rebuilds a struct without calling `__init__`, each leaf replaced by `replace(leaf, node)`."""
    if not isinstance(value, struct):
        raise UnusualValueError
    converter = _converters.get(type(value)) or _struct_converter(type(value))
    return converter(value, replace)


def convert_union(
    value: object, replace: Replace, node: UnionNode, structs: tuple[type[Struct], ...]
) -> Any:
    """As `convert_struct` where one of `structs` is active; else `replace` has the value."""
    if isinstance(value, structs):
        converter = _converters.get(type(value)) or _struct_converter(type(value))
        return converter(value, replace)
    if struct_fields(value) is not None:
        raise UnusualValueError
    return replace(value, node)


def _struct_converter(struct: type[Struct]) -> Convert:
    source = Source()
    nodes = struct.__nodes__()
    source.add(0, "def @convert(@value, @f):")
    if any(holds_tensors(node) for node in nodes.values()):
        new = source.constant(object.__new__, "new")
        source.add(1, f"@struct = {new}({source.constant(struct, 'class')})")
        for name, node in nodes.items():
            setter = source.constant(getattr(struct, name).__set__, "set")
            converted = convert_expression(node, f"@value.{name}", source)
            source.add(1, f"{setter}(@struct, {converted})")
        source.add(1, "return @struct")
    else:
        source.add(1, "return @value")
    converter: Convert = source.compile("@convert", f"struct {struct.__name__}")
    _converters[struct] = converter
    return converter


# ---- collect ----------------------------------------------------------------------------------


def collect_lines(node: Node, value: str, source: Source, depth: int) -> None:
    """Appends statements that collect the leaves of `value`, or raise `UnusualValueError`.

    They name `@leaves`, `@marks` (what beside leaves tells one structure from another) and
    `@tensor`, the type of leaves.
    """
    unusual = f"raise {source.constant(UnusualValueError, 'unusual')}"
    fresh = source.fresh()
    match node:
        case TensorNode(kind):
            source.add(depth, f"{fresh} = {value}")
            source.add(depth, f"if @type({fresh}) is not @tensor or {fresh}.kind != {kind!r}:")
            source.add(depth + 1, unusual)
            source.add(depth, f"@leaves.append({fresh})")
        case StructNode() | UnionNode():
            collect = source.constant(collect_variant, "collect_variant")
            known = source.constant(_variants(node), "variants")
            source.add(depth, f"{collect}({value}, @leaves, @marks, @tensor, {known})")
        case OptionalNode(inner):
            source.add(depth, f"{fresh} = {value}")
            source.add(depth, f"@marks.append({fresh} is None)")
            source.add(depth, f"if {fresh} is not None:")
            collect_lines(inner, fresh, source, depth + 1)
        case TupleNode(items, variadic=False):
            wrong = f"@type({value}) is not @tuple or @len({value}) != {len(items)}"
            source.add(depth, f"if {wrong}:")
            source.add(depth + 1, unusual)
            for index, item in enumerate(items):
                collect_lines(item, f"{value}[{index}]", source, depth)
        case PlainNode() | DeviceNode():
            source.add(depth, "pass")
        case _:
            _collect_open_container(node, value, source, depth)


def _collect_open_container(
    node: ListNode | TupleNode | DictNode, value: str, source: Source, depth: int
) -> None:
    unusual = f"raise {source.constant(UnusualValueError, 'unusual')}"
    fresh = source.fresh()
    if isinstance(node, DictNode):
        keyed = source.constant(has_str_keys, "keyed")
        source.add(depth, f"if @type({value}) is not @dict or not {keyed}({value}):")
        source.add(depth + 1, unusual)
        source.add(depth, f"@marks.append(@tuple({value}))")
        source.add(depth, f"for {fresh} in {value}.values():")
        collect_lines(node.inner, fresh, source, depth + 1)
        return
    inner = node.inner if isinstance(node, ListNode) else node.items[0]
    source.add(depth, f"if @type({value}) is not @list and @type({value}) is not @tuple:")
    source.add(depth + 1, unusual)
    source.add(depth, f"@marks.append(@len({value}))")
    source.add(depth, f"for {fresh} in {value}:")
    collect_lines(inner, fresh, source, depth + 1)


class Variants(NamedTuple):
    """What may stand in the place of a struct or union."""

    structs: tuple[type[Struct], ...]
    kinds: frozenset[Kind]
    takes_plain: bool


def _variants(node: StructNode | UnionNode) -> Variants:
    kinds: frozenset[Kind] = frozenset(option.kind for option in tensor_options(node))
    return Variants(struct_options(node), kinds, takes_plain(node))


_collectors: dict[type[object], Collect] = {}


def collect_variant(
    value: object,
    found: list[DispatchTensor],
    marks: list[Any],
    tensor: type[DispatchTensor],
    variants: Variants,
) -> None:
    """Collects the leaves of a struct, or of what is active in a union."""
    marks.append(type(value))
    if isinstance(value, variants.structs):
        collector = _collectors.get(type(value)) or _struct_collector(type(value))
        collector(value, found, marks, tensor)
    elif type(value) is tensor:
        if value.kind not in variants.kinds:
            raise UnusualValueError
        found.append(value)
    elif not variants.takes_plain or struct_fields(value) is not None or is_user_tensor(value):
        raise UnusualValueError


def _struct_collector(struct: type[Struct]) -> Collect:
    source = Source()
    source.add(0, "def @collect(@value, @leaves, @marks, @tensor):")
    source.add(1, "pass")
    for name, node in struct.__nodes__().items():
        if holds_tensors(node):
            collect_lines(node, f"@value.{name}", source, 1)
    collector: Collect = source.compile("@collect", f"struct {struct.__name__}")
    _collectors[struct] = collector
    return collector
