"""`self.inner`: the same op set on the backend that `self.backend` decorates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.opset.dispatch_source import parameters_text
from firebrick.opset.linkage import linker
from firebrick.opset.no_default import NoDefault
from firebrick.opset.traversal import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.errors import MissingImplementationError
    from firebrick.opset.signature import Declaration, Operation

    Make = Callable[[Callable[..., Any], Any], Callable[..., Any]]


class InnerOpSet:
    """The same op set on the backend that `self.backend` decorates; its tensors are that one's."""

    __slots__ = ("_backend", "_op_set")

    def __init__(self, op_set: Declaration, backend: Any) -> None:
        self._op_set = op_set
        self._backend = backend

    @property
    def backend(self) -> Any:
        """The decorated backend, with the built-in operations."""
        return self._backend

    @property
    def inner(self) -> InnerOpSet:
        """One decorator further down. `DispatchError` on a backend that is not a decorator."""
        return InnerOpSet(self._op_set, self._backend.inner)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        known = self._op_set.__operations__.get(operation)
        if known is None:
            raise AttributeError(
                f"`{self._op_set.__name__}` has no operation `{operation}`; it has "
                f"{', '.join(self._op_set.__operations__)}."
            )
        make: Make | None = known.generated.get("inner")
        if make is None:
            make = known.generated["inner"] = _compile_maker(known)
        return make(linker().operation(known, self._backend), self._backend)


def _compile_maker(operation: Operation) -> Make:
    """Puts the declaration's parameters in front of an implementation, which may lack defaults."""

    def missing(reason: NoDefault, backend: Any) -> MissingImplementationError:
        return linker().missing(operation, backend, reason)

    source = Source()
    source.define(missing=missing, no_default=NoDefault)
    head, wait = ("async def", "await ") if operation.is_async else ("def", "")
    arguments = ", ".join(
        f"{p.name}={p.name}" if p.keyword_only else p.name for p in operation.parameters
    )
    source.add(0, "def @make(@call, @backend):")
    source.add(1, f"{head} @run({parameters_text(operation, source)}):")
    source.add(2, "try:")
    source.add(3, f"return {wait}@call({arguments})")
    source.add(2, "except @no_default as @reason:")
    source.add(3, "raise @missing(@reason, @backend) from @reason")
    source.add(1, f"@run.__qualname__ = {operation.label!r}")
    source.add(1, f"@run.__name__ = {operation.name!r}")
    source.add(1, "return @run")
    return source.compile("@make", f"inner {operation.label}")
