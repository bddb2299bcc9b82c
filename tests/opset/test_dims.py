"""The words of annotated dimensions: what is read, what is refused, what names are in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebrick.errors import ShapeError, SignatureError
from firebrick.opset.dims import (
    evaluate_expression,
    expression_names,
    names_bound,
    names_needed,
    parse_dims,
    unbound_name,
)


@pytest.mark.parametrize(
    ("word", "kind", "broadcasts"),
    [
        ("m", "name", False),
        ("batch_2", "name", False),
        ("#m", "name", True),
        ("*batch", "variadic", False),
        ("*#batch", "variadic", True),
        ("#*batch", "variadic", True),
        ("...", "ellipsis", False),
        ("_", "any", False),
        ("3", "literal", False),
        ("m+n", "expression", False),
        ("2*k", "expression", False),
        ("(m-1)//2", "expression", False),
    ],
)
def test_every_word_of_the_syntax_is_read(word: str, kind: str, *, broadcasts: bool) -> None:
    (term,) = parse_dims(word).terms
    assert (term.kind, term.broadcasts) == (kind, broadcasts)


@pytest.mark.parametrize(
    "word",
    [
        "m.n",
        "**m",
        "##m",
        "*",
        "#",
        "#3",
        "#...",
        "*_",
        "m+",
        "m**2",
        "f(m)",
        "m/2",
        "-m",
        "1e5",
        "?",
    ],
)
def test_a_word_outside_the_syntax_is_refused(word: str) -> None:
    with pytest.raises(SignatureError, match=r"in dimensions 'k .*' cannot be read; accepted are"):
        parse_dims(f"k {word}")


@pytest.mark.parametrize("text", ["... *batch", "*one *other", "... m ..."])
def test_only_one_word_stands_for_any_number_of_dimensions(text: str) -> None:
    with pytest.raises(SignatureError, match=r"have more than one of `\.\.\.` and `\*name`\."):
        parse_dims(text)


def test_no_words_mean_a_0d_tensor() -> None:
    dims = parse_dims("")
    assert dims.split(()) is not None
    assert dims.split((1,)) is None


def test_a_variadic_word_takes_what_the_others_leave() -> None:
    pairs = parse_dims("m *rest n").split((2, 3, 4, 5))
    assert pairs is not None
    assert [(term.text, sizes) for term, sizes in pairs] == [
        ("m", (2,)), ("*rest", (3, 4)), ("n", (5,)),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (2,)])
def test_too_few_sizes_do_not_fit_even_with_a_variadic_word(shape: tuple[int, ...]) -> None:
    assert parse_dims("m *rest n").split(shape) is None


def test_names_are_bound_by_words_and_used_by_expressions() -> None:
    dims = parse_dims("*batch #m n+k 2*p _ 4")
    assert names_bound(dims) == {"*batch", "m"}
    assert expression_names(dims) == {"n", "k", "p"}
    assert names_needed(dims) == {"*batch", "m", "n", "k", "p"}


def test_a_name_that_nothing_binds_is_found() -> None:
    assert unbound_name([parse_dims("m n")], [parse_dims("m+k")]) == "k"
    assert unbound_name([parse_dims("m m+j")]) == "j"
    assert unbound_name([parse_dims("m n")], [parse_dims("n m ...")]) is None


def test_a_variadic_name_is_another_name_than_the_plain_one() -> None:
    assert unbound_name([parse_dims("*m")], [parse_dims("m")]) == "m"


def test_an_expression_that_divides_by_zero_is_a_shape_error() -> None:
    with pytest.raises(ShapeError, match=r"`m//n` divides by zero\."):
        evaluate_expression("m//n", {"m": (4,), "n": (0,)})


def test_an_expression_with_an_unknown_name_says_which() -> None:
    with pytest.raises(KeyError, match="k"):
        evaluate_expression("m+k", {"m": (4,)})


NUMBERS = st.integers(0, 9)
NAMES = st.sampled_from(["m", "n", "k"])
ATOMS = st.one_of(NAMES, NUMBERS.map(str))
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda parts: f"({parts[0]}{parts[1]}{parts[2]})"
    ),
    max_leaves=6,
)


@given(text=EXPRESSIONS, m=NUMBERS, n=NUMBERS, k=NUMBERS)
def test_expressions_mean_what_python_means(text: str, m: int, n: int, k: int) -> None:
    sizes = {"m": (m,), "n": (n,), "k": (k,)}
    assert evaluate_expression(text, sizes) == eval(text, {"m": m, "n": n, "k": k})
