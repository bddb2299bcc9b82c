"""Cases made up from a signature.

The first sizes and choices that the operation takes are the base. Around it are variants: one
other choice at a time, floats in other ranges, sizes of 0 and 1 and other ranks. What an
operation refuses is no case of it; who decides that is the caller, with `accepts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from firebrick.testing.case import Case, HostTensor, Role
from firebrick.testing.nests import find_leaves, replace_leaves
from firebrick.testing.sizes import (
    PLAIN_CANDIDATES,
    Sizing,
    Slot,
    assign_shapes,
    size_variants,
)
from firebrick.testing.structure import Structure
from firebrick.testing.values import Family, Pool

if TYPE_CHECKING:
    from firebrick.opset import Operation

Accepts = Callable[[Case], bool]
FAMILIES: tuple[Family, ...] = ("mixed", "unit", "above one")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What tells one case of an operation from another."""

    sizing: Sizing
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    family: Family = "mixed"
    role: Role = "plain"


class Generator:
    """Makes the cases of one operation; the same seed makes the same ones.

    `refused` are the variants that it takes in no size.
    """

    def __init__(self, operation: Operation, seed: int) -> None:
        self._operation = operation
        self._seed = seed
        self.refused: list[str] = []

    def make(self, recipe: Recipe, *, seed: int = 0) -> Case | None:
        """The case of a recipe; None where its sizes do not exist.

        Raises: `CannotMakeError` for a parameter whose value cannot be made up.
        """
        arguments = Structure(recipe.chosen).arguments(self._operation)
        slots = [slot for _, slot in find_leaves(arguments, Slot)]
        shapes = assign_shapes(slots, recipe.sizing)
        if shapes is None:
            return None
        pool = Pool(recipe.family, self._seed + seed)
        arrays = iter(pool.arrays([slot.kind for slot in slots], shapes))
        filled = replace_leaves(arguments, Slot, lambda slot: HostTensor(next(arrays), slot.kind))
        return Case(filled, recipe.role)

    def base(self, accepts: Accepts) -> Recipe | None:
        """The first sizes and choices that the operation takes; None if it takes none."""
        sites = self._sites({}).sites
        others = [{site: option} for site, count in sites.items() for option in range(1, count)]
        for chosen, sizing in product([{}, *others], PLAIN_CANDIDATES):
            recipe = Recipe(sizing, chosen)
            if self._is_accepted(recipe, accepts):
                return recipe
        return None

    def variants(self, base: Recipe, accepts: Accepts) -> Iterator[Recipe]:
        """Everything around the base that the operation takes."""
        for chosen in self._choices(base.chosen):
            # Another variant may need other sizes.
            found = self._first([Recipe(s, chosen) for s in self._sizings(base)], accepts)
            if found is not None:
                yield found
            elif self._is_variant(base.chosen, chosen):
                self.refused.append(str(self.make(Recipe(base.sizing, chosen))))
        for family in FAMILIES[1:]:
            recipe = Recipe(base.sizing, base.chosen, family)
            if self._has_floats(base) and self._is_accepted(recipe, accepts):
                yield recipe
        arguments = Structure(base.chosen).arguments(self._operation)
        slots = [slot for _, slot in find_leaves(arguments, Slot)]
        for sizing in size_variants(slots, base.sizing):
            tries = [Recipe(sizing, chosen, role="sizes") for chosen in self._smaller(base.chosen)]
            found = self._first(tries, accepts)
            if found is not None:
                yield found

    def _sizings(self, base: Recipe) -> list[Sizing]:
        """Those of the base, then the other candidates."""
        return [base.sizing, *(sizing for sizing in PLAIN_CANDIDATES if sizing != base.sizing)]

    def _choices(self, chosen: Mapping[str, int]) -> Iterator[Mapping[str, int]]:
        """`chosen` with another option at one site, and at sites that only that option has."""
        known: set[str] = set()
        pending = [dict(chosen)]
        while pending:
            current = pending.pop(0)
            sites = self._sites(current).sites
            new = {site: count for site, count in sites.items() if site not in known}
            known |= set(new)
            others = [
                {**current, site: option}
                for site, count in new.items()
                for option in range(count)
                if option != current.get(site, 0)
            ]
            pending += others
            yield from others

    def _is_variant(self, base: Mapping[str, int], chosen: Mapping[str, int]) -> bool:
        """Whether `chosen` is another variant or optional, rather than another number."""
        changed = {site for site, option in chosen.items() if base.get(site, 0) != option}
        return bool(changed & self._sites(chosen).variant_sites)

    def _smaller(self, chosen: Mapping[str, int]) -> list[Mapping[str, int]]:
        """`chosen`, and with 0 for every number: dimension 1 is not in a tensor of rank 1."""
        sites = self._sites(chosen).number_sites
        zeros = dict.fromkeys(sites, 1)  # the second of the numbers in `ordinary.BY_TYPE`
        return [chosen, {**chosen, **zeros}] if sites else [chosen]

    def _sites(self, chosen: Mapping[str, int]) -> Structure:
        structure = Structure(chosen)
        structure.arguments(self._operation)
        return structure

    def _has_floats(self, recipe: Recipe) -> bool:
        case = self.make(recipe)
        return case is not None and bool(case.floats())

    def _first(self, recipes: list[Recipe], accepts: Accepts) -> Recipe | None:
        return next((r for r in recipes if self._is_accepted(r, accepts)), None)

    def _is_accepted(self, recipe: Recipe, accepts: Accepts) -> bool:
        case = self.make(recipe)
        return case is not None and accepts(case)
