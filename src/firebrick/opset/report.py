"""Which implementation each operation has on each selector, as rows and as a table."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from firebrick.errors import MissingImplementationError
from firebrick.opset.implementation import own_member
from firebrick.opset.metadata import outputs_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.opset.selectors import Selector
    from firebrick.opset.signature import Declaration, Operation

State = Literal["own", "default", "derived", "missing", "condition false"]


class ReportRow(NamedTuple):
    """One operation on one selector."""

    operation: str
    selector: str
    state: State
    file: str | None
    line: int | None


def report_rows(declaration: Declaration) -> list[ReportRow]:
    """One row per operation and listed selector, in the order of the declaration."""
    listed = declaration.__selectors__ or {}
    return [
        _row(declaration, operation, selector, holds=conditional.holds())
        for operation in declaration.__operations__.values()
        for selector, conditional in listed.items()
    ]


def _row(
    declaration: Declaration, operation: Operation, selector: Selector, *, holds: bool
) -> ReportRow:
    def row(state: State, where: Any = None) -> ReportRow:
        file, line = place(where)
        return ReportRow(operation.name, selector.__name__, state, file, line)

    if not holds:
        return row("condition false")
    implementation = declaration.__implementations__.find(selector)
    own = None
    if implementation is not None:
        own = own_member(declaration, implementation, operation.name)
    if own is not None:
        return row("own", own if is_placed(own) else implementation)
    if is_derived(operation, selector):
        return row("derived", operation.function)
    if implementation is not None and operation.has_default:
        return row("default", operation.function)
    return row("missing")


def is_derived(operation: Operation, selector: Selector) -> bool:
    """Whether the declaration alone gives an implementation: lazy or remote registration."""
    if selector.role == "fusion":
        return operation.form is not None or outputs_bound(operation)
    return selector.role == "execution" and selector.name == "remote"


def is_placed(value: Any) -> bool:
    """Whether a file and a line are known of a member itself, and not just of its class."""
    return place(value) != (None, None)


def place(where: Any) -> tuple[str | None, int | None]:
    """File and line of a function, rule or class, None where the source is not known."""
    function = getattr(where, "function", where)  # a gradient rule
    plain = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(plain, "__code__", None)
    if code is not None:
        return code.co_filename, code.co_firstlineno
    if not isinstance(where, type):
        return None, None
    try:
        return inspect.getsourcefile(where), inspect.getsourcelines(where)[1]
    except (OSError, TypeError):
        return None, None


def show_rows(name: str, rows: Sequence[ReportRow], *, strict: bool) -> None:
    """Prints the table; with `strict`, `MissingImplementationError` for rows that are missing."""
    table = [("operation", "selector", "state", "where")]
    for row in rows:
        where = "" if row.file is None else f"{row.file}:{row.line}"
        table.append((row.operation, row.selector, row.state, where))
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    print(name)
    for line in table:
        print("  " + "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip())
    missing = [f"`{row.operation}` on `{row.selector}`" for row in rows if row.state == "missing"]
    if strict and missing:
        raise MissingImplementationError(
            f"`{name}` lists selectors without an implementation: {', '.join(missing)}; add "
            f"`class X({name}[...], on=...)` or `{name}.default_on(...)`."
        )
