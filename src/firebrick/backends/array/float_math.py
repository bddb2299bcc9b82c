"""Arithmetic and elementary functions of float arrays."""

from __future__ import annotations

import numpy as np

from firebrick.backend.options import Array, Scalar
from firebrick.backends.array.elementwise import Applied
from firebrick.backends.array.erf import erf
from firebrick.backends.array.quiet import quietly


class FloatMath(Applied):
    """Elementwise operations and the matrix product. Scalars take the dtype of the array."""

    def float_add(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.add, lhs, rhs)

    def float_add_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.add, lhs, float(rhs))

    def float_sub(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.subtract, lhs, rhs)

    def float_sub_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.subtract, lhs, float(rhs))

    def float_mul(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.multiply, lhs, rhs)

    def float_mul_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.multiply, lhs, float(rhs))

    def float_div(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.divide, lhs, rhs)

    def float_div_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.divide, lhs, float(rhs))

    def float_remainder(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.remainder, lhs, rhs)

    def float_remainder_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.with_number(np.remainder, lhs, float(rhs))

    def float_clamp_min(self, tensor: Array, min: Scalar) -> Array:
        return self.with_number(np.maximum, tensor, float(min))

    def float_clamp_max(self, tensor: Array, max: Scalar) -> Array:
        return self.with_number(np.minimum, tensor, float(max))

    def float_matmul(self, lhs: Array, rhs: Array) -> Array:
        if lhs.dtype == np.float16:
            # accumulated in float32 and rounded once
            wide = quietly(np.matmul, lhs.astype(np.float32), rhs.astype(np.float32))
            return quietly(wide.astype, np.float16)
        return quietly(np.matmul, lhs, rhs)

    def float_neg(self, tensor: Array) -> Array:
        return self.unary(np.negative, tensor)

    def float_recip(self, tensor: Array) -> Array:
        return self.unary(np.reciprocal, tensor)

    def float_exp(self, tensor: Array) -> Array:
        return self.unary(np.exp, tensor)

    def float_log(self, tensor: Array) -> Array:
        return self.unary(np.log, tensor)

    def float_log1p(self, tensor: Array) -> Array:
        return self.unary(np.log1p, tensor)

    def float_powf(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.power, lhs, rhs)

    def float_powi(self, lhs: Array, rhs: Array) -> Array:
        # in float64, which holds exponents exactly that float32 would round to another parity
        wide = self.binary(np.power, lhs.astype(np.float64), rhs.astype(np.float64))
        return quietly(wide.astype, lhs.dtype)

    def float_powi_scalar(self, lhs: Array, rhs: Scalar) -> Array:
        return self.float_powf_scalar(lhs, rhs)

    def float_powf_scalar(self, tensor: Array, value: Scalar) -> Array:
        if value == 2:
            return self.unary(np.square, tensor)
        return self.with_number(np.power, tensor, float(value))

    def float_sqrt(self, tensor: Array) -> Array:
        return self.unary(np.sqrt, tensor)

    def float_hypot(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.hypot, lhs, rhs)

    def float_abs(self, tensor: Array) -> Array:
        return self.unary(np.abs, tensor)

    def float_cos(self, tensor: Array) -> Array:
        return self.unary(np.cos, tensor)

    def float_sin(self, tensor: Array) -> Array:
        return self.unary(np.sin, tensor)

    def float_tan(self, tensor: Array) -> Array:
        return self.unary(np.tan, tensor)

    def float_cosh(self, tensor: Array) -> Array:
        return self.unary(np.cosh, tensor)

    def float_sinh(self, tensor: Array) -> Array:
        return self.unary(np.sinh, tensor)

    def float_tanh(self, tensor: Array) -> Array:
        return self.unary(np.tanh, tensor)

    def float_acos(self, tensor: Array) -> Array:
        return self.unary(np.arccos, tensor)

    def float_acosh(self, tensor: Array) -> Array:
        return self.unary(np.arccosh, tensor)

    def float_asin(self, tensor: Array) -> Array:
        return self.unary(np.arcsin, tensor)

    def float_asinh(self, tensor: Array) -> Array:
        return self.unary(np.arcsinh, tensor)

    def float_atan(self, tensor: Array) -> Array:
        return self.unary(np.arctan, tensor)

    def float_atanh(self, tensor: Array) -> Array:
        return self.unary(np.arctanh, tensor)

    def float_atan2(self, lhs: Array, rhs: Array) -> Array:
        return self.binary(np.arctan2, lhs, rhs)

    def float_round(self, tensor: Array) -> Array:
        return self.unary(np.rint, tensor)

    def float_floor(self, tensor: Array) -> Array:
        return self.unary(np.floor, tensor)

    def float_ceil(self, tensor: Array) -> Array:
        return self.unary(np.ceil, tensor)

    def float_trunc(self, tensor: Array) -> Array:
        return self.unary(np.trunc, tensor)

    def float_erf(self, tensor: Array) -> Array:
        return self.unary(erf, tensor)

    def float_sign(self, tensor: Array) -> Array:
        return np.asarray(np.subtract(tensor > 0, tensor < 0, dtype=tensor.dtype))
