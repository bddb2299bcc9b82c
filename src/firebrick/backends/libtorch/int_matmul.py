"""Products of int matrices where torch has none: on a GPU, by products of float64 matrices.

Both operands are cut into parts of 16 bits. A product of two parts is below 2**32, so that the
sum of 2**21 of them is exact in float64; longer sums are taken in pieces. Shifted to their places
in int64, the sums wrap as products of integers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.backends.libtorch.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

PART_BITS = 16
EXACT_TERMS = 2**21


def int_matmul(lhs: Tensor, rhs: Tensor) -> Tensor:
    """The product in the operands' dtype, on any device that has float64."""
    total = _exact_product(lhs[..., :EXACT_TERMS], rhs[..., :EXACT_TERMS, :])
    for start in range(EXACT_TERMS, lhs.shape[-1], EXACT_TERMS):
        end = start + EXACT_TERMS
        total = total + _exact_product(lhs[..., start:end], rhs[..., start:end, :])
    return total.to(lhs.dtype)


def _exact_product(lhs: Tensor, rhs: Tensor) -> Tensor:
    count = -(-8 * lhs.element_size() // PART_BITS)
    left, right = _parts(lhs, count), _parts(rhs, count)
    pairs = [(i, j) for i in range(count) for j in range(count - i)]
    # The others lie wholly above the dtype's width.
    total = torch.matmul(left[0], right[0]).long()
    for i, j in pairs[1:]:
        total = total + (torch.matmul(left[i], right[j]).long() << (PART_BITS * (i + j)))
    return total


def _parts(tensor: Tensor, count: int) -> list[Tensor]:
    """Parts of 16 bits as float64, the lowest first."""
    wide = tensor.long()
    mask = (1 << PART_BITS) - 1
    return [(wide >> (PART_BITS * part) & mask).double() for part in range(count)]
