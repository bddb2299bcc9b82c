"""Distinct elements, by sorting; each NaN is distinct.

https://data-apis.org/array-api/2024.12/API_specification/set_functions.html
"""

from __future__ import annotations

from typing import NamedTuple

from firebrick.tensor.tensor import Tensor


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """Distinct elements in order, first places, which of them each element is, how often."""
    if x.kind == "bool":
        found = unique_all(x.int())
        return found._replace(values=found.values.bool())
    flat = x.flatten()
    order = flat.argsort(0)
    ordered = flat.select(0, order)
    first = Tensor.ones((min(flat.size, 1),), x.device).bool()
    starts = Tensor.cat([first, ordered[1:] != ordered[:-1]])
    group = starts.int().cumsum(0) - 1
    inverse = group.select_assign(0, order, group).reshape(x.shape)
    places = Tensor.arange(0, flat.size, device=x.device)[starts]
    ends = Tensor.cat([places[1:], Tensor.from_ints([flat.size][: places.size], x.device)])
    return UniqueAll(ordered[starts], order[starts], inverse, ends - places)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Distinct elements in order, and how often each occurs."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Distinct elements in order, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """Distinct elements in order."""
    return unique_all(x).values
