"""Implementations of op sets, checked against the declaration when their class is defined."""

from __future__ import annotations

import difflib
import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

from firebrick.errors import GradientRuleError, ImplementationError, SelectorError
from firebrick.opset.forms import Decorated
from firebrick.opset.gradient import GradientRule, check_rule
from firebrick.opset.namespaces import Namespace, Unresolved, resolve
from firebrick.opset.nodes import holds_tensors
from firebrick.opset.signature import describe
from firebrick.opset.widening import is_wider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from firebrick.opset.selectors import Selector
    from firebrick.opset.signature import Declaration, Operation, Parameter


def check_listed(declaration: Declaration, cls: type[Any], selector: Selector) -> None:
    """`ImplementationError` for a backend that is not listed, `SelectorError` if none is."""
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


def own_members(declaration: Declaration, cls: type[Any]) -> Iterator[tuple[str, Any]]:
    """Public members that an implementation and its mixins define, above the declaration."""
    seen: set[str] = set()
    for base in cls.__mro__[: _bases(cls).index(declaration)]:
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def _bases(cls: type[Any]) -> list[object]:
    """The class and its bases, the declaration among them."""
    return list(cls.__mro__)


def own_member(declaration: Declaration, cls: type[Any], name: str) -> Any:
    """What an implementation defines for one operation, or None."""
    return next((value for own, value in own_members(declaration, cls) if own == name), None)


def check_implementation(
    declaration: Declaration, cls: type[Any], selector: Selector, namespace: Namespace
) -> None:
    """Compares names, parameters and types; `ImplementationError` naming both sides."""
    operations = declaration.__operations__
    for name, value in own_members(declaration, cls):
        label = f"`{cls.__name__}.{name}`"
        if isinstance(value, type) or not (callable(value) or _is_method(value)):
            continue
        if isinstance(value, GradientRule) and selector.role != "autodiff":
            raise GradientRuleError(
                f"{label} is a gradient rule, but `on={selector.__name__}` does not "
                "differentiate; put it into an `on=Autodiff` class."
            )
        if isinstance(value, Decorated):
            raise ImplementationError(
                f"{label} has `@fusion(...)` or `@views(...)`, which belong to the declaration "
                f"`{declaration.__name__}.{name}`."
            )
        operation = operations.get(name)
        if operation is None:
            raise _unknown(declaration, label, name, value)
        if declaration.__builtin__:
            continue  # tests check the built-in ones, so that importing them stays cheap
        if isinstance(value, GradientRule):
            check_rule(operation, value)
        else:
            _check_method(operation, label, value, namespace)
    if not declaration.__builtin__:
        _check_order(declaration, cls)


def _is_method(value: object) -> bool:
    return isinstance(value, staticmethod | classmethod | GradientRule | Decorated)


def _unknown(declaration: Declaration, label: str, name: str, value: object) -> Exception:
    operations = declaration.__operations__
    close = difflib.get_close_matches(name, operations, n=1)
    hint = f" Did you mean `{close[0]}`?" if close else ""
    error = GradientRuleError if isinstance(value, GradientRule) else ImplementationError
    return error(
        f"{label} is no operation of `{declaration.__name__}`; operations are "
        f"{', '.join(operations)}, helpers start with an underscore.{hint}"
    )


def _check_order(declaration: Declaration, cls: type[Any]) -> None:
    """A mixin after the op set would be hidden by the declaration's own bodies."""
    declared: type[Any] = cls.__declaration__
    for base in cls.__mro__[_bases(cls).index(declaration) + 1 :]:
        if base in declared.__mro__:
            continue
        hidden = [name for name in declaration.__operations__ if name in vars(base)]
        if hidden:
            raise ImplementationError(
                f"`{cls.__name__}` names `{base.__name__}` after `{declaration.__name__}`, whose "
                f"own `{hidden[0]}` hides that of `{base.__name__}`; name the mixin first."
            )


def _check_method(operation: Operation, label: str, value: Any, namespace: Namespace) -> None:
    function: Any = getattr(value, "__func__", value)  # of a static method or class method
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return  # a builtin, which says nothing of its parameters
    bound = isinstance(value, FunctionType | classmethod)
    theirs = {parameter.name: parameter for parameter in parameters[1 if bound else 0 :]}
    _check_names(operation, label, theirs)
    _check_positions(operation, label, theirs)
    if inspect.iscoroutinefunction(function) != operation.is_async:
        raise ImplementationError(
            f"{label} and `{operation.label}` must both be `async def`, or both not."
        )
    here: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    own = Namespace(here, namespace.locals)
    for parameter in operation.parameters:
        where = f"{label}: parameter `{parameter.name}`"
        _check_type(parameter, theirs[parameter.name].annotation, where, own)


def _check_names(operation: Operation, label: str, theirs: Mapping[str, inspect.Parameter]) -> None:
    declared = [parameter.name for parameter in operation.parameters]
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


def _check_positions(
    operation: Operation, label: str, theirs: Mapping[str, inspect.Parameter]
) -> None:
    """What dispatch passes by position can be taken by position and in that order, and so on."""
    for parameter in operation.parameters:
        found = theirs[parameter.name].kind
        refused = found.POSITIONAL_ONLY if parameter.keyword_only else found.KEYWORD_ONLY
        if found is refused:
            ways = ("keyword", "position") if parameter.keyword_only else ("position", "keyword")
            raise ImplementationError(
                f"{label} takes `{parameter.name}` by {ways[1]} only, and `{operation.label}` "
                f"passes it by {ways[0]}."
            )
    declared = [parameter.name for parameter in operation.parameters]
    positional = [p.name for p in operation.parameters if not p.keyword_only]
    if list(theirs)[: len(positional)] != positional:
        raise ImplementationError(
            f"{label} takes ({', '.join(theirs)}) in another order than `{operation.label}`, which "
            f"is declared as ({', '.join(declared)})."
        )


def _check_type(parameter: Parameter, annotation: Any, where: str, namespace: Namespace) -> None:
    if annotation is inspect.Parameter.empty or holds_tensors(parameter.node):
        return  # the tensor type differs from the declaration's by design
    found = resolve(annotation, namespace, {})
    if isinstance(found, Unresolved) or is_wider(found, parameter.annotation):
        return
    raise ImplementationError(
        f"{where} is declared `{describe(parameter.annotation)}` but taken as `{describe(found)}`; "
        "it must be equal, wider, or Any."
    )
