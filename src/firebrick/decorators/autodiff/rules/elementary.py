"""Gradients of elementary functions: powers, exponentials, trigonometric and hyperbolic ones.

A derivative that is an expression in the output saves that. Where one is written as a product of
factors, it is so that squares do not leave the range or cancel.
"""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

from firebrick.core import bool_
from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.rules.zeros import zeros
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class ElementaryRules(Rules[P]):
    """From float to float, element by element."""

    @gradient(save=("out",), cost="memory")
    def float_exp(self, saved: Saved, grad: P, need: Need) -> Grads:
        """The output."""
        return {"tensor": self.inner.backend.float_mul(grad, saved.out)}

    @gradient(save=("tensor",), cost="memory")
    def float_log(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / x."""
        return {"tensor": self.inner.backend.float_div(grad, saved.tensor)}

    @gradient(save=("tensor",), cost="memory")
    def float_log1p(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / (1 + x)."""
        b = self.inner.backend
        return {"tensor": b.float_div(grad, b.float_add_scalar(saved.tensor, 1.0))}

    @gradient(save=("lhs", "rhs"), cost="memory")
    def float_powf(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`y * x ** (y - 1)` and `x ** y * log(x)`; 0 where the power is constant.

        That is in x where y is 0, and in y where x is 0 and y is not negative. There the
        formulas get harmless operands, so that no infinity spoils a second derivative.
        """
        b = self.inner.backend
        x, y = saved.lhs, saved.rhs
        in_x = in_y = None
        if need.lhs:
            finite = b.float_lower_elem(b.float_abs(b.float_recip(x)), inf, bool_)
            constant = b.bool_and(b.float_equal_elem(y, 0.0, bool_), b.bool_not(finite))
            exponent = b.float_sub_scalar(b.float_mask_fill(y, constant, 1.0), 1.0)
            in_x = b.float_mul(grad, b.float_mul(y, b.float_powf(x, exponent)))
        if need.rhs:
            constant = b.bool_and(
                b.float_equal_elem(x, 0.0, bool_), b.float_greater_equal_elem(y, 0.0, bool_)
            )
            log = b.float_log(b.float_mask_fill(x, constant, 1.0))
            in_y = b.float_mul(grad, b.float_mul(b.float_powf(x, y), log))
        return {"lhs": in_x, "rhs": in_y}

    @gradient(save=("tensor",), cost="memory")
    def float_powf_scalar(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`s * x ** (s - 1)`; 0 everywhere if s is 0."""
        b = self.inner.backend
        exponent = float(saved.value)
        if exponent == 0.0:
            return {"tensor": zeros(b, grad, saved.spec("tensor"))}
        x = saved.tensor
        power = x if exponent == 2.0 else b.float_powf_scalar(x, exponent - 1.0)
        return {"tensor": b.float_mul(grad, b.float_mul_scalar(power, exponent))}

    @gradient(save=("out",), cost="memory")
    def float_sqrt(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / (2 * out), infinite at 0."""
        b = self.inner.backend
        return {"tensor": b.float_div(b.float_mul_scalar(grad, 0.5), saved.out)}

    @gradient(save=("tensor",), cost="memory")
    def float_cos(self, saved: Saved, grad: P, need: Need) -> Grads:
        """-sin(x)."""
        b = self.inner.backend
        return {"tensor": b.float_neg(b.float_mul(grad, b.float_sin(saved.tensor)))}

    @gradient(save=("tensor",), cost="memory")
    def float_sin(self, saved: Saved, grad: P, need: Need) -> Grads:
        """cos(x)."""
        b = self.inner.backend
        return {"tensor": b.float_mul(grad, b.float_cos(saved.tensor))}

    @gradient(save=("out",), cost="memory")
    def float_tan(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 + out ** 2."""
        b = self.inner.backend
        return {"tensor": b.float_add(grad, b.float_mul(grad, b.float_mul(saved.out, saved.out)))}

    @gradient(save=("tensor",), cost="memory")
    def float_cosh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """sinh(x)."""
        b = self.inner.backend
        return {"tensor": b.float_mul(grad, b.float_sinh(saved.tensor))}

    @gradient(save=("tensor",), cost="memory")
    def float_sinh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """cosh(x)."""
        b = self.inner.backend
        return {"tensor": b.float_mul(grad, b.float_cosh(saved.tensor))}

    @gradient(save=("out",), cost="memory")
    def float_tanh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 - out ** 2."""
        b = self.inner.backend
        return {"tensor": b.float_mul(grad, _one_minus_square(b, saved.out))}

    @gradient(save=("tensor",), cost="memory")
    def float_acos(self, saved: Saved, grad: P, need: Need) -> Grads:
        """-1 / sqrt(1 - x ** 2)."""
        b = self.inner.backend
        root = b.float_sqrt(_one_minus_square(b, saved.tensor))
        return {"tensor": b.float_neg(b.float_div(grad, root))}

    @gradient(save=("tensor",), cost="memory")
    def float_acosh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / sqrt(x ** 2 - 1)."""
        b = self.inner.backend
        root = b.float_mul(
            b.float_sqrt(b.float_sub_scalar(saved.tensor, 1.0)),
            b.float_sqrt(b.float_add_scalar(saved.tensor, 1.0)),
        )
        return {"tensor": b.float_div(grad, root)}

    @gradient(save=("tensor",), cost="memory")
    def float_asin(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / sqrt(1 - x ** 2)."""
        b = self.inner.backend
        return {"tensor": b.float_div(grad, b.float_sqrt(_one_minus_square(b, saved.tensor)))}

    @gradient(save=("tensor",), cost="memory")
    def float_asinh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / sqrt(1 + x ** 2)."""
        b = self.inner.backend
        return {"tensor": b.float_div(grad, b.float_sqrt(_one_plus_square(b, saved.tensor)))}

    @gradient(save=("tensor",), cost="memory")
    def float_atan(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / (1 + x ** 2)."""
        b = self.inner.backend
        return {"tensor": b.float_div(grad, _one_plus_square(b, saved.tensor))}

    @gradient(save=("tensor",), cost="memory")
    def float_atanh(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 / (1 - x ** 2)."""
        b = self.inner.backend
        return {"tensor": b.float_div(grad, _one_minus_square(b, saved.tensor))}

    @gradient(save=("lhs", "rhs"), cost="memory")
    def float_atan2(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Of y and x: `x / (x ** 2 + y ** 2)` and `-y / (x ** 2 + y ** 2)`."""
        b = self.inner.backend
        y, x = saved.lhs, saved.rhs
        part = b.float_div(grad, b.float_add(b.float_mul(x, x), b.float_mul(y, y)))
        return {
            "lhs": b.float_mul(part, x) if need.lhs else None,
            "rhs": b.float_neg(b.float_mul(part, y)) if need.rhs else None,
        }

    @gradient(save=("lhs", "rhs", "out"), cost="memory")
    def float_hypot(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`lhs / out` and `rhs / out`; 0 where both operands are 0."""
        b = self.inner.backend
        nothing = b.float_equal_elem(saved.out, 0.0, bool_)
        part = b.float_div(grad, b.float_mask_fill(saved.out, nothing, 1.0))
        return {
            "lhs": b.float_mul(part, saved.lhs) if need.lhs else None,
            "rhs": b.float_mul(part, saved.rhs) if need.rhs else None,
        }

    @gradient(save=("tensor",), cost="memory")
    def float_erf(self, saved: Saved, grad: P, need: Need) -> Grads:
        """2 / sqrt(pi) * exp(-x ** 2)."""
        b = self.inner.backend
        bell = b.float_exp(b.float_neg(b.float_mul(saved.tensor, saved.tensor)))
        return {"tensor": b.float_mul(grad, b.float_mul_scalar(bell, 2.0 / sqrt(pi)))}


def _one_minus_square(b: Any, x: Any) -> Any:
    """(1 - x) * (1 + x), which keeps its digits where x is close to 1."""
    return b.float_mul(b.float_add_scalar(b.float_neg(x), 1.0), b.float_add_scalar(x, 1.0))


def _one_plus_square(b: Any, x: Any) -> Any:
    return b.float_add_scalar(b.float_mul(x, x), 1.0)
