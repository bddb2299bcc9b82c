"""Shapes of generated tensors: sizes chosen for names of dimensions, then shapes from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from firebrick.opset.dims import Dims, Term, evaluate_expression, expression_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firebrick.core import Kind

Sizes = dict[tuple[str, str], tuple[int, ...]]
"""What a name stands for, by the scope and the name."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a tensor in a case: where it is, and what its annotation says."""

    path: str
    kind: Kind
    dims: Dims | None
    scope: str


@dataclass(frozen=True, slots=True)
class Sizing:
    """How sizes are chosen.

    `names` are given to names of dimensions in the order in which they appear, over and over;
    `free` is the shape of tensors without dimensions and of `...`, by kind where `free_of` has
    it, `batch` that of `*names`; `later` is the shape of floats without dimensions after the first.
    `fixed` overrides single names, `ones` counts which of the broadcastable dimensions is 1, and
    with `apart` the structs have sizes of their own.
    """

    names: tuple[int, ...] = (2, 3, 4, 5)
    free: tuple[int, ...] = (2, 3)
    batch: tuple[int, ...] = (2,)
    free_of: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict["Kind", "tuple[int, ...]"])
    later: tuple[int, ...] | None = None
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])
    ones: int | None = None
    apart: bool = False


PLAIN = Sizing()
PLAIN_CANDIDATES = (
    PLAIN,
    Sizing(names=(5, 4, 3, 2)),  # for differences such as `m-n`
    Sizing(names=(4, 2), free=(3, 3), batch=(3,)),  # squares multiply and broadcast
    Sizing(free_of={"int": (3,)}),  # a vector of row numbers
    Sizing(later=(3,)),  # a matrix, and vectors that broadcast against it
    Sizing(free=(4,), batch=()),
    Sizing(free=(2, 3, 3), batch=(2, 2)),
    Sizing(free=(1, 2, 4, 4)),  # images: batch, channels, height, width
)
"""What to try in order until an operation takes it."""


def assign_shapes(slots: Sequence[Slot], sizing: Sizing) -> list[tuple[int, ...]] | None:
    """A shape per slot; None where an expression is negative or names what nothing binds."""
    sizes = _name_sizes(slots, sizing)
    if not all(_is_bound(slot, sizes) for slot in slots):
        return None
    shapes: list[tuple[int, ...]] = []
    ones = 0
    seen_free = False
    for slot in slots:
        if slot.dims is None:
            later = sizing.later if seen_free and slot.kind == "float" else None
            seen_free |= slot.kind == "float"
            shapes.append(later or sizing.free_of.get(slot.kind, sizing.free))
            continue
        parts = [_sizes_of(term, slot.scope, sizes, sizing) for term in slot.dims.terms]
        for position, term in enumerate(slot.dims.terms):
            if term.broadcasts and ones == sizing.ones:
                parts[position] = (1,) * len(parts[position])
            ones += term.broadcasts
        shapes.append(tuple(size for part in parts for size in part))
    return shapes if all(size >= 0 for shape in shapes for size in shape) else None


def _name_sizes(slots: Sequence[Slot], sizing: Sizing) -> Sizes:
    found: Sizes = {}
    order: dict[tuple[str, str], int] = {}
    for slot in slots:
        for term in slot.dims.terms if slot.dims is not None else ():
            if term.kind == "variadic":
                found[slot.scope, term.text] = sizing.batch
            if term.kind != "name":
                continue
            # Names of different scopes may differ, but as a rule they mean the same.
            known = (slot.scope if sizing.apart else "", term.text)
            position = order.setdefault(known, len(order))
            size = sizing.fixed.get(term.text, sizing.names[position % len(sizing.names)])
            found[slot.scope, term.text] = (size,)
    return found


def _is_bound(slot: Slot, sizes: Sizes) -> bool:
    names = expression_names(slot.dims) if slot.dims is not None else ()
    return all((slot.scope, name) in sizes for name in names)


def _sizes_of(term: Term, scope: str, sizes: Sizes, sizing: Sizing) -> tuple[int, ...]:
    match term.kind:
        case "literal":
            return (int(term.text),)
        case "any":
            return (sizing.names[0],)
        case "ellipsis":
            return sizing.free
        case "expression":
            own = {name: size for (known, name), size in sizes.items() if known == scope}
            return (evaluate_expression(term.text, own),)
        case _:
            return sizes[scope, term.text]


def size_variants(slots: Sequence[Slot], base: Sizing) -> list[Sizing]:
    """Sizings with sizes of 0 and 1, other ranks, and broadcast dimensions, starting from one."""
    names = list(dict.fromkeys(
        term.text for slot in slots if slot.dims for term in slot.dims.terms if term.kind == "name"
    ))  # fmt: skip
    kinds = {term.kind for slot in slots if slot.dims for term in slot.dims.terms}
    found: list[Sizing] = [replace(base, fixed={**base.fixed, name: 0}) for name in names]
    if names:
        found.append(replace(base, names=(1,), fixed={}))
        found.append(replace(base, names=(3, 2, 5, 4), fixed={}))
    if any(slot.dims is None for slot in slots) or "ellipsis" in kinds:
        found += _free_variants(base)
    if "variadic" in kinds:
        found += [replace(base, batch=batch) for batch in ((), (0,), (1,), (2, 3))]
    broadcasting = sum(t.broadcasts for slot in slots if slot.dims for t in slot.dims.terms)
    found += [replace(base, ones=count) for count in range(broadcasting)]
    if len({slot.scope for slot in slots if slot.dims}) > 1:
        found.append(replace(base, apart=True))
    return found


def _free_variants(base: Sizing) -> list[Sizing]:
    rank = len(base.free)
    shapes = [(), (4,), (2, 3), (2, 3, 2), (0,), (1,), (1,) * rank, (0, *base.free[1:]), (2, 0)]
    other = [shape for shape in dict.fromkeys(shapes) if shape != base.free]
    return [replace(base, free=shape, later=None, free_of={}) for shape in other]
