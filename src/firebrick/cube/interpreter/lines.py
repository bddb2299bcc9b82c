"""Lines of generated Python, each noted with the statement that it comes from."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from firebrick.cube.ir.nodes import Statement


@dataclass(slots=True)
class Lines:
    """Lines in the making."""

    indent: int = 0
    texts: list[str] = field(default_factory=list[str])
    statements: list[Statement | None] = field(default_factory=list["Statement | None"])

    def add(self, text: str, statement: Statement | None = None) -> None:
        """Appends a line."""
        self.texts.append(" " * self.indent + text)
        self.statements.append(statement)

    def add_all(self, texts: Sequence[str], statement: Statement | None = None) -> None:
        """Appends lines of one statement."""
        for text in texts:
            self.add(text, statement)

    def extend(self, other: Lines) -> None:
        """Appends lines that are indented already."""
        self.texts += other.texts
        self.statements += other.statements

    @contextmanager
    def indented(self) -> Generator[None]:
        """Lines inside stand one level deeper."""
        self.indent += 1
        yield
        self.indent -= 1
