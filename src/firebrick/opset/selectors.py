"""Selectors: which backends an op set is open to, and under which conditions."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from firebrick.errors import SelectorError
from firebrick.opset.backend_root import BackendRoot

if TYPE_CHECKING:
    from collections.abc import Iterable

Selector: TypeAlias = type[BackendRoot]
S = TypeVar("S", bound=Selector)
Condition: TypeAlias = bool | Callable[[], bool]

RUNTIMES = ("cpu", "wgpu", "cuda", "rocm")
_KNOWN = ("Autodiff", "Fusion", "Cube", "Flex", "NdArray", "LibTorch", "Remote")


class Conditional:
    """A selector that counts only if its condition holds, asked once."""

    __slots__ = ("_answer", "_condition", "_lock", "selector")

    def __init__(self, selector: Selector, condition: Condition) -> None:
        self.selector = selector
        self._condition = condition
        self._answer: bool | None = condition if isinstance(condition, bool) else None
        self._lock = threading.RLock()

    def holds(self) -> bool:
        """The condition's answer; a callable runs at the first question only.

        `SelectorError` for a condition that raises; it is asked again at the next question.
        """
        answer = self._answer
        return self._ask() if answer is None else answer

    def _ask(self) -> bool:
        with self._lock:
            if self._answer is None:
                self._answer = bool(self._call())
            return self._answer

    def _call(self) -> object:
        if isinstance(self._condition, bool):
            return self._condition
        try:
            return self._condition()
        except Exception as reason:
            raise SelectorError(
                f"the condition of `{self.selector.__name__}` raised {type(reason).__name__} "
                f"({reason}); a condition answers with a bool."
            ) from reason

    def __repr__(self) -> str:
        return f"when({self.selector.__name__}, ...)"


def when(selector: S, condition: Condition) -> S:
    """A selector that counts only if `condition` holds; a callable is evaluated once.

    Around another `when`, both conditions must hold.

    Raises: `SelectorError` for a condition that is neither a bool nor callable.
    """
    outer: object = selector
    inner = outer if isinstance(outer, Conditional) else None
    known = checked_selector(selector) if inner is None else inner.selector
    given: Any = condition
    if not isinstance(given, bool) and not callable(given):
        hint = f"; did you mean `feature({given!r})`?" if isinstance(given, str) else "."
        raise SelectorError(
            f"the condition of `{known.__name__}` is {given!r}; accepted are a bool, a callable "
            f"without arguments, or `feature(...)`{hint}"
        )
    own = Conditional(known, condition)
    both = own if inner is None else Conditional(known, lambda: inner.holds() and own.holds())
    return cast("S", both)  # read back by `read_selectors` only


def checked_selector(selector: object) -> Selector:
    """`selector` if it is a backend class; `SelectorError` saying what it should be."""
    if isinstance(selector, str):
        raise SelectorError(_about_text(selector))
    if isinstance(selector, Conditional):
        raise SelectorError(
            f"`{selector!r}` is a selector with a condition, which belongs into "
            f"`@backend_extension(...)`; write `{selector.selector.__name__}` here."
        )
    if not (isinstance(selector, type) and issubclass(selector, BackendRoot)):
        found = selector.__name__ if isinstance(selector, type) else repr(selector)
        raise SelectorError(
            f"`{found}` is no selector: selectors are backend classes ({', '.join(_KNOWN)}, or "
            "one that a third party registered)."
        )
    if not hasattr(selector, "name"):
        raise SelectorError(
            f"`{selector.__name__}` has no `name`, so no device belongs to it; list the backends "
            "that are made of it."
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


def read_selectors(given: Iterable[object]) -> dict[Selector, Conditional]:
    """The selectors of a decorator in order; `SelectorError` for a repeated or missing one."""
    found: dict[Selector, Conditional] = {}
    for item in given:
        is_conditional = isinstance(item, Conditional)
        conditional = item if is_conditional else Conditional(checked_selector(item), True)
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
