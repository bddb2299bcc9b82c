"""Gradients of conversions between float dtypes and between devices."""

from __future__ import annotations

from firebrick.decorators.autodiff.rules.mixin import Rules
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Grads, Need, P, gradient


class ConversionRules(Rules[P]):
    """A gradient has its input's dtype and lives where its input does."""

    @gradient(cost="compute")
    def float_cast(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Cast back."""
        return {"tensor": self.inner.backend.float_cast(grad, saved.spec("tensor").dtype)}

    @gradient(save=("tensor",), cost="compute")
    def float_to_device(self, saved: Saved, grad: P, need: Need) -> Grads:
        """Moved back."""
        return {"tensor": self.inner.backend.float_to_device(grad, saved.device("tensor"))}
