"""Arithmetic and bit operations of integer tensors, element by element, and matmul.

Results stay in the dtype and wrap when they are out of its range. Rules that hardware and
libraries leave open: division and remainder by zero give 0; a shift count that is negative or
not below the width of the dtype shifts everything out; a negative power is 0 unless the base
is 1 or -1.
"""

from __future__ import annotations

from firebrick.backend import forms
from firebrick.backend.dtypes import integer_bounds
from firebrick.backend.options import Scalar
from firebrick.backend.scalar_operand import scalar_operand
from firebrick.core import bool_
from firebrick.opset import NoDefault, OpSet
from firebrick.opset.kinds import IntTensor, P


class IntMath(OpSet[P], builtin=True):
    """Elementwise operations and the matrix product. Broadcasting is NumPy's."""

    @forms.binary
    def int_add(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """a+b with broadcast."""
        raise NoDefault

    @forms.with_integer
    def int_add_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """a+s."""
        return self.backend.int_add(lhs, scalar_operand(self, lhs, rhs))

    @forms.elementwise
    def int_square(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """a*a."""
        return self.backend.int_mul(tensor, tensor)

    @forms.binary
    def int_powi(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """a^n, exact in the integer dtype."""
        raise NoDefault

    @forms.with_integer_power
    def int_powi_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """a^n, exact in the integer dtype."""
        b = self.backend
        exponent = int(rhs)
        if exponent < 0:
            # 0 unless the base is 1 or -1: those keep their sign, squared for an even exponent
            unit = b.int_equal_elem(b.int_abs(lhs), 1, bool_)
            kept = b.int_mask_fill(lhs, b.bool_not(unit), 0)
            return kept if exponent % 2 else b.int_square(kept)
        power = scalar_operand(self, lhs, 1)
        factor = lhs
        for bit in reversed(f"{exponent:b}"):
            if bit == "1":
                power = b.int_mul(power, factor)
            factor = b.int_square(factor)
        return b.int_expand(power, lhs.shape)

    @forms.elementwise
    def int_clamp_min(self, tensor: IntTensor[P], min: Scalar) -> IntTensor[P]:
        """max(x, s)."""
        b = self.backend
        bound = self._within(tensor, min)
        return b.int_mask_fill(tensor, b.int_lower_elem(tensor, bound, bool_), bound)

    @forms.elementwise
    def int_clamp_max(self, tensor: IntTensor[P], max: Scalar) -> IntTensor[P]:
        """min(x, s)."""
        b = self.backend
        bound = self._within(tensor, max)
        return b.int_mask_fill(tensor, b.int_greater_elem(tensor, bound, bool_), bound)

    @forms.elementwise
    def int_clamp(self, tensor: IntTensor[P], min: Scalar, max: Scalar) -> IntTensor[P]:
        """min(max(x, min), max)."""
        return self.backend.int_clamp_max(self.backend.int_clamp_min(tensor, min), max)

    @forms.binary
    def int_sub(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """a-b with broadcast."""
        raise NoDefault

    @forms.with_integer
    def int_sub_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """a-s."""
        return self.backend.int_sub(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def int_mul(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """a*b with broadcast."""
        raise NoDefault

    @forms.with_integer
    def int_mul_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """a*s."""
        return self.backend.int_mul(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def int_div(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """Integer division, TRUNCATES toward zero (unlike Python //)."""
        raise NoDefault

    @forms.with_integer
    def int_div_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """Integer division, truncates toward zero."""
        return self.backend.int_div(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def int_remainder(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """Modulo with the sign of the divisor (Python `%`)."""
        raise NoDefault

    @forms.with_integer
    def int_remainder_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """Modulo by scalar, sign of the divisor."""
        return self.backend.int_remainder(lhs, scalar_operand(self, lhs, rhs))

    @forms.matrix_product
    def int_matmul(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """Batched matrix product, leading dims broadcast."""
        raise NoDefault

    @forms.elementwise
    def int_neg(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """-x."""
        return self.backend.int_sub(scalar_operand(self, tensor, 0), tensor)

    @forms.elementwise
    def int_abs(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """Absolute value."""
        b = self.backend
        negative = b.int_lower_elem(tensor, 0, bool_)
        return b.int_mask_where(tensor, negative, b.int_neg(tensor))

    @forms.elementwise
    def int_sign(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """-1, 0 or 1."""
        b = self.backend
        dtype = b.dtype_of(tensor)
        above = b.bool_into_int(b.int_greater_elem(tensor, 0, bool_), dtype)
        below = b.bool_into_int(b.int_lower_elem(tensor, 0, bool_), dtype)
        return b.int_sub(above, below)

    @forms.binary
    def bitwise_and(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """&."""
        raise NoDefault

    @forms.with_integer
    def bitwise_and_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """& scalar."""
        return self.backend.bitwise_and(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def bitwise_or(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """Bit or."""
        raise NoDefault

    @forms.with_integer
    def bitwise_or_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """Bit or scalar."""
        return self.backend.bitwise_or(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def bitwise_xor(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """^."""
        raise NoDefault

    @forms.with_integer
    def bitwise_xor_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """^ scalar."""
        return self.backend.bitwise_xor(lhs, scalar_operand(self, lhs, rhs))

    @forms.elementwise
    def bitwise_not(self, tensor: IntTensor[P]) -> IntTensor[P]:
        """~."""
        raise NoDefault

    @forms.binary
    def bitwise_left_shift(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """<<."""
        raise NoDefault

    @forms.with_integer
    def bitwise_left_shift_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """<< scalar."""
        return self.backend.bitwise_left_shift(lhs, scalar_operand(self, lhs, rhs))

    @forms.binary
    def bitwise_right_shift(self, lhs: IntTensor[P], rhs: IntTensor[P]) -> IntTensor[P]:
        """>>."""
        raise NoDefault

    @forms.with_integer
    def bitwise_right_shift_scalar(self, lhs: IntTensor[P], rhs: Scalar) -> IntTensor[P]:
        """>> scalar."""
        return self.backend.bitwise_right_shift(lhs, scalar_operand(self, lhs, rhs))

    def _within(self, tensor: P, bound: Scalar) -> int:
        least, greatest = integer_bounds(self.backend.dtype_of(tensor))
        return sorted((least, int(bound), greatest))[1]
