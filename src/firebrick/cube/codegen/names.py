"""Names of the IR as identifiers of a target, so that no reserved word and no clash can occur.

Every identifier of a user's begins with a letter that says what it is and an underscore, which no
reserved word, built-in function or name of ours does:

    k_ kernel   b_ buffer   s_ shared   a_ local array   v_ variable   l_ region

Ours are `p_` (positions), `f_` (functions), `t` and a number (temporaries) and `words` (sizes).
What is no ASCII letter or digit is dropped, long names are cut, and a number tells apart what has
become equal: the same function has the same names every time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firebrick.cube.ir.nodes import (
    Buffer,
    Function,
    LocalArray,
    Memory,
    SharedArray,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 40
"""Characters of a user's name that are kept."""
_OTHER = re.compile(r"[^A-Za-z0-9]+")


def readable(name: str) -> str:
    """What of a name can stand in any identifier, words parted by single underscores."""
    return _OTHER.sub("_", name)[:LONGEST].strip("_") or "x"


def entry_point(name: str) -> str:
    """The identifier of a kernel of that name."""
    return f"k_{readable(name)}"


class Names:
    """The identifiers of one function."""

    def __init__(self, function: Function) -> None:
        self.kernel = entry_point(function.name)
        self._memory: dict[tuple[type[Memory], str], str] = {}
        for prefix, kind, items in (
            ("b", Buffer, function.buffers),
            ("s", SharedArray, function.shared),
            ("a", LocalArray, function.locals),
        ):
            chosen = distinct(prefix, (item.name for item in items))
            self._memory.update({(kind, name): text for name, text in chosen.items()})
        self._variables = distinct("v", (variable.name for variable in function.variables))
        self._labels: dict[str, int] = {}
        self._count = 0

    def memory(self, memory: Memory) -> str:
        """The identifier of a buffer or an array."""
        return self._memory[type(memory), memory.name]

    def variable(self, variable: Variable) -> str:
        """The identifier of a variable."""
        return self._variables[variable.name]

    def new_label(self, label: str) -> str:
        """An identifier for one region; labels may come again behind it."""
        stem = f"l_{readable(label)}"
        count = self._labels[stem] = self._labels.get(stem, 0) + 1
        return f"{stem}_{count}"

    def temporary(self) -> str:
        """An identifier that nothing else has."""
        self._count += 1
        return f"t{self._count}"


def distinct(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """An identifier for each name, all of them different."""
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        first = candidate = f"{prefix}_{readable(name)}"
        count = 1
        while candidate in taken:
            count += 1
            candidate = f"{first}_{count}"
        taken.add(candidate)
        chosen[name] = candidate
    return chosen
