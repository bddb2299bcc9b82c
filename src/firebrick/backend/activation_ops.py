"""Built-in activations. All have default bodies, whose derivatives are right everywhere.

Where a body chooses between two formulas, each one is fed only the elements it is meant for:
the other branch would bring infinities, and NaN with them, into the gradient.
"""

from __future__ import annotations

from math import pi, sqrt

from firebrick.backend import forms
from firebrick.backend.options import Scalar
from firebrick.core import bool_, float32
from firebrick.opset import OpSet
from firebrick.opset.kinds import FloatTensor, P


class ActivationOps(OpSet[P], builtin=True):
    """Built-in activations. Broadcasting is NumPy's."""

    @forms.elementwise
    def leaky_relu(self, tensor: FloatTensor[P], negative_slope: Scalar) -> FloatTensor[P]:
        """X if x>=0 else slope*x."""
        b = self.backend
        positive = b.float_greater_equal_elem(tensor, 0.0, bool_)
        return b.float_mask_where(b.float_mul_scalar(tensor, negative_slope), positive, tensor)

    @forms.elementwise
    def relu(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """max(x, 0); NaN passes through. The derivative at 0 is 0."""
        b = self.backend
        return b.float_mask_fill(tensor, b.float_lower_equal_elem(tensor, 0.0, bool_), 0.0)

    @forms.output_gradient
    def relu_backward(self, output: FloatTensor[P], grad: FloatTensor[P]) -> FloatTensor[P]:
        """Grad where OUTPUT > 0, else 0."""
        b = self.backend
        return b.float_mask_fill(grad, b.bool_not(b.float_greater_elem(output, 0.0, bool_)), 0.0)

    @forms.elementwise
    def gelu(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Exact erf form x*(1+erf(x/sqrt2))/2."""
        b = self.backend
        return b.float_mul(tensor, self._normal_cdf(tensor))

    @forms.with_slopes
    def prelu(self, tensor: FloatTensor[P], alpha: FloatTensor[P]) -> FloatTensor[P]:
        """X if x>=0 else alpha*x (alpha already broadcastable)."""
        b = self.backend
        positive = b.float_greater_equal_elem(tensor, 0.0, bool_)
        negative_part = b.float_mul(alpha, b.float_mask_fill(tensor, positive, 0.0))
        return b.float_mask_where(negative_part, positive, tensor)

    @forms.input_gradient
    def gelu_backward(self, x: FloatTensor[P], grad: FloatTensor[P]) -> FloatTensor[P]:
        """Exact derivative of `gelu` times grad."""
        b = self.backend
        density = b.float_mul_scalar(
            b.float_exp(b.float_mul_scalar(b.float_mul(x, x), -0.5)), 1.0 / sqrt(2.0 * pi)
        )
        slope = b.float_add(self._normal_cdf(x), b.float_mul(x, density))
        return b.float_mul(slope, grad)

    @forms.elementwise
    def sigmoid(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """1 / (1 + exp(-x)), stable."""
        b = self.backend
        positive = b.float_greater_equal_elem(tensor, 0.0, bool_)
        rising = b.float_exp(self._negative_part(tensor))
        falling = b.float_exp(b.float_neg(self._positive_part(tensor)))
        below = b.float_div(rising, b.float_add_scalar(rising, 1.0))
        return b.float_mask_where(below, positive, b.float_recip(b.float_add_scalar(falling, 1.0)))

    @forms.output_gradient
    def sigmoid_backward(self, output: FloatTensor[P], grad: FloatTensor[P]) -> FloatTensor[P]:
        """output*(1-output)*grad."""
        b = self.backend
        rest = b.float_add_scalar(b.float_neg(output), 1.0)
        return b.float_mul(b.float_mul(output, rest), grad)

    @forms.elementwise
    def hard_sigmoid(self, tensor: FloatTensor[P], alpha: Scalar, beta: Scalar) -> FloatTensor[P]:
        """clamp(alpha*x+beta, 0, 1), in f32 at least."""
        b = self.backend
        dtype = b.dtype_of(tensor)
        narrow = dtype.itemsize < float32.itemsize
        wide = b.float_cast(tensor, float32) if narrow else tensor
        line = b.float_add_scalar(b.float_mul_scalar(wide, alpha), beta)
        clamped = b.float_clamp(line, 0.0, 1.0)
        return b.float_cast(clamped, dtype) if narrow else clamped

    @forms.elementwise
    def log_sigmoid(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """The logarithm of `sigmoid`, stable."""
        b = self.backend
        positive = b.float_greater_equal_elem(tensor, 0.0, bool_)
        negative_part = self._negative_part(tensor)
        falling = b.float_exp(b.float_neg(self._positive_part(tensor)))
        above = b.float_neg(b.float_log1p(falling))
        below = b.float_sub(negative_part, b.float_log1p(b.float_exp(negative_part)))
        return b.float_mask_where(below, positive, above)

    @forms.along
    def softmax(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Softmax along dim."""
        if 0 in tensor.shape:
            return tensor
        b = self.backend
        powers = b.float_exp(self._below_max(tensor, dim))
        return b.float_div(powers, b.float_sum_dim(powers, dim))

    @forms.along
    def log_softmax(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """Log of softmax along dim, stable."""
        if 0 in tensor.shape:
            return tensor
        b = self.backend
        shifted = self._below_max(tensor, dim)
        return b.float_sub(shifted, b.float_log(b.float_sum_dim(b.float_exp(shifted), dim)))

    @forms.along
    def softmin(self, tensor: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """softmax(-x)."""
        return self.backend.softmax(self.backend.float_neg(tensor), dim)

    @forms.input_gradient
    def log_sigmoid_backward(self, x: FloatTensor[P], grad: FloatTensor[P]) -> FloatTensor[P]:
        """Stable closed form: sigmoid(-x) * grad."""
        b = self.backend
        return b.float_mul(b.sigmoid(b.float_neg(x)), grad)

    def _normal_cdf(self, x: P) -> P:
        b = self.backend
        erf = b.float_erf(b.float_mul_scalar(x, sqrt(0.5)))
        return b.float_mul_scalar(b.float_add_scalar(erf, 1.0), 0.5)

    def _positive_part(self, tensor: P) -> P:
        b = self.backend
        return b.float_mask_fill(tensor, b.float_lower_elem(tensor, 0.0, bool_), 0.0)

    def _negative_part(self, tensor: P) -> P:
        b = self.backend
        return b.float_mask_fill(tensor, b.float_greater_equal_elem(tensor, 0.0, bool_), 0.0)

    def _below_max(self, tensor: P, dim: int) -> P:
        b = self.backend
        # detached: the result does not depend on what is subtracted, so neither does a gradient
        return b.float_sub(tensor, b.float_max_dim(b.float_detach(tensor), dim))
