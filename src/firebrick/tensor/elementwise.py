"""Functions of one tensor, element by element, and the activations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import bool_
from firebrick.tensor.checks import dim_of
from firebrick.tensor.compare import Compare
from firebrick.tensor.operations import BOOL, Operation, floats, numbers
from firebrick.tensor.promotion import adopted

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import Scalar

EXP = floats("exp")
LOG = floats("log")
LOG1P = floats("log1p")
SQRT = floats("sqrt")
RECIP = floats("recip")
ERF = floats("erf")
SIN = floats("sin")
COS = floats("cos")
TAN = floats("tan")
TANH = floats("tanh")
FLOOR = floats("floor")
CEIL = floats("ceil")
ROUND = floats("round")
TRUNC = floats("trunc")
SIGN = numbers("sign")
CLAMP = numbers("clamp")
CLAMP_MIN = numbers("clamp", "clamp_min")
CLAMP_MAX = numbers("clamp", "clamp_max")
RELU = floats("relu", "relu")
GELU = floats("gelu", "gelu")
SIGMOID = floats("sigmoid", "sigmoid")
SOFTMAX = floats("softmax", "softmax")
LOG_SOFTMAX = floats("log_softmax", "log_softmax")
IS_NAN = floats("is_nan")
IS_INF = floats("is_inf")


class Elementwise(Compare):
    """Methods that keep the shape and look at one element at a time; softmax at one dimension."""

    __slots__ = ()

    def _map(self, operation: Operation) -> Self:
        value = self._value
        return self._wrap(operation[value.kind](value))

    def _round(self, operation: Operation) -> Self:
        """Ints are whole already."""
        return self if self._value.kind == "int" else self._map(operation)

    def exp(self) -> Self:
        """E to the power of each element."""
        return self._map(EXP)

    def log(self) -> Self:
        """The natural logarithm."""
        return self._map(LOG)

    def log1p(self) -> Self:
        """`log(1 + x)`, accurate next to 0."""
        return self._map(LOG1P)

    def sqrt(self) -> Self:
        """The square root."""
        return self._map(SQRT)

    def recip(self) -> Self:
        """`1 / x`."""
        return self._map(RECIP)

    def square(self) -> Self:
        """`x * x`."""
        return self * self

    def abs(self) -> Self:
        """The absolute value."""
        return self.__abs__()

    def sign(self) -> Self:
        """-1, 0 or 1."""
        return self._map(SIGN)

    def erf(self) -> Self:
        """The error function."""
        return self._map(ERF)

    def sin(self) -> Self:
        """The sine of radians."""
        return self._map(SIN)

    def cos(self) -> Self:
        """The cosine of radians."""
        return self._map(COS)

    def tan(self) -> Self:
        """The tangent of radians."""
        return self._map(TAN)

    def tanh(self) -> Self:
        """The hyperbolic tangent."""
        return self._map(TANH)

    def floor(self) -> Self:
        """Rounds down."""
        return self._round(FLOOR)

    def ceil(self) -> Self:
        """Rounds up."""
        return self._round(CEIL)

    def round(self) -> Self:
        """Ties to even."""
        return self._round(ROUND)

    def trunc(self) -> Self:
        """Rounds toward zero."""
        return self._round(TRUNC)

    def clamp(self, min: Scalar | None = None, max: Scalar | None = None) -> Self:
        """Raises what is below `min` to it, then lowers what is above `max` to it."""
        value = self._value
        low = None if min is None else adopted("clamp", value, min)
        high = None if max is None else adopted("clamp", value, max)
        if low is not None and high is not None:
            return self._wrap(CLAMP[value.kind](value, low, high))
        if low is not None:
            return self._wrap(CLAMP_MIN[value.kind](value, low))
        if high is not None:
            return self._wrap(CLAMP_MAX[value.kind](value, high))
        return self

    def relu(self) -> Self:
        """`max(x, 0)`."""
        return self._map(RELU)

    def gelu(self) -> Self:
        """`x * (1 + erf(x / sqrt(2))) / 2`, the exact form."""
        return self._map(GELU)

    def sigmoid(self) -> Self:
        """`1 / (1 + exp(-x))`."""
        return self._map(SIGMOID)

    def softmax(self, dim: int) -> Self:
        """`exp(x)` divided by its sum along `dim`."""
        return self._along(SOFTMAX, dim)

    def log_softmax(self, dim: int) -> Self:
        """The logarithm of `softmax`, computed without overflow."""
        return self._along(LOG_SOFTMAX, dim)

    def _along(self, operation: Operation, dim: int) -> Self:
        value = self._value
        return self._wrap(operation[value.kind](value, dim_of(operation.shown, dim, self.ndim)))

    def is_nan(self) -> Self:
        """Where the element is not a number; nowhere in an int tensor."""
        return self._test(IS_NAN)

    def is_inf(self) -> Self:
        """Where the element is infinite; nowhere in an int tensor."""
        return self._test(IS_INF)

    def _test(self, operation: Operation) -> Self:
        value = self._value
        if value.kind == "int":
            return self._wrap(BOOL.bool_zeros(value.shape, value.device, bool_))
        return self._wrap(operation[value.kind](value, bool_))
