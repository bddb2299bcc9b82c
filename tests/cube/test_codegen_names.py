"""Identifiers of generated code: valid everywhere, different, the same every time."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.cube.codegen_kernels import NAMES

from firebrick.cube.codegen import cuda, hip, wgsl
from firebrick.cube.codegen.names import LONGEST, Names, distinct, entry_point

# Some of what C++, HIP and WGSL keep for themselves.
RESERVED = """
    alignas and auto bool break case char class const continue default delete do double else enum
    extern float for goto half if in inline input int kernel let long loop main new not operator or
    out override private ptr return sampler select shared short signed static struct switch target
    template texture this thread true type typedef uniform union unsigned using var vec4 void
    volatile while workgroup xor
""".split()
names = st.text(min_size=1, max_size=60)


@given(st.lists(names, unique=True, max_size=20))
def test_different_names_are_different_identifiers(given_names: list[str]) -> None:
    chosen = distinct("v", given_names)
    assert list(chosen) == given_names
    assert len(set(chosen.values())) == len(given_names)


@given(names)
def test_every_name_is_an_identifier_of_every_target(name: str) -> None:
    (identifier,) = distinct("v", [name]).values()
    assert re.fullmatch(r"v_[A-Za-z0-9]+(_[A-Za-z0-9]+)*", identifier)
    assert len(identifier) <= LONGEST + 2
    assert identifier not in RESERVED


def test_reserved_words_are_names_as_good_as_any() -> None:
    assert set(distinct("b", RESERVED).values()).isdisjoint(RESERVED)


def test_an_entry_point_is_known_by_the_name_alone() -> None:
    assert entry_point("main") == "k_main"
    assert Names(NAMES.function).kernel == "k_main"


def test_what_becomes_equal_is_told_apart_by_numbers() -> None:
    assert list(distinct("v", ["é", "è", "x_2", "x"]).values()) == [
        "v_x",
        "v_x_2",
        "v_x_2_2",
        "v_x_3",
    ]


def test_the_same_function_has_the_same_text() -> None:
    for module in (cuda, hip, wgsl):
        assert module.emit(NAMES.function) == module.emit(NAMES.function)
