"""How a place in the user's source is shown: file and line, the line itself, carets, the calls."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firebrick.cube.ir.nodes import Location


def describe(location: Location, message: str) -> str:
    """A message with the place that it speaks of.

    Columns count from 1 and `end_column` is the first one behind. Of `location.calls` the innermost
    comes first. A source that cannot be read any more is named only.
    """
    lines = [message, *_place(location, "at")]
    for call in location.calls:
        lines += _place(call, "called from")
    return "\n".join(lines)


def _place(location: Location, how: str) -> list[str]:
    lines = [f"  {how} {location.file}:{location.line}, in {location.function}"]
    source = linecache.getline(location.file, location.line).rstrip()
    text = source.lstrip()
    if not text:
        return lines
    indent = len(source) - len(text)
    start = min(max(location.column - 1 - indent, 0), len(text) - 1)
    stop = min(max(location.end_column - 1 - indent, start + 1), len(text))
    # Tabs stay tabs, so that the carets stand under what they mean.
    margin = "".join("\t" if character == "\t" else " " for character in text[:start])
    return [*lines, f"    {text}", f"    {margin}{'^' * (stop - start)}"]
