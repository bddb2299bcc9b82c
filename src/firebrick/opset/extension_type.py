"""`ExtensionType`: structs of tensors, as frozen slotted dataclasses with generated traversal.

`dataclass(slots=True)` would build a second class, which breaks generics and zero-argument
`super()`; so the metaclass writes `__slots__` and borrows `__init__`, `__repr__` and the field
table from a dataclass made of the same fields, the template.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

from typing_extensions import dataclass_transform

from firebrick.core import TensorSpec
from firebrick.errors import ExtensionTypeError, SignatureError
from firebrick.opset.annotations import node_of
from firebrick.opset.dims import unbound_name
from firebrick.opset.kinds import P
from firebrick.opset.leaves import leaves
from firebrick.opset.metadata import scoped_dims
from firebrick.opset.namespaces import Namespace, Unresolved, defining_namespace, resolve
from firebrick.opset.nodes import StructNode, TupleNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from firebrick.opset.nodes import Node

_BORROWED = (
    "__init__",
    "__repr__",
    "__match_args__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__replace__",  # Python 3.13
)
_lock = threading.RLock()


class ExtensionMeta(type):
    """Makes a class statement with annotated fields into a struct of tensors."""

    __template__: type[Any]
    __own_fields__: Mapping[str, Any]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> ExtensionMeta:
        """Adds slots and the dataclass's methods to the namespace before the class exists."""
        templates = tuple(b.__template__ for b in bases if isinstance(b, ExtensionMeta))
        inherited = {f.name for template in templates for f in dataclasses.fields(template)}
        annotations = _annotations(namespace)
        template = _template(name, templates, annotations, namespace)
        own = {f.name: annotations[f.name] for f in _fields_of(template) if f.name in annotations}
        for attribute in namespace:
            if attribute in inherited - set(own):
                raise ExtensionTypeError(
                    f"`{name}` sets `{attribute}`, which is a field of its base; declare it again "
                    "with an annotation to give it another default."
                )
        for field in own:
            namespace.pop(field, None)  # defaults live in __init__; a slot may not have one
        namespace["__slots__"] = tuple(field for field in own if field not in inherited)
        for attribute in _BORROWED:
            if hasattr(template, attribute):
                namespace.setdefault(attribute, getattr(template, attribute))
        namespace["__template__"] = template
        namespace["__own_fields__"] = own
        try:
            return super().__new__(mcs, name, bases, namespace, **options)
        except TypeError as reason:
            if "lay-out conflict" not in str(reason):
                raise
            raise ExtensionTypeError(
                f"`{name}` has two bases with fields; a struct inherits the fields of one base, "
                "others become fields of their own."
            ) from None


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a class body."""
    found: dict[str, Any] | None = namespace.get("__annotations__")
    if found is None and "__annotate_func__" in namespace:  # Python 3.14: PEP 649
        library = import_module("annotationlib")
        found = library.call_annotate_function(
            namespace["__annotate_func__"], library.Format.FORWARDREF
        )
    return dict(found or {})


def _template(
    name: str,
    templates: tuple[type[Any], ...],
    annotations: dict[str, Any],
    namespace: dict[str, Any],
) -> type[Any]:
    body = {field: namespace[field] for field in annotations if field in namespace}
    if "__post_init__" in namespace:
        body["__post_init__"] = namespace["__post_init__"]
    body["__annotations__"] = annotations
    module = namespace.get("__module__", __name__)
    # Dataclasses look `ClassVar` up in the module; what `exec` runs may have none.
    body["__module__"] = module if module in sys.modules else __name__
    plain = type(name, templates or (object,), body)
    try:
        return dataclasses.dataclass(frozen=True, eq=False, repr=True)(plain)
    except (TypeError, ValueError) as reason:
        raise ExtensionTypeError(f"`{name}` cannot be a struct: {reason}.") from None


def _fields_of(struct: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(struct)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class ExtensionType(Generic[P], metaclass=ExtensionMeta):
    """A struct of tensors: a frozen dataclass with slots.

    Fields: tensors, other extension types, `Optional`, `list`, `tuple` and `dict[str, ...]` of
    those; any other field passes through unchanged. `Boxes[TensorSpec]` is its fusion metadata.
    A union of extension types is a tagged union. Two structs are equal when they are the same
    object, or of one class with equal fields whose tensors are all `TensorSpec`s.

    Raises: `ExtensionTypeError` for a class that is generic in anything but `P`, or a tensor
    annotation without `P`.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    __namespace__: ClassVar[Namespace] = Namespace({}, {})
    __table__: ClassVar[dict[str, Node] | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        parameters = cast("tuple[Any, ...]", getattr(cls, "__parameters__", ()))
        if parameters != (P,):
            found = ", ".join(p.__name__ for p in parameters) or "nothing"
            raise ExtensionTypeError(
                f"struct `{cls.__name__}` is generic in {found}; write "
                f"`class {cls.__name__}(ExtensionType[P])`: the tensor type and nothing else."
            )
        cls.__namespace__ = defining_namespace()
        cls.__table__ = None
        try:
            cls.__nodes__()
        except _ForwardReferenceError:
            return  # names a struct that is defined later: read at first use

    @classmethod
    def __nodes__(cls) -> dict[str, Node]:
        """The node of every field, base fields first."""
        table = cls.__table__
        if table is None:
            with _lock:
                table = cls.__table__ = _read_fields(cls)
                try:
                    _check_fields(cls, table)
                except SignatureError:
                    cls.__table__ = None
                    raise
        return table

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(
            f"a `{type(self).__name__}` is immutable; build a new one instead of setting `{name}`."
        )

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(
            f"a `{type(self).__name__}` is immutable; `{name}` cannot be deleted."
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        theirs = cast("ExtensionType[Any]", other)
        holds_specs = _holds_specs(self) and _holds_specs(theirs)
        return holds_specs and _values(self) == _values(theirs)

    def __hash__(self) -> int:
        return hash((type(self), *_values(self))) if _holds_specs(self) else id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), _values(self))

    def __copy__(self) -> Any:
        return self


class _ForwardReferenceError(SignatureError):
    """A field names something that does not exist yet."""


def _read_fields(cls: type[ExtensionType[Any]]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for base in reversed(cls.__mro__):
        if not issubclass(base, ExtensionType):
            continue
        for name, annotation in base.__own_fields__.items():
            where = f"field `{name}` of struct `{cls.__name__}`"
            found = resolve(annotation, base.__namespace__, {base.__name__: base})
            if isinstance(found, Unresolved) and isinstance(found.reason, NameError):
                raise _ForwardReferenceError(f"{where}: {found.reason}.")
            nodes[name] = _field_node(found, where)
    return nodes


def _field_node(annotation: Any, where: str) -> Node:
    try:
        return node_of(annotation, where=where)
    except SignatureError as reason:
        raise ExtensionTypeError(str(reason)) from None


def _check_fields(cls: type[ExtensionType[Any]], nodes: Mapping[str, Node]) -> None:
    """`ExtensionTypeError` for dimensions that no field binds, and for a struct without an end."""
    unbound = unbound_name(dims for node in nodes.values() for dims in scoped_dims(node))
    if unbound is not None:
        raise ExtensionTypeError(
            f"struct `{cls.__name__}` uses the dimension `{unbound}`, which no field of it binds; "
            "names of dimensions inside a struct are its own."
        )
    required = (r for node in nodes.values() for r in _required_structs(node, set()))
    if any(struct is cls for struct in required):
        raise ExtensionTypeError(
            f"every `{cls.__name__}` holds another `{cls.__name__}`, so none could be built; make "
            "the field Optional, a list or a union."
        )


def _required_structs(node: Node, seen: set[type]) -> Iterator[type]:
    """The structs that every value of a node holds."""
    match node:
        case StructNode(struct):
            yield struct
            parts = struct.__nodes__().values() if struct not in seen else ()
            seen.add(struct)
        case TupleNode(items, variadic=False):
            parts = items
        case _:
            return
    for part in parts:
        yield from _required_structs(part, seen)


def _values(struct: Any) -> tuple[Any, ...]:
    return tuple(getattr(struct, field.name) for field in _fields_of(struct))


def _holds_specs(struct: ExtensionType[Any]) -> bool:
    """Whether every tensor of the struct is a spec, so that values can be compared."""
    found = leaves(struct, StructNode(type(struct)), "")
    return all(isinstance(leaf.value, TensorSpec) for leaf in found)


def _restore(cls: type[Any], values: tuple[Any, ...]) -> Any:
    struct = object.__new__(cls)
    for field, value in zip(_fields_of(cls), values, strict=True):
        object.__setattr__(struct, field.name, value)
    return struct
