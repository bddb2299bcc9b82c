"""Reductions and running totals, and questions about all elements.

https://data-apis.org/array-api/2024.12/API_specification/statistical_functions.html, and
`utility_functions.html` beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import ShapeError
from firebrick.tensor.checks import dim_of
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from firebrick.core import DType

    Axes: TypeAlias = int | Sequence[int] | None


def _cast(x: Tensor, dtype: DType | None) -> Tensor:
    return x if dtype is None else x.cast(dtype)


def sum(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The sum."""
    return _cast(_cast(x, dtype).sum(axis, keepdim=keepdims), dtype)


def prod(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The product."""
    return _cast(_cast(x, dtype).prod(axis, keepdim=keepdims), dtype)


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean."""
    return x.mean(axis, keepdim=keepdims)


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element."""
    return x.max(axis, keepdim=keepdims)


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest element."""
    return x.min(axis, keepdim=keepdims)


def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance."""
    return x.var(axis, keepdim=keepdims, correction=correction)


def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The standard deviation."""
    return x.var(axis, keepdim=keepdims, correction=correction).sqrt()


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Each element plus all before it; `include_initial` puts a 0 in front."""
    dim = _only_dim("cumulative_sum", x, axis)
    total = _cast(_cast(x, dtype).cumsum(dim), dtype)
    return _with_initial(total, dim, 0) if include_initial else total


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Each element times all before it; `include_initial` puts a 1 in front."""
    dim = _only_dim("cumulative_prod", x, axis)
    total = _cast(_cast(x, dtype).cumprod(dim), dtype)
    return _with_initial(total, dim, 1) if include_initial else total


def _only_dim(shown: str, x: Tensor, axis: int | None) -> int:
    if axis is None and x.ndim != 1:
        raise ShapeError(f"`{shown}` needs an `axis` for a tensor of shape {list(x.shape)}.")
    return dim_of(shown, axis or 0, x.ndim)


def _with_initial(x: Tensor, dim: int, number: int) -> Tensor:
    first = Tensor.full(x.shape.replace(dim, 1), number, x.device, dtype=x.dtype)
    return Tensor.cat([first, x], dim)


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether every element is true, or not zero."""
    return x.all(axis, keepdim=keepdims)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether some element is true, or not zero."""
    return x.any(axis, keepdim=keepdims)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element minus the one before it, `n` times over."""
    dim = dim_of("diff", axis, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    whole = x if len(parts) == 1 else Tensor.cat(parts, dim)
    before = (slice(None),) * dim
    for _ in range(n):
        whole = whole[(*before, slice(1, None))] - whole[(*before, slice(0, -1))]
    return whole
