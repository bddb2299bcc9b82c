"""Reductions: methods that take one, several or all dimensions away, and running totals.

Built-in operations reduce one dimension and keep it, or reduce everything to 0-d. A method over
several dimensions reduces one after the other and drops them in one reshape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import bool_
from firebrick.tensor.checks import dim_of, not_empty, reduced_dims
from firebrick.tensor.convert import converted
from firebrick.tensor.layout import RESHAPE, Layout
from firebrick.tensor.operations import Operation, bools, floats, numbers
from firebrick.tensor.promotion import accumulator, cast, default_int

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from firebrick.core import DispatchTensor
    from firebrick.tensor.checks import Dims


class Reduction:
    """One name: its operation over everything, and the one along a dimension."""

    __slots__ = ("along", "shown", "total")

    def __init__(self, shown: str, total: Operation, along: Operation) -> None:
        self.shown = shown
        self.total = total
        self.along = along


def _of_numbers(shown: str) -> Reduction:
    return Reduction(shown, numbers(shown), numbers(shown, f"{shown}_dim"))


SUM = _of_numbers("sum")
PROD = _of_numbers("prod")
MAX = _of_numbers("max")
MIN = _of_numbers("min")
MEAN = Reduction("mean", floats("mean"), floats("mean", "float_mean_dim"))
ANY = Reduction("any", bools("any"), bools("any", "any_dim"))
ALL = Reduction("all", bools("all"), bools("all", "all_dim"))
CUMSUM = numbers("cumsum")
CUMPROD = numbers("cumprod")


class Reduce(Layout):
    """Methods that combine elements. Without `dim` the result is 0-d."""

    __slots__ = ()

    def sum(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """The sum. Of ints: in the device's int dtype or wider. Of bools: how many are true."""
        return self._accumulate(SUM, dim, keepdim)

    def mean(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """The arithmetic mean."""
        return self._reduce(MEAN, self._value, dim, keepdim)

    def prod(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """The product. Of ints: in the device's int dtype or wider."""
        return self._accumulate(PROD, dim, keepdim)

    def max(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """The largest element; `ShapeError` if there is none."""
        return self._choose(MAX, dim, keepdim)

    def min(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """The smallest element; `ShapeError` if there is none."""
        return self._choose(MIN, dim, keepdim)

    def var(self, dim: Dims = None, *, keepdim: bool = False, correction: float = 1) -> Self:
        """Mean of the squared distances to the mean, where `n - correction` divides their sum.

        NaN or infinite where that is not positive.
        """
        shape = self.shape
        dims = reduced_dims("var", dim, len(shape))
        distances = self - self._reduce(MEAN, self._value, dims, keepdim=True)
        count = 1
        for position in dims:
            count *= shape[position]
        total = distances.square().sum(dims, keepdim=keepdim)
        return total / max(count - correction, 0)

    def any(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """Whether some element is true, or not zero."""
        return self._reduce(ANY, converted(self._value, bool_), dim, keepdim)

    def all(self, dim: Dims = None, *, keepdim: bool = False) -> Self:
        """Whether every element is true, or not zero."""
        return self._reduce(ALL, converted(self._value, bool_), dim, keepdim)

    def cumsum(self, dim: int) -> Self:
        """Each element plus all before it along `dim`."""
        return self._run(CUMSUM, dim)

    def cumprod(self, dim: int) -> Self:
        """Each element times all before it along `dim`."""
        return self._run(CUMPROD, dim)

    def _run(self, operation: Operation, dim: int) -> Self:
        value = widened(self._value) if self._value.kind == "int" else self._value
        position = dim_of(operation.shown, dim, self.ndim)
        return self._wrap(operation[value.kind](value, position))

    def _accumulate(self, reduction: Reduction, dim: Dims, keepdim: bool) -> Self:
        value = self._value
        if value.kind == "bool" and reduction is SUM:
            value = converted(value, default_int(value))
        if value.kind == "int":
            value = widened(value)
        return self._reduce(reduction, value, dim, keepdim)

    def _choose(self, reduction: Reduction, dim: Dims, keepdim: bool) -> Self:
        shape = self.shape
        not_empty(reduction.shown, shape, reduced_dims(reduction.shown, dim, len(shape)))
        return self._reduce(reduction, self._value, dim, keepdim)

    def _reduce(
        self, reduction: Reduction, value: DispatchTensor, dim: Dims, keepdim: bool
    ) -> Self:
        if dim is None and not keepdim:
            return self._wrap(reduction.total[value.kind](value))
        operation = reduction.along[value.kind]
        dims = reduced_dims(reduction.shown, dim, len(value.primitive.shape))
        for position in dims:
            value = operation(value, position)
        return self._wrap(value if keepdim else without(value, dims))


def without(value: DispatchTensor, dims: Sequence[int]) -> DispatchTensor:
    """`value` without dimensions of size 1."""
    if not dims:
        return value
    kept = [size for dim, size in enumerate(value.primitive.shape) if dim not in dims]
    return RESHAPE[value.kind](value, kept)


def widened(value: DispatchTensor) -> DispatchTensor:
    """Ints in a dtype that has room for sums and products."""
    device = value.device
    target = accumulator(value.dtype, device.int_dtype)
    return cast(value, target if device.supports_dtype(target) else device.int_dtype)
