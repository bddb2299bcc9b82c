"""Where a class statement stands, and what names in its annotations mean there."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from typing import get_type_hints as typing_hints

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

# Modules whose functions may stand between a class statement and ours: those of the mechanism,
# metaclasses of the standard library, and `types.new_class`.
_BETWEEN = ("firebrick.opset", "abc", "types")


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


@dataclass(frozen=True, slots=True)
class Origin:
    """Which definition made a class: the same cell or module run again has the same one."""

    module: str
    qualname: str
    line: int


def defining_namespace() -> Namespace:
    """The names visible in the frame whose `class` statement is being executed."""
    frame = _defining_frame()
    if frame is None:
        return Namespace({}, {})
    # Names of a module are looked up when they are needed, since later ones count too.
    is_module = frame.f_locals is frame.f_globals
    return Namespace(frame.f_globals, {} if is_module else dict(frame.f_locals))


def origin_of(cls: type[Any]) -> Origin:
    """Module, qualified name and line of the class whose statement is being executed."""
    known: int | None = cls.__dict__.get("__firstlineno__")  # Python 3.13, and `with_origin`
    return Origin(cls.__module__, cls.__qualname__, _line() if known is None else known)


def _line() -> int:
    frame = _defining_frame()
    return 0 if frame is None else frame.f_lineno


def with_origin(function: Any) -> dict[str, Any]:
    """What a class body has to hold for the class to originate where `function` does."""
    code = inspect.unwrap(function).__code__
    return {
        "__module__": function.__module__,
        "__qualname__": function.__qualname__,
        "__firstlineno__": code.co_firstlineno,
    }


def resolve(annotation: object, namespace: Namespace, extra: Mapping[str, Any]) -> Any:
    """The object that an annotation means; `Unresolved` if evaluating it fails."""
    holder = type("Holder", (), {"__annotations__": {"value": annotation}})
    local = {**namespace.locals, **extra}
    try:
        hints = typing_hints(holder, dict(namespace.globals), local, include_extras=True)
    except Exception as reason:  # whatever evaluating a user's string raises is the finding
        return Unresolved(str(annotation), reason)
    return hints["value"]


def _defining_frame() -> FrameType | None:
    frame = inspect.currentframe()
    while frame is not None and _is_between(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


def _is_between(module: str) -> bool:
    return module in _BETWEEN or module.startswith("firebrick.opset.")
