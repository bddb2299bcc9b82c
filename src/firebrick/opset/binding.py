"""Binding the names of dimensions to the sizes of one call.

Exact names bind first, then broadcastable ones (`#m` that is 1 everywhere binds 1); expressions
bind nothing and are checked last. `...` stands for something only if exactly one operand has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from firebrick.core import Shape, broadcast_shapes
from firebrick.errors import ShapeError
from firebrick.opset.dims import ELLIPSIS, evaluate_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from firebrick.opset.dims import Dims, Term

Sizes: TypeAlias = tuple[int, ...]
Operand: TypeAlias = "tuple[str, Dims, Sizes]"
"""Path, declared dimensions and actual shape of one tensor."""


@dataclass(slots=True)
class Binding:
    """What names stand for in one call, and which operand said so first."""

    sizes: dict[str, Sizes] = field(default_factory=dict[str, Sizes])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    exact: set[str] = field(default_factory=set[str])
    ellipses: int = 0

    def evaluate(self, term: Term) -> Sizes:
        """The sizes that a term stands for; `KeyError` with a name that is not bound."""
        match term.kind:
            case "literal":
                return (int(term.text),)
            case "expression":
                return (evaluate_expression(term.text, self.sizes),)
            case "ellipsis" if self.ellipses != 1:
                raise KeyError(ELLIPSIS)
            case _:
                return self.sizes[term.text]

    def shape(self, dims: Dims, path: str) -> Shape | None:
        """The shape of an output; None where a name is not bound in this call, as `_` never is.

        `ShapeError` for an expression without a size.
        """
        try:
            shape = Shape(size for term in dims.terms for size in self.evaluate(term))
        except KeyError:
            return None
        if any(size < 0 for size in shape):
            raise ShapeError(f"`{path}` is declared `{dims.text}`, which would be {list(shape)}.")
        return shape


def bind(operands: Iterable[Operand]) -> Binding:
    """Binds all names of one scope; `ShapeError` naming operand, name and both sizes."""
    binding = Binding()
    split = [(operand, list(_split(operand))) for operand in operands]
    for is_wanted in (_is_exact, _is_broadcast, _is_derived):
        for operand, term, sizes in _wanted(split, is_wanted):
            _bind_term(binding, term, sizes, operand)
    return binding


def _wanted(
    split: list[tuple[Operand, list[tuple[Term, Sizes]]]], is_wanted: Callable[[Term], bool]
) -> Iterator[tuple[Operand, Term, Sizes]]:
    for operand, terms in split:
        yield from ((operand, term, sizes) for term, sizes in terms if is_wanted(term))


def _is_exact(term: Term) -> bool:
    return not term.broadcasts and term.kind not in ("any", "expression")


def _is_broadcast(term: Term) -> bool:
    return term.broadcasts


def _is_derived(term: Term) -> bool:
    return term.kind == "expression"


def _split(operand: Operand) -> Iterator[tuple[Term, Sizes]]:
    path, dims, shape = operand
    pairs = dims.split(shape)
    if pairs is None:
        fixed = sum(not term.spans_many for term in dims.terms)
        at_least = "at least " if fixed < len(dims.terms) else ""
        noun = "dimension" if fixed == 1 else "dimensions"
        raise ShapeError(
            f"`{path}` is declared `{dims.text}`, which has {at_least}{fixed} {noun}; "
            f"got shape {list(shape)} with {len(shape)}."
        )
    return pairs


def _bind_term(binding: Binding, term: Term, sizes: Sizes, operand: Operand) -> None:
    if term.kind == "ellipsis":
        binding.sizes[ELLIPSIS] = sizes
        binding.ellipses += 1
        return
    if term.kind in ("literal", "expression"):
        _check_value(binding, term, sizes, operand)
        return
    known = binding.sizes.get(term.text)
    if known is None:
        binding.sizes[term.text], binding.origins[term.text] = sizes, operand[0]
        if not term.broadcasts:
            binding.exact.add(term.text)
    elif term.broadcasts:
        _broadcast_term(binding, term, sizes, operand)
    elif sizes != known:
        _refuse(operand, term, sizes, known, f" in `{binding.origins[term.text]}`")


def _check_value(binding: Binding, term: Term, sizes: Sizes, operand: Operand) -> None:
    """A literal or expression has the size that it says."""
    try:
        expected = binding.evaluate(term)
    except KeyError as name:
        path, dims, _ = operand
        raise ShapeError(
            f"`{path}` is declared `{dims.text}`, and no tensor of this call says what "
            f"`{name.args[0]}` is."
        ) from None
    if sizes != expected:
        _refuse(operand, term, sizes, expected, "")


def _broadcast_term(binding: Binding, term: Term, sizes: Sizes, operand: Operand) -> None:
    known = binding.sizes[term.text]
    where = f" in `{binding.origins[term.text]}`"
    try:
        merged = tuple(broadcast_shapes(known, sizes))
    except ShapeError:
        _refuse(operand, term, sizes, known, where)
    if merged != known:
        if term.text in binding.exact:
            _refuse(operand, term, sizes, known, where)
        binding.sizes[term.text], binding.origins[term.text] = merged, operand[0]


def _refuse(operand: Operand, term: Term, found: Sizes, expected: Sizes, where: str) -> NoReturn:
    path, dims, shape = operand
    raise ShapeError(
        f"`{path}` is declared `{dims.text}` and has shape {list(shape)}: `{term.text}` is "
        f"{_listed(expected)}{where} but {_listed(found)} here."
    )


def _listed(sizes: Sizes) -> str:
    return str(sizes[0]) if len(sizes) == 1 else str(list(sizes))
