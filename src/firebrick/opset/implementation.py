"""Implementations of op sets: checked against the declaration, registered by backend class."""

from __future__ import annotations

import difflib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from firebrick.errors import (
    DuplicateImplementationError,
    GradientRuleError,
    ImplementationError,
    SelectorError,
)
from firebrick.opset.annotations import Namespace, Unresolved, resolve
from firebrick.opset.gradient import GradientRule, check_rule
from firebrick.opset.nodes import PlainNode, holds_tensors
from firebrick.opset.signature import Operation, Parameter, describe

if TYPE_CHECKING:
    from firebrick.opset.selectors import Selector

Origin = tuple[str, str, int]


class Implementations:
    """The implementations of one op set by backend class; replaced whole, never half."""

    def __init__(self) -> None:
        self._by_selector: dict[Selector, type[Any]] = {}
        self._origins: dict[Selector, Origin] = {}
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []
        self.replaceable: set[type[Any]] = set()
        self.generation = 0

    def on_change(self, listener: Callable[[], None]) -> None:
        """Calls `listener` after every registration, so that caches can be emptied."""
        with self._lock:
            self._listeners.append(listener)

    def register(
        self, declaration: type[Any], cls: type[Any], selector: Selector, line: int
    ) -> None:
        """Adds an implementation; the same definition run again replaces the first.

        `DuplicateImplementationError` names the one that is there.
        """
        _check_listed(declaration, cls, selector)
        origin = (cls.__module__, cls.__qualname__, line)
        with self._lock:
            known = self._by_selector.get(selector)
            if known is not None and not self._may_replace(known, self._origins[selector], origin):
                module, name, first = self._origins[selector]
                raise DuplicateImplementationError(
                    f"`{cls.__name__}` implements `{declaration.__name__}` on "
                    f"`{selector.__name__}`, which `{name}` (module {module}, line {first}) does "
                    "already; keep one of them."
                )
            self._by_selector[selector] = cls
            self._origins[selector] = origin
            self.generation += 1
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def _may_replace(self, known: type[Any], old: Origin, new: Origin) -> bool:
        if known in self.replaceable:
            return True
        return old[:2] == new[:2] and (old[2] == new[2] or new[0] == "__main__")

    def find(self, backend_class: type) -> type[Any] | None:
        """The implementation that serves a backend: its exact class first, then its bases."""
        for base in backend_class.__mro__:
            found = self._by_selector.get(base)
            if found is not None:
                return found
        return None

    def line_of(self, cls: type[Any]) -> int | None:
        """The line where an implementation's class statement begins."""
        for selector, known in self._by_selector.items():
            if known is cls:
                return self._origins[selector][2]
        return None


def first_line() -> int:
    """The line of the class statement being executed, in the frame outside the mechanism."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        "firebrick.opset"
    ):
        frame = frame.f_back
    return frame.f_lineno


def _check_listed(declaration: type[Any], cls: type[Any], selector: Selector) -> None:
    listed = declaration.__selectors__
    if declaration.__builtin__:
        return
    if listed is None:
        raise SelectorError(
            f"`{cls.__name__}` implements `{declaration.__name__}`, which is not open to any "
            "backend; decorate the declaration with `@backend_extension(...)`."
        )
    if not any(issubclass(selector, known) for known in listed):
        raise ImplementationError(
            f"`{cls.__name__}` implements `{declaration.__name__}` on `{selector.__name__}`, which "
            f"is not listed; `@backend_extension` lists {', '.join(s.__name__ for s in listed)}."
        )


def own_members(declaration: type[Any], cls: type[Any]) -> Iterator[tuple[str, Any]]:
    """Public members that an implementation and its mixins define, above the declaration."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if base is declaration:
            return
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def own_member(declaration: type[Any], cls: type[Any], name: str) -> Any:
    """What an implementation defines for one operation, or None."""
    return next((value for own, value in own_members(declaration, cls) if own == name), None)


def check_implementation(
    declaration: type[Any], cls: type[Any], selector: Selector, namespace: Namespace
) -> None:
    """Compares names, parameters and types; `ImplementationError` naming both sides."""
    operations = declaration.__operations__
    for name, value in own_members(declaration, cls):
        rule = isinstance(value, GradientRule)
        if not rule and not inspect.isfunction(value):
            continue
        operation = operations.get(name)
        if operation is None:
            close = difflib.get_close_matches(name, operations, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            error = GradientRuleError if rule else ImplementationError
            raise error(
                f"`{cls.__name__}.{name}` is no operation of `{declaration.__name__}`{hint} "
                f"Operations are {', '.join(operations)}; helpers start with an underscore."
            )
        if rule and selector.role != "autodiff":
            raise GradientRuleError(
                f"`{cls.__name__}.{name}` is a gradient rule, but `on={selector.__name__}` does not "
                "differentiate; put it into an `on=Autodiff` class."
            )
        if declaration.__builtin__:
            continue  # tests check the built-in ones, so that importing them stays cheap
        if isinstance(value, GradientRule):
            check_rule(operation, value)
        else:
            _check_method(operation, cls, value, namespace)


def _check_method(
    operation: Operation, cls: type[Any], function: Any, namespace: Namespace
) -> None:
    theirs = {p.name: p for p in list(inspect.signature(function).parameters.values())[1:]}
    declared = {parameter.name: parameter for parameter in operation.parameters}
    label = f"`{cls.__name__}.{operation.name}`"
    missing = [name for name in declared if name not in theirs]
    extra = [name for name, p in theirs.items() if name not in declared and p.default is p.empty]
    if missing or extra:
        problem = f"lacks `{missing[0]}`" if missing else f"asks for `{extra[0]}`"
        if missing and extra:
            problem = f"calls `{extra[0]}` what the declaration calls `{missing[0]}`"
        raise ImplementationError(
            f"{label} {problem}; `{operation.label}` is declared as "
            f"({', '.join(declared)}), the implementation takes ({', '.join(theirs)})."
        )
    if [name for name in theirs if name in declared] != list(declared):
        raise ImplementationError(
            f"{label} takes ({', '.join(theirs)}) in another order than `{operation.label}`, which "
            f"is declared as ({', '.join(declared)})."
        )
    if inspect.iscoroutinefunction(function) != operation.is_async:
        raise ImplementationError(
            f"{label} and `{operation.label}` must both be `async def`, or both not."
        )
    for name, parameter in declared.items():
        _check_type(parameter, theirs[name].annotation, f"{label}: parameter `{name}`", namespace)


def _check_type(parameter: Parameter, annotation: Any, where: str, namespace: Namespace) -> None:
    if annotation is inspect.Parameter.empty or holds_tensors(parameter.node):
        return  # the tensor type differs from the declaration's by design
    found = resolve(annotation, namespace, {})
    declared = parameter.annotation
    if isinstance(parameter.node, PlainNode) and isinstance(found, Unresolved):
        return
    if found is Any or found == declared or _is_wider(found, declared):
        return
    raise ImplementationError(
        f"{where} is declared `{describe(declared)}` but taken as `{describe(found)}`; it must be "
        "equal, wider, or Any."
    )


def _is_wider(found: Any, declared: Any) -> bool:
    if found is object:
        return True
    if isinstance(found, type) and isinstance(declared, type):
        return issubclass(declared, found) or (found is float and declared is int)
    options = getattr(found, "__args__", ())
    inside = getattr(declared, "__args__", None) or (declared,)
    return bool(options) and all(option in options for option in inside)
