"""The words of the IR's text form, line by line, and the errors that point into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from firebrick.errors import KernelError

TokenKind = Literal["number", "name", "symbol", "end"]

_PATTERN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?:_[a-z]+[0-9]*)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<symbol>//|<<|>>|==|!=|<=|>=|[-+*/%&|^~<>=()\[\],.:])"
    r"|(?P<space>[ \t]+)"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word; `column` counts from 1."""

    kind: TokenKind
    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty; `number` counts from 1, `indent` are the spaces before it."""

    number: int
    indent: int
    tokens: tuple[Token, ...]


def text_error(number: int, column: int, message: str) -> KernelError:
    """The error about a place in the text."""
    return KernelError(f"kernel text, line {number}, column {column}: {message}")


def read_lines(text: str) -> list[Line]:
    """The lines of a text; comments, from `#` to the end, and empty lines are left out."""
    lines: list[Line] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        content = raw.partition("#")[0].rstrip()
        if content:
            indent = len(content) - len(content.lstrip())
            lines.append(Line(number, indent, _tokens(content, indent, number)))
    return lines


def _tokens(content: str, start: int, number: int) -> tuple[Token, ...]:
    tokens: list[Token] = []
    position = start
    while position < len(content):
        found = _PATTERN.match(content, position)
        if found is None:
            raise text_error(number, position + 1, f"{content[position]!r} means nothing here.")
        match found.lastgroup:
            case "number" | "name" | "symbol" as kind:
                tokens.append(Token(kind, found.group(), position + 1))
            case _:
                pass  # spaces
        position = found.end()
    return (*tokens, Token("end", "the end of the line", len(content) + 1))


class Cursor:
    """Goes through the words of one line."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._position = 0

    @property
    def token(self) -> Token:
        """The next word."""
        return self.line.tokens[self._position]

    def ahead(self, count: int) -> str:
        """The text of the word `count` behind the next one; empty past the end."""
        position = self._position + count
        return self.line.tokens[position].text if position < len(self.line.tokens) else ""

    def take(self) -> Token:
        """The next word, and on."""
        token = self.token
        if token.kind != "end":
            self._position += 1
        return token

    def accept(self, text: str) -> bool:
        """Whether the next word is this one; goes on behind it then."""
        found = self.token.text == text and self.token.kind != "end"
        self._position += found
        return found

    def expect(self, text: str) -> None:
        """Goes on behind a word that must come now."""
        if not self.accept(text):
            raise self.error(f"expected `{text}`, found `{self.token.text}`.")

    def name(self, what: str) -> str:
        """A name that must come now."""
        if self.token.kind != "name":
            raise self.error(f"expected {what}, found `{self.token.text}`.")
        return self.take().text

    def integer(self, what: str) -> int:
        """A number without type that must come now."""
        if not self.token.text.isdecimal():
            raise self.error(f"expected {what}, found `{self.token.text}`.")
        return int(self.take().text)

    def end(self) -> None:
        """Nothing may come any more."""
        if self.token.kind != "end":
            raise self.error(f"`{self.token.text}` is too much on this line.")

    def error(self, message: str, token: Token | None = None) -> KernelError:
        """The error about the next word, or about `token`."""
        return text_error(self.line.number, (token or self.token).column, message)
