"""Gradients of arithmetic, bounds and rounding, element by element.

Where operands were broadcast, the engine sums a gradient back to the operand's shape.
"""

from __future__ import annotations

from typing import Any

from firebrick.core import bool_
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class ArithmeticRules(Rules[P]):
    """The four operations, remainder, bounds, and steps, whose derivative is 0."""

    @gradient(cost="memory")
    def float_add(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 and 1."""
        return {"lhs": grad, "rhs": grad}

    @gradient(cost="memory")
    def float_add_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1."""
        return {"lhs": grad}

    @gradient(cost="memory")
    def float_sub(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 and -1."""
        b = self.inner.backend
        return {"lhs": grad, "rhs": b.float_neg(grad) if need.rhs else None}

    @gradient(cost="memory")
    def float_sub_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1."""
        return {"lhs": grad}

    @gradient(save=("lhs", "rhs"), cost="memory")
    def float_mul(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`rhs` and `lhs`."""
        b = self.inner.backend
        return {
            "lhs": b.float_mul(grad, saved.rhs) if need.lhs else None,
            "rhs": b.float_mul(grad, saved.lhs) if need.rhs else None,
        }

    @gradient(cost="memory")
    def float_mul_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The scalar."""
        return {"lhs": self.inner.backend.float_mul_scalar(grad, saved.rhs)}

    @gradient(save=("lhs", "rhs"), cost="memory")
    def float_div(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / rhs and -lhs / rhs ** 2, without the square, which may be out of range."""
        b = self.inner.backend
        part = b.float_div(grad, saved.rhs)
        if not need.rhs:
            return {"lhs": part}
        slope = b.float_neg(b.float_div(saved.lhs, saved.rhs))
        return {"lhs": part, "rhs": b.float_mul(part, slope)}

    @gradient(cost="memory")
    def float_div_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / scalar."""
        return {"lhs": self.inner.backend.float_div_scalar(grad, saved.rhs)}

    @gradient(save=("lhs", "rhs"), cost="memory")
    def float_remainder(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 and -floor(lhs / rhs), which is what the remainder was taken with.

        Rounding may lift `lhs / rhs` to the next whole number: 1 % 0.1 is almost 0.1.
        """
        if not need.rhs:
            return {"lhs": grad}
        b = self.inner.backend
        rest = b.float_remainder(saved.lhs, saved.rhs)
        quotient = b.float_round(b.float_div(b.float_sub(saved.lhs, rest), saved.rhs))
        return {"lhs": grad, "rhs": b.float_neg(b.float_mul(grad, quotient))}

    @gradient(cost="memory")
    def float_remainder_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1."""
        return {"lhs": grad}

    @gradient(cost="memory")
    def float_neg(self, saved: Saved, grad: P, need: Need) -> Grads:
        """-1."""
        return {"tensor": self.inner.backend.float_neg(grad)}

    @gradient(save=("out",), cost="memory")
    def float_recip(self, saved: Saved, grad: P, need: Need) -> Grads:
        """-out ** 2."""
        b = self.inner.backend
        return {"tensor": b.float_neg(b.float_mul(b.float_mul(grad, saved.out), saved.out))}

    @gradient(save=("tensor",), cost="memory")
    def float_clamp_min(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 at the bound and above, 0 below and at NaN."""
        b = self.inner.backend
        inside = b.float_greater_equal_elem(saved.tensor, saved.min, bool_)
        return {"tensor": b.float_mask_fill(grad, b.bool_not(inside), 0.0)}

    @gradient(save=("tensor",), cost="memory")
    def float_clamp_max(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 at the bound and below, 0 above and at NaN."""
        b = self.inner.backend
        inside = b.float_lower_equal_elem(saved.tensor, saved.max, bool_)
        return {"tensor": b.float_mask_fill(grad, b.bool_not(inside), 0.0)}

    @gradient(save=("tensor",), cost="memory")
    def float_clamp(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 between the bounds and at them, 0 outside and at NaN."""
        b = self.inner.backend
        inside = b.bool_and(
            b.float_greater_equal_elem(saved.tensor, saved.min, bool_),
            b.float_lower_equal_elem(saved.tensor, saved.max, bool_),
        )
        return {"tensor": b.float_mask_fill(grad, b.bool_not(inside), 0.0)}

    @gradient(save=("tensor",), cost="memory")
    def float_abs(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The sign, 0 at 0."""
        b = self.inner.backend
        return {"tensor": b.float_mul(grad, b.float_sign(saved.tensor))}

    @gradient(cost="memory")
    def float_sign(self, saved: Saved, grad: P, need: Need) -> Grads:
        """0."""
        return self._flat(saved, grad)

    @gradient(cost="memory")
    def float_round(self, saved: Saved, grad: P, need: Need) -> Grads:
        """0."""
        return self._flat(saved, grad)

    @gradient(cost="memory")
    def float_floor(self, saved: Saved, grad: P, need: Need) -> Grads:
        """0."""
        return self._flat(saved, grad)

    @gradient(cost="memory")
    def float_ceil(self, saved: Saved, grad: P, need: Need) -> Grads:
        """0."""
        return self._flat(saved, grad)

    @gradient(cost="memory")
    def float_trunc(self, saved: Saved, grad: P, need: Need) -> Grads:
        """0."""
        return self._flat(saved, grad)

    def _flat(self, saved: Saved, grad: Any) -> Grads:
        """Zeros rather than None, so that a leaf under a step function has a gradient."""
        return {"tensor": zeros(self.inner.backend, grad, saved.spec("tensor"))}
