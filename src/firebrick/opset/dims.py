"""Dimensions of annotations such as `Float[P, "*batch m k"]`: parsing, binding, evaluating.

Syntax is jaxtyping's: names, literals, `_`, `...`, `*batch`, `#m` and `*#batch` (broadcastable),
and sums, differences and products of names and literals without spaces, `m+n`, `2*k`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from firebrick.core import Shape, broadcast_shapes
from firebrick.errors import ShapeError, SignatureError

TermKind = Literal["name", "literal", "any", "expression", "ellipsis", "variadic"]
_TOKEN = re.compile(r"(?P<prefix>[*#]{0,2})(?P<body>\.\.\.|[A-Za-z0-9_+\-*/()]+)")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
ELLIPSIS = "..."


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
    match = _TOKEN.fullmatch(word)
    if match is None:
        raise SignatureError(f"{word!r} in dimensions {text!r} is no name, number or expression.")
    prefix, body = match["prefix"], match["body"]
    broadcasts = "#" in prefix
    if body == ELLIPSIS and not prefix:
        return Term("ellipsis", ELLIPSIS)
    if "*" in prefix and body.isidentifier():
        return Term("variadic", f"*{body}", broadcasts)
    if body == "_" and not prefix:
        return Term("any", "_")
    if body.isdigit() and not prefix:
        return Term("literal", body)
    if body.isidentifier() and "*" not in prefix:
        return Term("name", body, broadcasts)
    if not prefix and _names_of(body) is not None:
        return Term("expression", body)
    raise SignatureError(
        f"{word!r} in dimensions {text!r} cannot be read; accepted are names, literals, `_`, "
        "`...`, `*name`, `#name` and expressions of names such as `m+n` or `2*k`."
    )


def _names_of(expression: str) -> set[str] | None:
    """Names of a sum or product; None if it is something else."""
    try:
        tree = ast.parse(expression, mode="eval").body
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
    return names


def names_bound(dims: Dims) -> set[str]:
    """Names that an input with these dimensions binds, `*name` and `...` included."""
    return {t.text for t in dims.terms if t.kind in ("name", "variadic", "ellipsis")}


def names_needed(dims: Dims) -> set[str]:
    """Names whose values give an output of these dimensions its shape."""
    needed: set[str] = set()
    for term in dims.terms:
        if term.kind == "expression":
            needed |= _names_of(term.text) or set()
        elif term.kind in ("name", "variadic", "ellipsis"):
            needed.add(term.text)
    return needed


def expression_names(dims: Dims) -> set[str]:
    """Names inside expressions: they are used, not bound."""
    return {n for t in dims.terms if t.kind == "expression" for n in _names_of(t.text) or ()}


@dataclass(slots=True)
class Binding:
    """What names stand for in one call, and which operand said so first."""

    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    exact: set[str] = field(default_factory=set[str])

    def evaluate(self, term: Term) -> tuple[int, ...]:
        """The sizes that a term stands for."""
        match term.kind:
            case "literal":
                return (int(term.text),)
            case "expression":
                return (evaluate_expression(term.text, self.sizes),)
            case _:
                return self.sizes[term.text]

    def shape(self, dims: Dims) -> Shape:
        """The shape of an output; every name must be bound."""
        return Shape(size for term in dims.terms for size in self.evaluate(term))


def evaluate_expression(text: str, sizes: Mapping[str, tuple[int, ...]]) -> int:
    """The value of a sum or product of names, read from its syntax tree."""

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

    return value(ast.parse(text, mode="eval").body)


Operand = tuple[str, Dims, tuple[int, ...]]
"""Path, declared dimensions and actual shape of one tensor."""


def bind(operands: Iterable[Operand]) -> Binding:
    """Binds all names of one scope; `ShapeError` naming operand, name and both sizes.

    Exact names bind first, then broadcastable ones; one that is 1 everywhere binds 1.
    Expressions bind nothing and are checked last.
    """
    binding = Binding()
    pairs = [(path, dims, shape, list(_split(path, dims, shape))) for path, dims, shape in operands]
    for wanted in (_is_exact, _is_broadcast, _is_derived):
        for path, dims, shape, terms in pairs:
            for term, sizes in terms:
                if wanted(term):
                    _bind_term(binding, term, sizes, (path, dims, shape))
    return binding


def _is_exact(term: Term) -> bool:
    return term.kind in ("name", "variadic", "literal", "ellipsis") and not term.broadcasts


def _is_broadcast(term: Term) -> bool:
    return term.broadcasts


def _is_derived(term: Term) -> bool:
    return term.kind == "expression"


def _split(
    path: str, dims: Dims, shape: tuple[int, ...]
) -> Iterator[tuple[Term, tuple[int, ...]]]:
    pairs = dims.split(shape)
    if pairs is None:
        fixed = sum(not term.spans_many for term in dims.terms)
        at_least = "at least " if fixed < len(dims.terms) else ""
        raise ShapeError(
            f"`{path}` is declared `{dims.text}`, which has {at_least}{fixed} dimensions; "
            f"got shape {list(shape)} with {len(shape)}."
        )
    return pairs


def _bind_term(binding: Binding, term: Term, sizes: tuple[int, ...], operand: Operand) -> None:
    if term.kind == "ellipsis":
        binding.sizes[ELLIPSIS] = sizes  # meaningful only where one input has it
        return
    if term.kind in ("literal", "expression"):
        expected = binding.evaluate(term)
        if sizes != expected:
            _refuse(operand, term, sizes, expected, "declared")
        return
    known = binding.sizes.get(term.text)
    if known is None:
        binding.sizes[term.text], binding.origins[term.text] = sizes, operand[0]
        if not term.broadcasts:
            binding.exact.add(term.text)
    elif term.broadcasts:
        _broadcast_term(binding, term, sizes, operand)
    elif sizes != known:
        _refuse(operand, term, sizes, known, f"in `{binding.origins[term.text]}`")


def _broadcast_term(
    binding: Binding, term: Term, sizes: tuple[int, ...], operand: Operand
) -> None:
    known = binding.sizes[term.text]
    where = f"in `{binding.origins[term.text]}`"
    try:
        merged = tuple(broadcast_shapes(known, sizes))
    except ShapeError:
        _refuse(operand, term, sizes, known, where)
    if merged != known and term.text in binding.exact:
        _refuse(operand, term, sizes, known, where)
    if merged != known:
        binding.sizes[term.text], binding.origins[term.text] = merged, operand[0]


def _refuse(
    operand: Operand, term: Term, found: tuple[int, ...], expected: tuple[int, ...], where: str
) -> NoReturn:
    path, dims, shape = operand
    raise ShapeError(
        f"`{path}` is declared `{dims.text}` and has shape {list(shape)}: `{term.text}` is "
        f"{_sizes(expected)} {where} but {_sizes(found)} here."
    )


def _sizes(sizes: tuple[int, ...]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else str(list(sizes))
