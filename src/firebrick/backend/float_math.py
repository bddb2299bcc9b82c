"""Arithmetic and elementary functions of float tensors, element by element, and matmul.

Results follow IEEE 754 and no operation warns: `1 / 0` is inf, `0 / 0` is NaN, NaN passes
through everything but comparisons.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.backend.options import Scalar
from firebrick.backend.scalar_operand import scalar_operand
from firebrick.backend.shapes import cross
from firebrick.core import Shape, bool_, normalize_dim
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import FloatTensor, IntTensor, P


class FloatMath(OpSet[P], builtin=True):
    """Elementwise operations and the matrix product. Broadcasting is NumPy's."""

    @forms.binary
    def float_add(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """a+b with broadcast."""
        raise NoDefault

    @forms.with_scalar
    def float_add_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """a+s."""
        return self.backend.float_add(lhs, scalar_operand(self, lhs, rhs))

    @forms.elementwise
    def float_clamp_min(self, tensor: FloatTensor[P], min: Scalar) -> FloatTensor[P]:
        """max(x, s); NaN passes through."""
        b = self.backend
        return b.float_mask_fill(tensor, b.float_lower_elem(tensor, min, bool_), min)

    @forms.elementwise
    def float_clamp_max(self, tensor: FloatTensor[P], max: Scalar) -> FloatTensor[P]:
        """min(x, s); NaN passes through."""
        b = self.backend
        return b.float_mask_fill(tensor, b.float_greater_elem(tensor, max, bool_), max)

    @forms.elementwise
    def float_clamp(self, tensor: FloatTensor[P], min: Scalar, max: Scalar) -> FloatTensor[P]:
        """min(max(x, min), max)."""
        return self.backend.float_clamp_max(self.backend.float_clamp_min(tensor, min), max)

    @forms.binary
    def float_sub(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """a-b with broadcast."""
        raise NoDefault

    @forms.with_scalar
    def float_sub_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """a-s."""
        return self.backend.float_sub(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def float_mul(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """a*b with broadcast."""
        raise NoDefault

    @forms.with_scalar
    def float_mul_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """a*s."""
        return self.backend.float_mul(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def float_div(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """a/b with broadcast."""
        raise NoDefault

    @forms.with_scalar
    def float_div_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """a/s."""
        return self.backend.float_div(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def float_remainder(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """Floor modulo, sign of the divisor."""
        raise NoDefault

    @forms.with_scalar
    def float_remainder_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """Modulo by scalar, sign of the divisor."""
        return self.backend.float_remainder(lhs, scalar_operand(self, lhs, rhs))

    @forms.matrix_product
    def float_matmul(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """Batched matrix product, leading dims broadcast."""
        raise NoDefault

    @forms.vector_product
    def float_cross(self, lhs: FloatTensor[P], rhs: FloatTensor[P], dim: int) -> FloatTensor[P]:
        """3-vector cross product along dim."""
        b = self.backend
        shape = cross(Shape(lhs.shape), Shape(rhs.shape), dim)
        position = normalize_dim(dim, len(shape))

        def rotated(tensor: P, first: int) -> P:
            before = [slice(None)] * position
            whole = b.float_expand(tensor, shape)
            halves = [
                b.float_slice(whole, [*before, slice(first, None)]),
                b.float_slice(whole, [*before, slice(first)]),
            ]
            return b.float_cat(halves, position)

        forwards = b.float_mul(rotated(lhs, 1), rotated(rhs, 2))
        return b.float_sub(forwards, b.float_mul(rotated(lhs, 2), rotated(rhs, 1)))

    @forms.elementwise
    def float_neg(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """-x."""
        return self.backend.float_mul_scalar(tensor, -1.0)

    @forms.elementwise
    def float_recip(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """1/x."""
        return self.backend.float_div(scalar_operand(self, tensor, 1.0), tensor)

    @forms.elementwise
    def float_exp(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """e^x."""
        raise NoDefault

    @forms.elementwise
    def float_log(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Natural log."""
        raise NoDefault

    @forms.elementwise
    def float_log1p(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """log(1+x)."""
        raise NoDefault

    @forms.binary
    def float_powf(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """a^b elementwise."""
        raise NoDefault

    @forms.with_integers
    def float_powi(self, lhs: FloatTensor[P], rhs: IntTensor[P]) -> FloatTensor[P]:
        """a^n for an integer tensor n."""
        b = self.backend
        return b.float_powf(lhs, b.int_into_float(rhs, b.dtype_of(lhs)))

    @forms.with_scalar
    def float_powi_scalar(self, lhs: FloatTensor[P], rhs: Scalar) -> FloatTensor[P]:
        """a^n for an integer n."""
        b = self.backend
        if rhs == 1:
            return lhs
        if rhs == 2:
            return b.float_mul(lhs, lhs)
        return b.float_powf_scalar(lhs, rhs)

    @forms.elementwise
    def float_powf_scalar(self, tensor: FloatTensor[P], value: Scalar) -> FloatTensor[P]:
        """a^s for a scalar s."""
        return self.backend.float_powf(tensor, scalar_operand(self, tensor, value))

    @forms.elementwise
    def float_sqrt(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Square root."""
        raise NoDefault

    @forms.binary
    def float_hypot(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """sqrt(a^2+b^2), no overflow."""
        b = self.backend
        first, second = b.float_abs(b.float_detach(lhs)), b.float_abs(b.float_detach(rhs))
        greater = b.float_mask_where(first, b.float_lower(first, second, bool_), second)
        # nothing to scale by: 0 and inf are right without it
        zero = b.float_equal_elem(greater, 0.0, bool_)
        unscaled = b.bool_or(zero, b.float_is_inf(greater, bool_))
        scale = b.float_mask_fill(greater, unscaled, 1.0)
        left, right = b.float_div(lhs, scale), b.float_div(rhs, scale)
        squares = b.float_add(b.float_mul(left, left), b.float_mul(right, right))
        return b.float_mul(b.float_sqrt(squares), scale)

    @forms.elementwise
    def float_abs(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Absolute value."""
        raise NoDefault

    @forms.elementwise
    def float_cos(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Cosine."""
        raise NoDefault

    @forms.elementwise
    def float_sin(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Sine."""
        raise NoDefault

    @forms.elementwise
    def float_tan(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Tangent."""
        raise NoDefault

    @forms.elementwise
    def float_cosh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Hyperbolic cosine."""
        raise NoDefault

    @forms.elementwise
    def float_sinh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Hyperbolic sine."""
        raise NoDefault

    @forms.elementwise
    def float_tanh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Hyperbolic tangent."""
        raise NoDefault

    @forms.elementwise
    def float_acos(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Arc cosine."""
        raise NoDefault

    @forms.elementwise
    def float_acosh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Inverse cosh."""
        raise NoDefault

    @forms.elementwise
    def float_asin(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Arc sine."""
        raise NoDefault

    @forms.elementwise
    def float_asinh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Inverse sinh."""
        raise NoDefault

    @forms.elementwise
    def float_atan(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Arc tangent."""
        raise NoDefault

    @forms.elementwise
    def float_atanh(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Inverse tanh."""
        raise NoDefault

    @forms.binary
    def float_atan2(self, lhs: FloatTensor[P], rhs: FloatTensor[P]) -> FloatTensor[P]:
        """four-quadrant angle of (lhs=y, rhs=x)."""
        raise NoDefault

    @forms.elementwise
    def float_round(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Nearest, ties to even."""
        raise NoDefault

    @forms.elementwise
    def float_floor(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Round down."""
        raise NoDefault

    @forms.elementwise
    def float_ceil(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Round up."""
        raise NoDefault

    @forms.elementwise
    def float_trunc(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Round toward zero."""
        raise NoDefault

    @forms.elementwise
    def float_erf(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """Error function."""
        raise NoDefault

    @forms.elementwise
    def float_sign(self, tensor: FloatTensor[P]) -> FloatTensor[P]:
        """-1, 0 or 1; 0 for NaN."""
        b = self.backend
        dtype = b.dtype_of(tensor)
        above = b.bool_into_float(b.float_greater_elem(tensor, 0.0, bool_), dtype)
        below = b.bool_into_float(b.float_lower_elem(tensor, 0.0, bool_), dtype)
        return b.float_sub(above, below)
