"""Operators between tensors, and between a tensor and a Python scalar.

The fast path of every operator: kinds and dtypes agree, so the dispatched operation of that kind
is called and its result wrapped. Whatever differs is promoted or refused in `promotion.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firebrick.core import bool_
from firebrick.errors import KindError, ShapeError
from firebrick.tensor.convert import Convert
from firebrick.tensor.operations import BOOL, FLOAT, INT, Operation, beside, every, numbers
from firebrick.tensor.promotion import adopted, common, is_scalar

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import DispatchTensor, Scalar


class Operator:
    """One sign: its operation between tensors, and the one with a scalar on the right."""

    __slots__ = ("scalar", "sign", "tensor")

    def __init__(self, sign: str, tensor: Operation, scalar: Operation) -> None:
        self.sign = sign
        self.tensor = tensor
        self.scalar = scalar


def _numbers(sign: str, verb: str) -> Operator:
    return Operator(sign, numbers(sign, verb), numbers(sign, f"{verb}_scalar"))


def _named(sign: str, remedies: dict[str, str] | None = None, **names: str) -> Operator:
    scalars = {kind: name for kind, name in names.items() if kind != "bool"}
    return Operator(
        sign,
        Operation(sign, names, remedies),
        Operation(sign, {k: f"{name}_scalar" for k, name in scalars.items()}, remedies),
    )


_NO_INT_QUOTIENT = {"int": "`//` divides ints, and `.float()` makes floats of them"}

ADD = _numbers("+", "add")
SUB = _numbers("-", "sub")
MUL = _numbers("*", "mul")
DIV = _named("/", _NO_INT_QUOTIENT, float="float_div")
MOD = _numbers("%", "remainder")
FLOOR_DIV = numbers("//", "div")
AND = _named("&", int="bitwise_and", bool="bool_and")
OR = _named("|", int="bitwise_or", bool="bool_or")
XOR = _named("^", int="bitwise_xor", bool="bool_xor")
LEFT_SHIFT = _named("<<", int="bitwise_left_shift")
RIGHT_SHIFT = _named(">>", int="bitwise_right_shift")
POW = _named("**", float="float_powf", int="int_powi")
POW_INT_SCALAR = numbers("**", "powi_scalar")
NEG = numbers("-", "neg")
ABS = numbers("abs")
NOT = Operation("~", {"bool": "bool_not", "int": "bitwise_not"})
MATMUL = numbers("matmul")
RESHAPE = every("reshape")


class Arithmetic(Convert):
    """`+ - * / // % ** @`, `& | ^ ~ << >>` and their reflected forms."""

    __slots__ = ()

    __array_priority__ = 1000
    """Makes NumPy leave `array * tensor` to the tensor, which refuses it with a remedy."""

    def _operate(self, operator: Operator, other: Self | Scalar) -> Self:
        lhs = self._value
        if isinstance(other, Arithmetic):
            rhs = other._value
            if lhs.kind is not rhs.kind or lhs.primitive.dtype is not rhs.primitive.dtype:
                lhs, rhs = common(operator.sign, (lhs, rhs))
            return self._wrap(operator.tensor[lhs.kind](lhs, rhs))
        if not is_scalar(other, operator.sign):
            return NotImplemented
        if lhs.kind == "bool" and lhs.kind in operator.tensor.names:
            return self._operate(operator, self._constant(operator.sign, other))
        operation = operator.scalar[lhs.kind]
        return self._wrap(operation(lhs, adopted(operator.sign, lhs, other)))

    def _reflect(self, operator: Operator, other: Scalar) -> Self:
        """`other <sign> self` for an operator that does not commute."""
        if not is_scalar(other, operator.sign):
            return NotImplemented
        _ = operator.tensor[self._value.kind]
        return self._constant(operator.sign, other)._operate(operator, self)

    def _constant(self, sign: str, scalar: Scalar) -> Self:
        """The scalar as a 0-d tensor of this one's dtype and device."""
        value = self._value
        return self._wrap(beside(value, adopted(sign, value, scalar)))

    def __add__(self, other: Self | Scalar) -> Self:
        return self._operate(ADD, other)

    def __radd__(self, other: Scalar) -> Self:
        return self._operate(ADD, other)

    def __sub__(self, other: Self | Scalar) -> Self:
        return self._operate(SUB, other)

    def __rsub__(self, other: Scalar) -> Self:
        if not is_scalar(other, "-"):
            return NotImplemented
        # Negation is exact, so that the sum is the difference.
        return (-self)._operate(ADD, other)

    def __mul__(self, other: Self | Scalar) -> Self:
        return self._operate(MUL, other)

    def __rmul__(self, other: Scalar) -> Self:
        return self._operate(MUL, other)

    def __truediv__(self, other: Self | Scalar) -> Self:
        return self._operate(DIV, other)

    def __rtruediv__(self, other: Scalar) -> Self:
        return self._reflect(DIV, other)

    def __mod__(self, other: Self | Scalar) -> Self:
        """The remainder, with the sign of the divisor."""
        return self._operate(MOD, other)

    def __rmod__(self, other: Scalar) -> Self:
        return self._reflect(MOD, other)

    def __floordiv__(self, other: Self | Scalar) -> Self:
        """The quotient, rounded down; consistent with `%`."""
        if isinstance(other, Arithmetic):
            return self._floor_divide(other)
        if not is_scalar(other, "//"):
            return NotImplemented
        return self._floor_divide(self._constant("//", other))

    def __rfloordiv__(self, other: Scalar) -> Self:
        if not is_scalar(other, "//"):
            return NotImplemented
        return self._constant("//", other)._floor_divide(self)

    def _floor_divide(self, divisor: Self) -> Self:
        lhs, rhs = common("//", (self._value, divisor._value))
        divide = FLOOR_DIVISIONS.get(lhs.kind)
        if divide is None:
            raise FLOOR_DIV.refusal(lhs.kind)
        return self._wrap(divide(lhs, rhs))

    def __pow__(self, other: Self | Scalar) -> Self:
        lhs = self._value
        if isinstance(other, Arithmetic):
            lhs, rhs = common("**", (lhs, other._value))
            return self._wrap(POW.tensor[lhs.kind](lhs, rhs))
        if not is_scalar(other, "**"):
            return NotImplemented
        power = adopted("**", lhs, other)
        if lhs.kind == "float" and not isinstance(other, int | np.integer):
            return self._wrap(FLOAT.float_powf_scalar(lhs, power))
        if lhs.kind == "int" and power < 0:
            raise KindError(
                f"`**` of an int tensor takes powers of 0 and more; got {power}: "
                "call `.float()` first."
            )
        return self._wrap(POW_INT_SCALAR[lhs.kind](lhs, int(power)))

    def __rpow__(self, other: Scalar) -> Self:
        return self._reflect(POW, other)

    def __neg__(self) -> Self:
        value = self._value
        return self._wrap(NEG[value.kind](value))

    def __pos__(self) -> Self:
        _ = NEG[self._value.kind]
        return self

    def __abs__(self) -> Self:
        value = self._value
        return self._wrap(ABS[value.kind](value))

    def __and__(self, other: Self | Scalar) -> Self:
        return self._operate(AND, other)

    def __rand__(self, other: Scalar) -> Self:
        return self._operate(AND, other)

    def __or__(self, other: Self | Scalar) -> Self:
        return self._operate(OR, other)

    def __ror__(self, other: Scalar) -> Self:
        return self._operate(OR, other)

    def __xor__(self, other: Self | Scalar) -> Self:
        return self._operate(XOR, other)

    def __rxor__(self, other: Scalar) -> Self:
        return self._operate(XOR, other)

    def __invert__(self) -> Self:
        value = self._value
        return self._wrap(NOT[value.kind](value))

    def __lshift__(self, other: Self | Scalar) -> Self:
        return self._operate(LEFT_SHIFT, other)

    def __rlshift__(self, other: Scalar) -> Self:
        return self._reflect(LEFT_SHIFT, other)

    def __rshift__(self, other: Self | Scalar) -> Self:
        return self._operate(RIGHT_SHIFT, other)

    def __rrshift__(self, other: Scalar) -> Self:
        return self._reflect(RIGHT_SHIFT, other)

    def __matmul__(self, other: Self) -> Self:
        if not isinstance(other, Arithmetic):  # pyright: ignore[reportUnnecessaryIsInstance] # untyped callers
            return NotImplemented
        return self.matmul(other)

    def matmul(self, other: Self) -> Self:
        """The matrix product of the last two dimensions; those before them broadcast.

        A 1-D operand is a row on the left and a column on the right, and leaves no dimension.
        """
        lhs, rhs = common("matmul", (self._value, self._operand("matmul", other)))
        return self._wrap(matrix_product(lhs, rhs))


def matrix_product(lhs: DispatchTensor, rhs: DispatchTensor) -> DispatchTensor:
    """The product of two values of one dtype, by the rules of `Tensor.matmul`."""
    multiply, reshape = MATMUL[lhs.kind], RESHAPE[lhs.kind]
    rows, columns = lhs.shape, rhs.shape
    if not rows or not columns:
        raise ShapeError(
            f"`matmul` takes tensors of at least one dimension; got shapes {list(rows)} and "
            f"{list(columns)}: `*` multiplies by a scalar."
        )
    if len(rows) > 1 and len(columns) > 1:
        return multiply(lhs, rhs)
    if len(rows) == 1:
        lhs = reshape(lhs, (1, *rows))
    if len(columns) == 1:
        rhs = reshape(rhs, (*columns, 1))
    product = multiply(lhs, rhs)
    sizes = list(product.shape)
    if len(columns) == 1:
        del sizes[-1]
    if len(rows) == 1:
        del sizes[len(product.shape) - 2]
    return reshape(product, sizes)


def _floor_quotient(lhs: DispatchTensor, rhs: DispatchTensor) -> DispatchTensor:
    """Of floats. Without its remainder the dividend is a multiple, so that rounding is exact.

    Where that is undefined (divisors of zero, infinities) the plain quotient is rounded down.
    """
    quotient = FLOAT.float_div(lhs, rhs)
    multiple = FLOAT.float_sub(lhs, FLOAT.float_remainder(lhs, rhs))
    exact = FLOAT.float_round(FLOAT.float_div(multiple, rhs))
    undefined = FLOAT.float_is_nan(exact, bool_)
    return FLOAT.float_mask_where(exact, undefined, FLOAT.float_floor(quotient))


def _int_floor_quotient(lhs: DispatchTensor, rhs: DispatchTensor) -> DispatchTensor:
    """Of ints: one less than the truncated quotient where that was rounded up.

    Subtracting the remainder first would overflow next to the smallest value of the dtype.
    """
    quotient = INT.int_div(lhs, rhs)
    if lhs.dtype.name.startswith("u"):
        return quotient
    rest = INT.int_sub(lhs, INT.int_mul(quotient, rhs))
    rounded_up = INT.int_not_equal(rest, INT.int_remainder(lhs, rhs), bool_)
    divided = INT.int_not_equal_elem(rhs, 0, bool_)  # a divisor of 0 gives 0, as in NumPy
    down = BOOL.bool_into_int(BOOL.bool_and(rounded_up, divided), lhs.dtype)
    return INT.int_sub(quotient, down)


FLOOR_DIVISIONS = {"float": _floor_quotient, "int": _int_floor_quotient}
