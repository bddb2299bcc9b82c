"""`ExtensionType`: structs of tensors, as frozen slotted dataclasses with generated traversal.

`dataclass(slots=True)` would build a second class, which breaks generics and zero-argument
`super()`; so the metaclass writes `__slots__` and borrows `__init__`, `__repr__` and the field
table from a dataclass made of the same fields.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, ClassVar, Generic, cast

from typing_extensions import dataclass_transform

from firebrick.core import TensorSpec
from firebrick.errors import ExtensionTypeError, SignatureError
from firebrick.opset.annotations import Namespace, defining_namespace, node_of, resolve
from firebrick.opset.kinds import P
from firebrick.opset.nodes import Node, StructNode
from firebrick.opset.traversal import leaves

_BORROWED = ("__init__", "__repr__", "__match_args__", "__dataclass_fields__", "__dataclass_params__")
_lock = threading.RLock()


class ExtensionMeta(type):
    """Makes a class statement with annotated fields into a struct of tensors."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> ExtensionMeta:
        """Adds slots and the dataclass's methods to the namespace before the class exists."""
        annotations = own_annotations(namespace)
        template = _template(name, bases, annotations, namespace)
        for field in annotations:
            namespace.pop(field, None)  # defaults live in __init__; a slot may not have one
        namespace["__slots__"] = tuple(annotations)
        for attribute in _BORROWED:
            namespace.setdefault(attribute, getattr(template, attribute))
        namespace["__template__"] = template
        return super().__new__(mcs, name, bases, namespace, **options)


def own_annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    """Annotations of the fields that a class body declares, `ClassVar`s left out."""
    found = namespace.get("__annotations__")
    if found is None and "__annotate_func__" in namespace:  # Python 3.14: PEP 649
        import annotationlib  # pyright: ignore[reportMissingImports] - newer than 3.11

        found = annotationlib.call_annotate_function(
            namespace["__annotate_func__"], annotationlib.Format.FORWARDREF
        )
    return {n: a for n, a in (found or {}).items() if "ClassVar" not in str(a)}


def _template(
    name: str, bases: tuple[type, ...], annotations: dict[str, Any], namespace: dict[str, Any]
) -> Any:
    templates = tuple(b.__dict__["__template__"] for b in bases if "__template__" in b.__dict__)
    body = {field: namespace[field] for field in annotations if field in namespace}
    body["__annotations__"] = annotations
    body["__module__"] = namespace.get("__module__", __name__)
    plain = type(name, templates or (object,), body)
    try:
        return dataclasses.dataclass(frozen=True, eq=False, repr=True)(plain)
    except (TypeError, ValueError) as reason:
        raise ExtensionTypeError(f"`{name}` cannot be a struct: {reason}.") from None


@dataclass_transform(frozen_default=True)
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
        mine, theirs = _fields(self), _fields(other)
        return _holds_specs(self) and _holds_specs(other) and mine == theirs

    def __hash__(self) -> int:
        return hash((type(self), *_fields(self))) if _holds_specs(self) else id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), _fields(self))

    def __copy__(self) -> Any:
        return self


class _ForwardReferenceError(SignatureError):
    """A field names something that does not exist yet."""


def _read_fields(cls: type[ExtensionType[Any]]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for base in reversed(cls.__mro__):
        namespace = base.__dict__.get("__namespace__")
        slots = base.__dict__.get("__slots__", ())
        if namespace is None or not slots:
            continue
        template = base.__dict__["__template__"]
        for name in slots:
            where = f"field `{name}` of struct `{cls.__name__}`"
            annotation = resolve(
                template.__dict__["__annotations__"][name], namespace, {base.__name__: base}
            )
            reason = getattr(annotation, "reason", None)
            if isinstance(reason, NameError):
                raise _ForwardReferenceError(f"{where}: {reason}.")
            nodes[name] = _field_node(annotation, where)
    return nodes


def _field_node(annotation: Any, where: str) -> Node:
    try:
        return node_of(annotation, where=where)
    except SignatureError as reason:
        raise ExtensionTypeError(str(reason)) from None


def _fields(struct: Any) -> tuple[Any, ...]:
    return tuple(getattr(struct, name) for name in struct.__dataclass_fields__)


def _holds_specs(struct: Any) -> bool:
    """Whether every tensor of the struct is a spec, so that values can be compared."""
    found = leaves(struct, StructNode(type(struct)), "")
    return all(isinstance(leaf.value, TensorSpec) for leaf in found)


def _restore(cls: type[Any], values: tuple[Any, ...]) -> Any:
    struct = object.__new__(cls)
    for name, value in zip(cls.__dataclass_fields__, values, strict=True):
        object.__setattr__(struct, name, value)
    return struct
