"""Products and sums along a dimension that gradients of products need.

All are made of multiplications and additions of shifted parts, in a number of passes that grows
with the logarithm of the size. Nothing is divided by, so they hold where factors are zero, and
their own derivatives are right there too.
"""

from __future__ import annotations

from typing import Any

from firebrick.core import DType, bool_, normalize_dim
from firebrick.decorators.autodiff.rules.parts import int_part, part


def products_of_others(b: Any, factors: Any, dim: int) -> Any:
    """For each element the product of all other elements along `dim`."""
    after = b.float_flip(products_before(b, b.float_flip(factors, [dim]), dim), [dim])
    return b.float_mul(products_before(b, factors, dim), after)


def products_before(b: Any, factors: Any, dim: int) -> Any:
    """For each element the product of the elements before it along `dim`, which is not empty."""
    size = factors.shape[normalize_dim(dim, len(factors.shape))]
    running = b.float_cumprod(part(b, factors, dim, 0, size - 1), dim)
    return b.float_cat([_one(b, factors, dim), running], dim)


def weighted_sums_from(b: Any, factors: Any, terms: Any, dim: int) -> Any:
    """The sums `s[i] = terms[i] + factors[i + 1] * s[i + 1]` along `dim`; `s` ends in `terms[-1]`.

    Method: Kogge and Stone 1973, "A Parallel Algorithm for the Efficient Solution of a General
    Class of Recurrence Equations", IEEE Transactions on Computers C-22.
    """
    size = terms.shape[normalize_dim(dim, len(terms.shape))]
    sums, reach = terms, part(b, factors, dim, 1, size)
    offset = 1
    while offset < size:
        # reach[i] is the product of factors[i + 1] to factors[i + offset]
        later = b.float_mul(reach, part(b, sums, dim, offset, size))
        earlier = b.float_add(part(b, sums, dim, 0, size - offset), later)
        sums = b.float_cat([earlier, part(b, sums, dim, size - offset, size)], dim)
        if 2 * offset < size:
            reach = b.float_mul(
                part(b, reach, dim, 0, size - 2 * offset),
                part(b, reach, dim, offset, size - offset),
            )
        offset *= 2
    return sums


def products_of_others_in_groups(b: Any, factors: Any, groups: Any, dim: int) -> Any:
    """For each element the product of the others along `dim` that have the same group number."""
    numbers = b.int_cast(groups, index_dtype(b, factors))
    order = b.int_argsort(numbers, dim, False)
    sorted_groups = b.int_gather(dim, numbers, order)
    sorted_factors = b.float_gather(dim, factors, order)
    before = _products_before_in_groups(b, sorted_factors, sorted_groups, dim)
    after = _products_before_in_groups(
        b, b.float_flip(sorted_factors, [dim]), b.int_flip(sorted_groups, [dim]), dim
    )
    others = b.float_mul(before, b.float_flip(after, [dim]))
    return b.float_gather(dim, others, b.int_argsort(order, dim, False))


def index_dtype(b: Any, tensor: Any) -> DType:
    """The dtype that holds positions where `tensor` lives."""
    return b.default_dtypes(b.device_of(tensor))["int"]


def _products_before_in_groups(b: Any, factors: Any, groups: Any, dim: int) -> Any:
    """As `products_before`, of elements of the same group only; groups are contiguous."""
    size = factors.shape[normalize_dim(dim, len(factors.shape))]
    running = factors
    offset = 1
    while offset < size:
        earlier = _of_same_group(b, running, groups, dim, offset)
        later = b.float_mul(part(b, running, dim, offset, size), earlier)
        running = b.float_cat([part(b, running, dim, 0, offset), later], dim)
        offset *= 2
    return b.float_cat([_one(b, factors, dim), _of_same_group(b, running, groups, dim, 1)], dim)


def _of_same_group(b: Any, running: Any, groups: Any, dim: int, offset: int) -> Any:
    """What stands `offset` before each element that has one there; 1 if in another group."""
    size = running.shape[normalize_dim(dim, len(running.shape))]
    other = b.int_not_equal(
        int_part(b, groups, dim, offset, size), int_part(b, groups, dim, 0, size - offset), bool_
    )
    return b.float_mask_fill(part(b, running, dim, 0, size - offset), other, 1.0)


def _one(b: Any, factors: Any, dim: int) -> Any:
    """The empty product, of size 1 along `dim`."""
    shape = [*factors.shape]
    shape[normalize_dim(dim, len(shape))] = 1
    return b.float_ones(shape, b.device_of(factors), b.dtype_of(factors))
