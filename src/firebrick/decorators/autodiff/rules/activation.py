"""Gradients of activations.

Those without a rule, and the `*_backward` operations, are differentiated through their default
bodies, which choose between formulas without feeding a formula what it cannot take.
"""

from __future__ import annotations

from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class ActivationFamilyRules(Rules[P]):
    """Activations whose derivative has an operation or a shorter formula of its own."""

    @gradient(save=("out",), cost="memory")
    def relu(self, saved: Saved, grad: P, need: Need) -> Grads:
        """1 where the output is above 0, 0 at 0."""
        return {"tensor": self.inner.backend.relu_backward(saved.out, grad)}

    @gradient(save=("tensor",), cost="memory")
    def gelu(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`gelu_backward`."""
        return {"tensor": self.inner.backend.gelu_backward(saved.tensor, grad)}

    @gradient(save=("out",), cost="memory")
    def sigmoid(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`out * (1 - out)`."""
        return {"tensor": self.inner.backend.sigmoid_backward(saved.out, grad)}

    @gradient(save=("tensor",), cost="memory")
    def log_sigmoid(self, saved: Saved, grad: P, need: Need) -> Grads:
        """sigmoid(-x)."""
        return {"tensor": self.inner.backend.log_sigmoid_backward(saved.tensor, grad)}

    @gradient(save=("out",), cost="compute")
    def softmax(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`out * (grad - sum(grad * out))`."""
        b = self.inner.backend
        weighted = b.float_sum_dim(b.float_mul(grad, saved.out), saved.dim)
        return {"tensor": b.float_mul(saved.out, b.float_sub(grad, weighted))}

    @gradient(save=("out",), cost="compute")
    def log_softmax(self, saved: Saved, grad: P, need: Need) -> Grads:
        """`grad - exp(out) * sum(grad)`."""
        b = self.inner.backend
        total = b.float_sum_dim(grad, saved.dim)
        return {"tensor": b.float_sub(grad, b.float_mul(b.float_exp(saved.out), total))}
