"""Changing dtype and kind.

The methods `float`, `int` and `bool` hide the built-in types inside their class, which is why
nothing that mentions those types shares it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import DType, bool_
from firebrick.errors import DTypeError
from firebrick.tensor.base import TensorBase
from firebrick.tensor.operations import BOOL, FLOAT, INT
from firebrick.tensor.promotion import CAST

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from firebrick.core import Device, DispatchTensor


def _float_to_bool(value: DispatchTensor, target: DType) -> DispatchTensor:
    return FLOAT.float_not_equal_elem(value, 0.0, target)


def _int_to_bool(value: DispatchTensor, target: DType) -> DispatchTensor:
    return INT.int_not_equal_elem(value, 0, target)


CONVERSIONS: dict[tuple[str, str], Callable[[DispatchTensor, DType], DispatchTensor]] = {
    ("float", "int"): lambda value, target: FLOAT.float_into_int(value, target),
    ("float", "bool"): _float_to_bool,
    ("int", "float"): lambda value, target: INT.int_into_float(value, target),
    ("int", "bool"): _int_to_bool,
    ("bool", "float"): lambda value, target: BOOL.bool_into_float(value, target),
    ("bool", "int"): lambda value, target: BOOL.bool_into_int(value, target),
}


def converted(value: DispatchTensor, target: DType) -> DispatchTensor:
    """`value` in a dtype of any kind; itself if it has that dtype."""
    if value.dtype is target:
        return value
    supported(value.device, target)
    if value.kind == target.kind:
        return CAST[value.kind](value, target)
    return CONVERSIONS[value.kind, target.kind](value, target)


def supported(device: Device, target: DType) -> None:
    """`DTypeError` unless the device has values of that dtype."""
    if not isinstance(target, DType):  # pyright: ignore[reportUnnecessaryIsInstance] # untyped callers
        raise DTypeError(
            f"a dtype is one of firebrick's, such as `firebrick.float32`; got {target!r}."
        )
    if not device.supports_dtype(target):
        raise DTypeError(
            f"{device} has no {target} tensors; `device.supports_dtype()` tells which dtypes it "
            "has, and another device may have this one."
        )


class Convert(TensorBase):
    """Methods that change dtype or kind."""

    __slots__ = ()

    def cast(self, dtype: DType) -> Self:
        """The values in another dtype, of any kind; floats truncate toward zero.

        Raises `DTypeError` if the device does not have that dtype.
        """
        value = converted(self._value, dtype)
        return self if value is self._value else self._wrap(value)

    def float(self) -> Self:
        """To the device's float dtype."""
        return self.cast(self._value.device.float_dtype)

    def int(self) -> Self:
        """To the device's int dtype; floats truncate toward zero."""
        return self.cast(self._value.device.int_dtype)

    def bool(self) -> Self:
        """False for zero, true for everything else."""
        return self.cast(bool_)
