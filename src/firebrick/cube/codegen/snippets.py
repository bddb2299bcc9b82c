"""Functions that generated code calls: found by name in finished text, filled in, put in order.

Such a function is called `f_STEM_TYPE` or `f_STEM_TYPE_TYPE`, for example `f_floordiv_i32` and
`f_cast_u8_f32`. A target's tables have a template for the stem, or for the stem and a type
(`pack.bf16`), or for the stem and a kind of type (`floordiv.uint`); the first type decides. In a
template

    $t $T $E $U $bits    the first type: its name, registers, elements, unsigned twin, size
    $s $S                the second type: its name, registers
    $F                   the registers' float type as the IR calls it (f32 for the half types)
    $round(              rounds to the first type if it is a half type
    @name                what the target's table of spellings says

and further keys that a target's `words` adds. Templates call other snippets by their names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firebrick.cube.codegen.target import HALVES, registers_of
from firebrick.cube.ir.types import BITS, Type, parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.cube.codegen.target import Target

Words = dict[str, str]
_CALL = re.compile(r"\bf_[a-z0-9_]+\b")
_WORD = re.compile(r"\$[A-Za-z]+")
_SPELLING = re.compile(r"@[a-z0-9_]+")


def called(text: str) -> list[str]:
    """Names of the snippets that a text calls, in the order of first use."""
    return list(dict.fromkeys(_CALL.findall(text)))


def split_name(name: str) -> tuple[str, list[Type]]:
    """The stem and the types of a snippet's name."""
    parts = name.split("_")[1:]
    types: list[Type] = []
    while len(parts) > 1 and parts[-1] in BITS:
        types.insert(0, parse_type(parts.pop()))
    return "_".join(parts), types


def resolve(text: str, target: Target, words: Callable[[Type], Words]) -> list[str]:
    """The texts of all snippets that a text needs, each before those that call it."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        body = _fill(name, target, words)
        for needed in called(body):
            if needed != name:
                add(needed)
        done[name] = body

    for name in called(text):
        add(name)
    return list(done.values())


def _fill(name: str, target: Target, words: Callable[[Type], Words]) -> str:
    stem, types = split_name(name)
    template = _template(stem, types, target.snippets)
    filling = _filling(types, target, words)
    template = _WORD.sub(lambda match: filling[match.group()], template)
    return _SPELLING.sub(lambda match: _spelling(match.group()[1:], types, target), template)


def _template(stem: str, types: list[Type], snippets: Mapping[str, str]) -> str:
    if types:
        first = types[0]
        for key in (f"{stem}.{first.scalar}", f"{stem}.{first.kind}"):
            if key in snippets:
                return snippets[key]
    return snippets[stem]


def _spelling(name: str, types: list[Type], target: Target) -> str:
    scalar = registers_of(types[0]).scalar if types else ""
    typed = target.spellings.get(f"{name}.{scalar}")
    return target.spellings[name] if typed is None else typed


def _filling(types: list[Type], target: Target, words: Callable[[Type], Words]) -> Words:
    if not types:
        return {}
    first = types[0]
    filling = {
        "$t": first.scalar,
        "$T": target.types[first.scalar],
        "$E": target.stored[first.scalar],
        "$bits": str(first.bits),
        "$F": registers_of(first).scalar,
        "$round": f"f_round_{first.scalar}" if first.scalar in HALVES else "",
        **words(first),
    }
    if len(types) > 1:
        filling |= {"$s": types[1].scalar, "$S": target.types[types[1].scalar]}
        filling |= {f"${key[1:]}s": value for key, value in words(types[1]).items()}
    return filling
