"""Dimensions of annotations such as `Float[P, "*batch m k"]`: the words, and what they name.

Syntax is jaxtyping's: names, literals, `_`, `...`, `*batch`, `#m` and `*#batch` (broadcastable),
and sums, differences, products and whole quotients of names and literals without spaces, `m+n`,
`2*k`, `n//2`. Binding names to sizes is not here but in `binding.py`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from firebrick.errors import ShapeError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TermKind = Literal["name", "literal", "any", "expression", "ellipsis", "variadic"]
ELLIPSIS = "..."
_WORD = re.compile(r"(?P<prefix>\*#|#\*|\*|#|)(?P<body>\.\.\.|[A-Za-z0-9_+\-*/()]+)")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the dimensions; `text` is the name, number or expression."""

    kind: TermKind
    text: str
    broadcasts: bool = False

    @property
    def spans_many(self) -> bool:
        """Whether the term stands for any number of dimensions."""
        return self.kind in ("ellipsis", "variadic")


@dataclass(frozen=True, slots=True)
class Dims:
    """The parsed dimensions of one tensor."""

    text: str
    terms: tuple[Term, ...]

    def split(self, shape: tuple[int, ...]) -> Iterator[tuple[Term, tuple[int, ...]]] | None:
        """Pairs each term with the sizes it stands for; None when the rank does not fit."""
        many = next((i for i, term in enumerate(self.terms) if term.spans_many), None)
        spare = len(shape) - len(self.terms)
        if (many is None and spare) or (many is not None and spare < -1):
            return None
        return self._pairs(shape, many, spare)

    def _pairs(
        self, shape: tuple[int, ...], many: int | None, spare: int
    ) -> Iterator[tuple[Term, tuple[int, ...]]]:
        position = 0
        for index, term in enumerate(self.terms):
            width = spare + 1 if index == many else 1
            yield term, tuple(shape[position : position + width])
            position += width


def parse_dims(text: str) -> Dims:
    """Parses the string of an annotation; `SignatureError` naming the word that is wrong."""
    terms = tuple(_parse_term(word, text) for word in text.split())
    if sum(term.spans_many for term in terms) > 1:
        raise SignatureError(f"dimensions {text!r} have more than one of `...` and `*name`.")
    return Dims(text, terms)


def _parse_term(word: str, text: str) -> Term:
    match = _WORD.fullmatch(word)
    prefix, body = ("?", word) if match is None else (match["prefix"], match["body"])
    term = _prefixed_term(prefix, body) if prefix else _plain_term(body)
    if term is None:
        raise SignatureError(
            f"{word!r} in dimensions {text!r} cannot be read; accepted are names, literals, `_`, "
            "`...`, `*name`, `#name` and expressions of names such as `m+n` or `2*k`."
        )
    return term


def _prefixed_term(prefix: str, body: str) -> Term | None:
    if not body.isidentifier() or body == "_":
        return None
    if "*" in prefix:
        return Term("variadic", f"*{body}", broadcasts="#" in prefix)
    return Term("name", body, broadcasts=True) if prefix == "#" else None


def _plain_term(body: str) -> Term | None:
    if body == ELLIPSIS:
        return Term("ellipsis", body)
    if body == "_":
        return Term("any", body)
    if body.isdigit():
        return Term("literal", body)
    if body.isidentifier():
        return Term("name", body)
    return None if _names_of(body) is None else Term("expression", body)


@lru_cache(maxsize=1024)
def _tree(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


def _names_of(expression: str) -> frozenset[str] | None:
    """Names of a sum or product; None if it is something else."""
    try:
        tree = _tree(expression)
    except SyntaxError:
        return None
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant):
            if type(node.value) is not int:
                return None
        elif not isinstance(node, (ast.BinOp, ast.Load, *_OPERATORS)):
            return None
    return frozenset(names)


def names_bound(dims: Dims) -> set[str]:
    """Names that an input with these dimensions binds, `*name` and `...` included."""
    return {t.text for t in dims.terms if t.kind in ("name", "variadic", "ellipsis")}


def names_needed(dims: Dims) -> set[str]:
    """Names whose values give an output of these dimensions its shape."""
    return names_bound(dims) | expression_names(dims)


def expression_names(dims: Dims) -> set[str]:
    """Names inside expressions: they are used, not bound."""
    return {n for t in dims.terms if t.kind == "expression" for n in _names_of(t.text) or ()}


def unbound_name(inputs: Iterable[Dims], outputs: Iterable[Dims] = ()) -> str | None:
    """The first name, in order of the alphabet, that is used but bound by no input.

    `...` of an output is left out: it stands for nothing unless exactly one input has it.
    """
    given = list(inputs)
    bound = {name for dims in given for name in names_bound(dims)}
    used = {name for dims in given for name in expression_names(dims)}
    used |= {name for dims in outputs for name in names_needed(dims)}
    return min(used - bound - {ELLIPSIS}, default=None)


def evaluate_expression(text: str, sizes: Mapping[str, tuple[int, ...]]) -> int:
    """The value of a sum or product of names, read from its syntax tree.

    Raises: `KeyError` with a name that has no size, `ShapeError` for a division by zero.
    """

    def value(node: ast.expr) -> int:
        match node:
            case ast.Name(name):
                return sizes[name][0]
            case ast.Constant(int(number)):
                return number
            case ast.BinOp(left, ast.Add(), right):
                return value(left) + value(right)
            case ast.BinOp(left, ast.Sub(), right):
                return value(left) - value(right)
            case ast.BinOp(left, ast.Mult(), right):
                return value(left) * value(right)
            case ast.BinOp(left, ast.FloorDiv(), right):
                return value(left) // value(right)
            case _:
                raise SignatureError(f"expression {text!r} cannot be evaluated.")

    try:
        return value(_tree(text))
    except ZeroDivisionError:
        raise ShapeError(f"`{text}` divides by zero.") from None
