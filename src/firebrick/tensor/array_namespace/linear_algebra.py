"""Products of matrices and vectors.

https://data-apis.org/array-api/2024.12/API_specification/linear_algebra_functions.html
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from firebrick.errors import ShapeError
from firebrick.tensor.array_namespace.constants import result_type
from firebrick.tensor.checks import dims_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.tensor.tensor import Tensor


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product of the last two dimensions."""
    return x1.matmul(x2)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two dimensions exchanged."""
    return x.transpose()


def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:
    """Sums products over `axes`: the last ones of `x1` with the first ones of `x2`, or pairs."""
    last, first = axes if not isinstance(axes, int) else (range(-axes, 0), range(axes))
    left = dims_of("tensordot", tuple(last), x1.ndim)
    right = dims_of("tensordot", tuple(first), x2.ndim)
    summed = [x1.shape[dim] for dim in left]
    if summed != [x2.shape[dim] for dim in right]:
        raise ShapeError(
            f"`tensordot` sums over dimensions of equal sizes; got shapes {list(x1.shape)} and "
            f"{list(x2.shape)} over {list(left)} and {list(right)}."
        )
    rows = [dim for dim in range(x1.ndim) if dim not in left]
    columns = [dim for dim in range(x2.ndim) if dim not in right]
    shape = [*(x1.shape[dim] for dim in rows), *(x2.shape[dim] for dim in columns)]
    count = prod(summed)
    lhs = x1.permute(*rows, *left).reshape(prod(x1.shape[dim] for dim in rows), count)
    rhs = x2.permute(*right, *columns).reshape(count, prod(x2.shape[dim] for dim in columns))
    return lhs.matmul(rhs).reshape(shape)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of products along `axis`; the other dimensions broadcast."""
    return (x1 * x2).sum(axis).cast(result_type(x1, x2))
