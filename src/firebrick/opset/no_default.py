"""`NoDefault`: how a declaration says that an operation has no default body."""

from __future__ import annotations

import dis
import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, TracebackType


class NoDefault(NotImplementedError):  # noqa: N818 - the seeds of the design name it so
    """`raise NoDefault` is the body of an operation that every listed backend implements."""


_SKIPPED = frozenset({
    "CACHE", "CALL", "COPY_FREE_VARS", "MAKE_CELL", "NOP", "POP_TOP", "PRECALL", "PUSH_NULL",
    "RESUME", "RETURN_GENERATOR",
})  # fmt: skip


def raises_no_default(function: FunctionType) -> bool:
    """Whether a body is nothing but `raise NoDefault`, read from its instructions.

    Also `raise NoDefault("reason")` and `raise extension.NoDefault`; what this does not see is
    found when the body runs.
    """
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType):
        return False
    steps = [step for step in dis.get_instructions(plain) if step.opname not in _SKIPPED]
    raised = next((i for i, step in enumerate(steps) if step.opname == "RAISE_VARARGS"), None)
    if not raised:
        return False
    first, *rest = steps[:raised]
    if not first.opname.startswith("LOAD_"):
        return False
    found = _loaded(plain, str(first.argval))
    for step in rest:
        if step.opname == "LOAD_ATTR":
            found = getattr(found, step.argval, None)
        elif step.opname != "LOAD_CONST":
            return False
    return isinstance(found, type) and issubclass(found, NoDefault)


def _loaded(function: FunctionType, name: str) -> Any:
    """What a name means in a function: a variable of a scope around it, or a global."""
    names = function.__code__.co_freevars
    if name in names:
        try:
            return (function.__closure__ or ())[names.index(name)].cell_contents
        except ValueError:  # not assigned yet
            return None
    return function.__globals__.get(name)


def raising_frame(error: NoDefault) -> tuple[CodeType, Any] | None:
    """The code that raised, and what its first parameter is: the `self` of a body."""
    traceback: TracebackType | None = error.__traceback__
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_code, frame.f_locals.get(names[0]) if names else None
