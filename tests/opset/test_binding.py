"""Binding names of dimensions to sizes, against a solver that tries all values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebrick.errors import ShapeError
from firebrick.opset.binding import Binding, Operand, bind
from firebrick.opset.dims import Term, parse_dims

Sizes = tuple[int, ...]


def operands(*pairs: tuple[str, Sizes]) -> list[Operand]:
    """Named `x0`, `x1`, ..."""
    return [(f"x{i}", parse_dims(text), shape) for i, (text, shape) in enumerate(pairs)]


# ---- the solver --------------------------------------------------------------------------------


def occurrences(given: list[Operand]) -> list[tuple[Term, Sizes]] | None:
    """Every term with the sizes it stands for; None if a rank does not fit."""
    found: list[tuple[Term, Sizes]] = []
    for _, dims, shape in given:
        pairs = dims.split(shape)
        if pairs is None:
            return None
        found += pairs
    return found


def fits(term: Term, sizes: Sizes, values: dict[str, Sizes]) -> bool:
    if term.kind in ("any", "ellipsis"):
        return True
    if term.kind == "literal":
        return sizes == (int(term.text),)
    if term.kind == "expression":
        names = {name: value[0] for name, value in values.items() if name[0] != "*"}
        return sizes == (eval(term.text, names),)
    value = values[term.text]
    return broadcast(value, sizes) == value if term.broadcasts else sizes == value


def broadcast(*shapes: Sizes) -> Sizes | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def solutions(given: list[Operand]) -> Iterator[dict[str, Sizes]]:
    """All values of the names that fit every term.

    A name has a size that it stands for somewhere; if it is broadcastable everywhere, the one
    that all its sizes broadcast to.
    """
    found = occurrences(given)
    if found is None:
        return
    named = [(term, sizes) for term, sizes in found if term.kind in ("name", "variadic")]
    candidates: dict[str, set[Sizes | None]] = {}
    for name in {term.text for term, _ in named}:
        exact = {sizes for term, sizes in named if term.text == name and not term.broadcasts}
        loose = [sizes for term, sizes in named if term.text == name]
        candidates[name] = {*exact} if exact else {broadcast(*loose)}
    for values in itertools.product(*candidates.values()):
        if None in values:
            continue
        chosen: dict[str, Any] = dict(zip(candidates, values, strict=True))
        if all(fits(term, sizes, chosen) for term, sizes in found):
            yield chosen


# ---- properties --------------------------------------------------------------------------------

SIZES = st.integers(1, 3)
WORDS = st.one_of(
    st.sampled_from(["m", "n", "#m", "#n", "_", "1", "2", "m+1", "2*n", "m-n", "m*n"]),
)
MANY = st.sampled_from([None, "...", "*v", "*#v"])


@st.composite
def declared_dims(draw: st.DrawFn) -> str:
    words = draw(st.lists(WORDS, max_size=3))
    many = draw(MANY)
    if many is not None:
        words.insert(draw(st.integers(0, len(words))), many)
    return " ".join(words)


@st.composite
def declared_operands(draw: st.DrawFn) -> list[Operand]:
    """Mostly of the right rank, with names that expressions use bound somewhere."""
    pairs: list[tuple[str, Sizes]] = [
        ("m n", (draw(SIZES), draw(SIZES))) if draw(st.booleans()) else ("#m #n", (1, draw(SIZES)))
    ]
    for _ in range(draw(st.integers(1, 3))):
        text = draw(declared_dims())
        fixed = sum(not term.spans_many for term in parse_dims(text).terms)
        spare = draw(st.integers(0, 2)) if fixed < len(text.split()) else 0
        sizes = draw(st.lists(SIZES, min_size=fixed + spare, max_size=fixed + spare))
        pairs.append((text, tuple(sizes)))
    return operands(*pairs)


@given(given_operands=declared_operands())
def test_names_bind_to_the_only_values_that_fit(given_operands: list[Operand]) -> None:
    expected = list(solutions(given_operands))
    assert len(expected) <= 1
    try:
        found = bind(given_operands)
    except ShapeError:
        assert expected == []
    else:
        assert [{n: s for n, s in found.sizes.items() if n != "..."}] == expected


@given(m=SIZES, n=SIZES, rest=st.lists(SIZES, max_size=3))
def test_an_output_has_the_shape_that_its_names_stand_for(m: int, n: int, rest: list[int]) -> None:
    binding = bind(operands(("m n", (m, n)), ("*v m", (*rest, m))))
    shape = binding.shape(parse_dims("*v m+n #m 2 n*n"), "out")
    assert shape == (*rest, m + n, m, 2, n * n)


# ---- single rules ------------------------------------------------------------------------------


def test_a_broadcastable_name_that_is_1_everywhere_binds_1() -> None:
    assert bind(operands(("#m", (1,)), ("#m", (1,)))).sizes == {"m": (1,)}


def test_a_broadcastable_name_does_not_widen_an_exact_one() -> None:
    with pytest.raises(ShapeError, match=r"`x0` .* `m` is 1 in `x1` but 4 here\."):
        bind(operands(("#m", (4,)), ("m", (1,))))


def test_expressions_wait_for_names_that_later_operands_bind() -> None:
    assert bind(operands(("m+1", (3,)), ("m", (2,)))).sizes == {"m": (2,)}


def test_an_ellipsis_stands_for_something_only_if_one_operand_has_it() -> None:
    once = bind(operands(("... k", (2, 3, 4))))
    twice = bind(operands(("...", (2,)), ("...", (2,))))
    assert once.shape(parse_dims("..."), "out") == (2, 3)
    assert twice.shape(parse_dims("..."), "out") is None


@pytest.mark.parametrize("text", ["k", "_", "m _", "m+k"])
def test_an_output_with_an_unbound_name_has_no_shape(text: str) -> None:
    assert bind(operands(("m", (2,)))).shape(parse_dims(text), "out") is None


def test_an_output_of_negative_size_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"`out` is declared `m-n`, which would be \[-2\]\."):
        bind(operands(("m n", (1, 3)))).shape(parse_dims("m-n"), "out")


def test_a_conflict_names_both_operands_and_both_sizes() -> None:
    message = r"`x1` is declared `k n` and has shape \[4, 5\]: `k` is 3 in `x0` but 4 here\."
    with pytest.raises(ShapeError, match=message):
        bind(operands(("m k", (2, 3)), ("k n", (4, 5))))


def test_a_conflict_of_variadic_names_shows_all_sizes() -> None:
    with pytest.raises(ShapeError, match=r"`\*v` is \[2, 3\] in `x0` but 2 here\."):
        bind(operands(("*v", (2, 3)), ("*v", (2,))))


def test_a_literal_says_what_it_is() -> None:
    with pytest.raises(ShapeError, match=r"`x0` .* shape \[2, 5\]: `4` is 4 but 5 here\."):
        bind(operands(("n 4", (2, 5))))


def test_an_expression_says_what_it_is() -> None:
    with pytest.raises(ShapeError, match=r"shape \[2, 5\]: `2\*n` is 4 but 5 here\."):
        bind(operands(("n 2*n", (2, 5))))


def test_an_expression_of_a_name_that_no_tensor_binds_is_refused() -> None:
    message = r"`x0` is declared `m\+1`, and no tensor of this call says what `m` is\."
    with pytest.raises(ShapeError, match=message):
        bind(operands(("m+1", (3,))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m", r"which has 1 dimension; got shape \[2, 3\] with 2\."),
        ("m n k", r"which has 3 dimensions; got shape \[2, 3\] with 2\."),
        ("m n k ...", r"which has at least 3 dimensions; got shape \[2, 3\] with 2\."),
    ],
)
def test_a_wrong_rank_names_both_ranks(text: str, message: str) -> None:
    with pytest.raises(ShapeError, match=f"`x0` is declared `{re.escape(text)}`, {message}"):
        bind(operands((text, (2, 3))))


def test_a_new_binding_knows_nothing() -> None:
    assert Binding().shape(parse_dims("m"), "out") is None
    assert Binding().shape(parse_dims("3"), "out") == (3,)
