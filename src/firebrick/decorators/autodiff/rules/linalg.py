"""Gradients of products of matrices and of vectors."""

from __future__ import annotations

from typing import Any

from firebrick.decorators.autodiff.reduce_broadcast import broadcast_shape
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class LinalgRules(Rules[P]):
    """Of matrices, which are the last two dimensions, and of vectors along one of 3."""

    @gradient(save=("lhs", "rhs"), cost="compute")
    def float_matmul(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`grad @ rhs.T` and `lhs.T @ grad`, summed over matrices that were used repeatedly."""
        b = self.inner.backend
        of_lhs = of_rhs = None
        if need.lhs:
            product = b.float_matmul(grad, b.float_transpose(saved.rhs))
            of_lhs = broadcast_shape(b, product, saved.spec("lhs").shape)
        if need.rhs:
            # one matrix for a whole batch: its gradient is one product over all rows
            single = len(saved.spec("rhs").shape) == 2
            lhs, above = (_rows(b, t) if single else t for t in (saved.lhs, grad))
            product = b.float_matmul(b.float_transpose(lhs), above)
            of_rhs = broadcast_shape(b, product, saved.spec("rhs").shape)
        return {"lhs": of_lhs, "rhs": of_rhs}

    @gradient(save=("lhs", "rhs"), cost="compute")
    def float_cross(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`rhs x grad` and `grad x lhs`."""
        b = self.inner.backend
        return {
            "lhs": b.float_cross(saved.rhs, grad, saved.dim) if need.lhs else None,
            "rhs": b.float_cross(grad, saved.lhs, saved.dim) if need.rhs else None,
        }


def _rows(b: Any, tensor: Any) -> Any:
    """All matrices of a batch below each other, as one matrix."""
    *batch, rows, columns = tensor.shape
    for size in batch:
        rows *= size
    return b.float_reshape(tensor, (rows, columns))
