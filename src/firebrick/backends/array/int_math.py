"""Arithmetic and bit operations of integer arrays; results wrap in the dtype."""

from __future__ import annotations

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array.elementwise import Applied, whole
from firebrick.backends.array.quiet import quietly


class IntMath(Applied):
    """Elementwise operations and the matrix product. Scalars take the dtype of the array."""

    def int_add(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.add, lhs, rhs)

    def int_add_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.add, lhs, whole(rhs))

    def int_sub(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.subtract, lhs, rhs)

    def int_sub_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.subtract, lhs, whole(rhs))

    def int_mul(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.multiply, lhs, rhs)

    def int_mul_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.multiply, lhs, whole(rhs))

    def int_div(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(truncated_quotient, lhs, rhs)

    def int_div_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.int_div(lhs, np.asarray(whole(rhs), lhs.dtype))

    def int_remainder(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.remainder, lhs, rhs)

    def int_remainder_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.remainder, lhs, whole(rhs))

    def int_powi(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(integer_power, lhs, rhs)

    def int_matmul(self, lhs: Array, rhs: Array) -> Array:
        return quietly(np.matmul, lhs, rhs)

    def int_neg(self, tensor: Array) -> Array:
        return self.unary(np.negative, tensor)

    def int_abs(self, tensor: Array) -> Array:
        return self.unary(np.abs, tensor)

    def int_sign(self, tensor: Array) -> Array:
        return self.unary(np.sign, tensor)

    def bitwise_and(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.bitwise_and, lhs, rhs)

    def bitwise_and_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.bitwise_and, lhs, whole(rhs))

    def bitwise_or(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.bitwise_or, lhs, rhs)

    def bitwise_or_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.bitwise_or, lhs, whole(rhs))

    def bitwise_xor(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.bitwise_xor, lhs, rhs)

    def bitwise_xor_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.bitwise_xor, lhs, whole(rhs))

    def bitwise_not(self, tensor: Array) -> Array:
        return self.unary(np.invert, tensor)

    def bitwise_left_shift(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.left_shift, lhs, rhs)

    def bitwise_left_shift_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.left_shift, lhs, whole(rhs))

    def bitwise_right_shift(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.right_shift, lhs, rhs)

    def bitwise_right_shift_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.right_shift, lhs, whole(rhs))


def truncated_quotient(*operands: Array | Scalar, out: Array | None = None) -> Array:
    """The quotient without its fraction; 0 for a divisor of 0. NumPy's rounds down."""
    lhs, rhs = operands
    down = np.floor_divide(lhs, rhs, out=out)
    if down.dtype.kind == "u":
        return down
    has_fraction = np.not_equal(np.remainder(lhs, rhs), 0)
    is_negative = np.not_equal(np.less(lhs, 0), np.less(rhs, 0))
    return np.add(down, has_fraction & is_negative, out=out, dtype=down.dtype)


def integer_power(*operands: Array | Scalar, out: Array | None = None) -> Array:
    """The power in the dtype; a negative one is 0 unless the base is 1 or -1."""
    base, exponent = operands
    power = np.power(base, np.maximum(exponent, 0), out=out)
    inverse = np.less(exponent, 0)
    if not inverse.any():
        return power
    odd = np.bitwise_and(exponent, 1).astype(bool)
    of_unit = np.where(np.equal(base, 1) | odd, base, np.multiply(base, base))
    kept = np.where(np.equal(np.abs(base), 1), of_unit, np.zeros_like(of_unit))
    replaced = np.where(inverse, kept, power).astype(power.dtype)
    if out is None:
        return replaced
    out[...] = replaced
    return out
