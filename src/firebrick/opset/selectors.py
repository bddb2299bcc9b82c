"""Selectors: which backends an op set is open to, and under which conditions."""

from __future__ import annotations

import difflib
import importlib.metadata
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from firebrick.errors import SelectorError
from firebrick.opset.backend_root import BackendRoot

Selector = type[BackendRoot]
S = TypeVar("S", bound=Selector)
Condition = bool | Callable[[], bool]

RUNTIMES = ("cpu", "wgpu", "cuda", "rocm")
_KNOWN = ("Autodiff", "Fusion", "Cube", "Flex", "NdArray", "LibTorch", "Remote")


class Conditional:
    """A selector that counts only if its condition holds, asked once."""

    __slots__ = ("_answer", "_condition", "selector")

    def __init__(self, selector: Selector, condition: Condition) -> None:
        self.selector = selector
        self._condition = condition
        self._answer: bool | None = condition if isinstance(condition, bool) else None

    def holds(self) -> bool:
        """The condition's answer; the callable runs at the first question only."""
        if self._answer is None:
            self._answer = bool(cast("Callable[[], bool]", self._condition)())
        return self._answer


def when(selector: S, condition: Condition) -> S:
    """A selector that counts only if `condition` holds; a callable is evaluated once.

    Raises: `SelectorError` for a condition that is neither a bool nor callable.
    """
    checked_selector(selector)
    given: Any = condition
    if not isinstance(given, bool) and not callable(given):
        hint = f"; did you mean `feature({given!r})`?" if isinstance(given, str) else "."
        raise SelectorError(
            f"the condition of `{selector.__name__}` is {given!r}; accepted are a bool, a callable "
            f"without arguments, or `feature(...)`{hint}"
        )
    return cast("S", Conditional(selector, condition))  # read back by `read_selectors` only


def checked_selector(selector: Any) -> Selector:
    """`selector` if it is a backend class; `SelectorError` saying what it should be."""
    if isinstance(selector, str):
        raise SelectorError(_about_text(selector))
    if not (isinstance(selector, type) and issubclass(selector, BackendRoot)):
        found = selector.__name__ if isinstance(selector, type) else repr(selector)
        raise SelectorError(
            f"`{found}` is no selector: selectors are backend classes ({', '.join(_KNOWN)}, or "
            "one that a third party registered)."
        )
    return selector


def _about_text(text: str) -> str:
    if text.lower() in RUNTIMES:
        return (
            f"`{text}` is a runtime, not a selector: it is covered by the selector `Cube`, as all "
            "kernel runtimes are. Restrict an operation to a runtime with `when(Cube, ...)`."
        )
    known = {name.lower(): name for name in _KNOWN}
    close = difflib.get_close_matches(text.lower(), known, n=1)
    hint = f"did you mean the class `{known[close[0]]}`? " if close else ""
    return (
        f"{text!r} is a string, not a selector: {hint}Selectors are classes, imported from "
        "`firebrick.extension`."
    )


def read_selectors(given: Iterable[Any]) -> dict[Selector, Conditional]:
    """The selectors of a decorator in order; `SelectorError` for a repeated or missing one."""
    found: dict[Selector, Conditional] = {}
    for item in given:
        conditional = item if isinstance(item, Conditional) else Conditional(checked_selector(item), True)
        if conditional.selector in found:
            raise SelectorError(
                f"`{conditional.selector.__name__}` is listed twice; list each selector once."
            )
        found[conditional.selector] = conditional
    if not any(selector.role == "execution" for selector in found):
        raise SelectorError(
            "no selector that executes is listed; add at least one of Flex, NdArray, LibTorch, "
            "Cube or Remote."
        )
    return found


_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


def feature(extra: str, *, package: str | None = None) -> bool:
    """Whether the packages of an extra are installed; of `package`'s own extras if given.

    Raises: `SelectorError` for an extra that the package does not have.
    """
    name = package or "firebrick"
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise SelectorError(f"`feature({extra!r})`: the package {name!r} is not installed.") from None
    extras = distribution.metadata.get_all("Provides-Extra") or []
    if extra not in extras:
        close = difflib.get_close_matches(extra, extras, n=1)
        hint = f" did you mean {close[0]!r}?" if close else ""
        raise SelectorError(
            f"the package {name!r} has no extra {extra!r}; it has {', '.join(sorted(extras))}.{hint}"
        )
    needed = [
        match[1]
        for requirement in distribution.requires or []
        if extra in _EXTRA.findall(requirement) and (match := _REQUIREMENT.match(requirement))
    ]
    return all(_installed(package_name) for package_name in needed)


def _installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
