"""Gradients of layout operations: the same elements, put back where they came from."""

from __future__ import annotations

from collections.abc import Sequence

from firebrick.backend.windows import window_positions
from firebrick.core import normalize_dim
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.parts import part
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class LayoutRules(Rules[P]):
    """Nothing but shapes is saved."""

    @gradient(cost="memory")
    def float_reshape(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The input's shape again."""
        return {"tensor": self.inner.backend.float_reshape(grad, saved.spec("tensor").shape)}

    @gradient(cost="memory")
    def float_transpose(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The same exchange."""
        return {"tensor": self.inner.backend.float_transpose(grad)}

    @gradient(cost="memory")
    def float_swap_dims(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The same exchange."""
        return {"tensor": self.inner.backend.float_swap_dims(grad, saved.dim1, saved.dim2)}

    @gradient(cost="memory")
    def float_permute(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The inverse order."""
        return {"tensor": self.inner.backend.float_permute(grad, inverse(saved.axes))}

    @gradient(cost="memory")
    def float_flip(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The same reversal."""
        return {"tensor": self.inner.backend.float_flip(grad, saved.axes)}

    @gradient(cost="memory")
    def float_expand(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the copies, which the engine takes as for any broadcast."""
        return {"tensor": grad}

    @gradient(cost="compute")
    def float_cat(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Each tensor's part."""
        b = self.inner.backend
        grads: dict[str, object] = {}
        start = 0
        for index in range(saved.count("tensors")):
            name = f"tensors.{index}"
            shape = saved.spec(name).shape
            stop = start + shape[normalize_dim(saved.dim, len(shape))]
            grads[name] = part(b, grad, saved.dim, start, stop) if need[name] else None
            start = stop
        return grads

    @gradient(cost="compute")
    def float_unfold(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sum over the windows that an element is in."""
        b = self.inner.backend
        spec = saved.spec("tensor")
        positions, _, axes = window_positions(spec.shape, saved.dim, saved.size, saved.step)
        beside = b.float_permute(grad, inverse(axes))
        rows = b.float_reshape(beside, spec.shape.replace(saved.dim, len(positions)))
        indices = b.int_from_data(positions, b.device_of(grad))
        return {
            "tensor": b.float_select_add(zeros(b, grad, spec), saved.dim, indices, rows),
        }


def inverse(axes: Sequence[int]) -> list[int]:
    """The order that undoes `axes`; negative ones count from the end."""
    order = [normalize_dim(axis, len(axes)) for axis in axes]
    return [order.index(position) for position in range(len(order))]
