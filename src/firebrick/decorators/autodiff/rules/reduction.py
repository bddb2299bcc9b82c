"""Gradients of sums, means, products and running values.

Extremes, sorting and the top k need no rules: their default bodies gather by index, so that of
equal elements the one whose index is returned gets the gradient. Running extremes, which return
no index, do the same: an element counts as long as no later one is beyond it.
"""

from __future__ import annotations

from typing import Any

from firebrick.core import bool_, normalize_dim
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.parts import part
from firebrick.decorators.autodiff.rules.scans import (
    index_dtype,
    products_before,
    products_of_others,
    weighted_sums_from,
)
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class ReductionRules(Rules[P]):
    """Many elements to one, and running values."""

    @gradient(cost="compute")
    def float_sum(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1."""
        return {"tensor": self.inner.backend.float_expand(grad, saved.spec("tensor").shape)}

    @gradient(cost="compute")
    def float_sum_dim(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1."""
        return {"tensor": self.inner.backend.float_expand(grad, saved.spec("tensor").shape)}

    @gradient(cost="compute")
    def float_mean(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / count."""
        shape = saved.spec("tensor").shape
        return {"tensor": _shared(self.inner.backend, grad, shape, shape.num_elements())}

    @gradient(cost="compute")
    def float_mean_dim(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / count."""
        shape = saved.spec("tensor").shape
        count = shape[normalize_dim(saved.dim, len(shape))]
        return {"tensor": _shared(self.inner.backend, grad, shape, count)}

    @gradient(save=("tensor",), cost="compute")
    def float_prod(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The product of the others."""
        b = self.inner.backend
        shape = saved.spec("tensor").shape
        if 0 in shape:
            return {"tensor": b.float_expand(grad, shape)}
        flat = b.float_reshape(saved.tensor, (shape.num_elements(),))
        others = b.float_reshape(products_of_others(b, flat, 0), shape)
        return {"tensor": b.float_mul(grad, others)}

    @gradient(save=("tensor",), cost="compute")
    def float_prod_dim(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The product of the others along the dimension."""
        b = self.inner.backend
        shape = saved.spec("tensor").shape
        if 0 in shape:
            return {"tensor": b.float_expand(grad, shape)}
        return {"tensor": b.float_mul(grad, products_of_others(b, saved.tensor, saved.dim))}

    @gradient(cost="compute")
    def float_cumsum(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The running sum from the end."""
        b = self.inner.backend
        from_the_end = b.float_cumsum(b.float_flip(grad, [saved.dim]), saved.dim)
        return {"tensor": b.float_flip(from_the_end, [saved.dim])}

    @gradient(save=("tensor",), cost="compute")
    def float_cumprod(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The product before an element, times what the later outputs make of it.

        That is the sum over j >= i of `grad[j]` times the product after i up to j.
        """
        b = self.inner.backend
        if 0 in saved.spec("tensor").shape:
            return {"tensor": grad}
        sums = weighted_sums_from(b, saved.tensor, grad, saved.dim)
        return {"tensor": b.float_mul(products_before(b, saved.tensor, saved.dim), sums)}

    @gradient(save=("out",), cost="compute")
    def float_cummax(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the places where an element is the greatest so far."""
        return self._running_extreme(saved, grad)

    @gradient(save=("out",), cost="compute")
    def float_cummin(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the places where an element is the least so far."""
        return self._running_extreme(saved, grad)

    def _running_extreme(self, saved: Saved, grad: Any) -> Grads:
        b = self.inner.backend
        spec = saved.spec("tensor")
        if 0 in spec.shape:
            return {"tensor": grad}
        sources = _where_changed(b, saved.out, saved.dim)
        return {"tensor": b.float_scatter_add(saved.dim, zeros(b, grad, spec), sources, grad)}


def _shared(b: Any, grad: Any, shape: Any, count: int) -> Any:
    # a factor, because a divisor of more than 65504 is out of the range of float16
    return b.float_expand(b.float_mul_scalar(grad, 1.0 / max(count, 1)), shape)


def _where_changed(b: Any, running: Any, dim: int) -> Any:
    """For each element the last position up to it where the running extreme took a new value."""
    shape = running.shape
    axis = normalize_dim(dim, len(shape))
    size = shape[axis]
    before, after = part(b, running, dim, 0, size - 1), part(b, running, dim, 1, size)
    stays = b.bool_or(b.float_equal(before, after, bool_), b.float_is_nan(before, bool_))
    device, dtype = b.device_of(running), index_dtype(b, running)
    one_each = [size - 1 if position == axis else 1 for position in range(len(shape))]
    positions = b.int_reshape(b.int_arange(range(1, size), device, dtype), one_each)
    changed = b.int_mask_fill(positions, stays, 0)
    first = b.int_zeros([*shape[:axis], 1, *shape[axis + 1 :]], device, dtype)
    return b.int_cummax(b.int_cat([first, changed], dim), dim)
