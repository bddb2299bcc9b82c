"""The user's source of a kernel: its syntax tree, and where each node stands in the file."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from firebrick.cube.ir.locations import describe
from firebrick.cube.ir.nodes import Location
from firebrick.errors import KernelError, KernelSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Source:
    """A function and its parsed text; `indent` columns were cut off every line."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    file: str
    first_line: int
    indent: int

    @property
    def name(self) -> str:
        """Of the function."""
        return self.tree.name

    def location(self, node: ast.AST, calls: tuple[Location, ...] = ()) -> Location:
        """Where a node stands; `calls` are the inlined calls around it, the innermost first."""
        line = getattr(node, "lineno", self.tree.lineno)
        column = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None)
        if end is None or getattr(node, "end_lineno", line) != line:
            end = column + 1
        return Location(
            self.file,
            self.first_line + line - 1,
            self.indent + column + 1,
            self.indent + max(end, column + 1) + 1,
            self.name,
            calls,
        )

    def refuse(
        self,
        node: ast.AST,
        message: str,
        error: type[KernelError] = KernelSyntaxError,
        calls: tuple[Location, ...] = (),
    ) -> NoReturn:
        """Raises `error` showing the line of `node` with a caret."""
        raise error(describe(self.location(node, calls), message))


def read_source(function: Any) -> Source:
    """The source of a function; `KernelSyntaxError` where it cannot be found or is no `def`."""
    name = getattr(function, "__name__", repr(function))
    if not inspect.isfunction(function):
        raise KernelSyntaxError(
            f"a kernel is a function written with `def`; got {type(function).__name__}."
        )
    try:
        lines, first_line = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError) as reason:
        raise KernelSyntaxError(
            f"the source of `{name}` cannot be found ({reason}); kernels are parsed, so they are "
            "written in a file or a notebook cell, not in `python -c` or `exec`."
        ) from None
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    indent = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = ast.parse(dedented)
    except SyntaxError as reason:  # a lambda in the middle of an expression, for instance
        raise KernelSyntaxError(f"`{name}` cannot be read by itself: {reason}.") from None
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    if found is None or found.name != name:
        raise KernelSyntaxError(
            f"`{name}` is not a plain `def` function, so it cannot be a kernel."
        )
    return Source(function, found, file, first_line, indent)
