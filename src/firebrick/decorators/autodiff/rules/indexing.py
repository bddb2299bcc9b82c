"""Gradients of reading parts of a tensor and of writing blocks into one.

Updates by indices are in `updates.py`.
"""

from __future__ import annotations

from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class IndexingRules(Rules[P]):
    """What was read gets the gradient, what was overwritten gets none."""

    @gradient(save=("indices",), cost="compute")
    def float_gather(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the places where an element was put."""
        b = self.inner.backend
        base = zeros(b, grad, saved.spec("tensor"))
        return {"tensor": b.float_scatter_add(saved.dim, base, saved.indices, grad)}

    @gradient(save=("indices",), cost="memory")
    def float_select(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the places where a row was put."""
        b = self.inner.backend
        base = zeros(b, grad, saved.spec("tensor"))
        return {"tensor": b.float_select_add(base, saved.dim, saved.indices, grad)}

    @gradient(cost="memory")
    def float_slice(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The block, in zeros."""
        b = self.inner.backend
        base = zeros(b, grad, saved.spec("tensor"))
        return {"tensor": b.float_slice_assign(base, saved.slices, grad)}

    @gradient(cost="memory")
    def float_slice_assign(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Outside of the block, and the block."""
        b = self.inner.backend
        outside = block = None
        if need.tensor:
            nothing = zeros(b, grad, saved.spec("value"))
            outside = b.float_slice_assign(grad, saved.slices, nothing)
        if need.value:
            block = b.float_slice(grad, saved.slices)
        return {"tensor": outside, "value": block}

    @gradient(save=("mask",), cost="compute")
    def float_mask_where(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Each operand where it was chosen."""
        b = self.inner.backend
        kept = chosen = None
        if need.tensor:
            kept = b.float_mask_fill(grad, saved.mask, 0.0)
        if need.value:
            chosen = b.float_mask_fill(grad, b.bool_not(saved.mask), 0.0)
        return {"tensor": kept, "value": chosen}

    @gradient(save=("mask",), cost="compute")
    def float_mask_fill(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Where nothing was filled in."""
        return {"tensor": self.inner.backend.float_mask_fill(grad, saved.mask, 0.0)}
