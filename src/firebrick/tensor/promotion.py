"""Dtypes and scalars that meet in one operation: what they become.

Within a kind dtypes promote as in the Python array API standard 2024.12, "Type promotion rules"
(https://data-apis.org/array-api/2024.12/API_specification/type_promotion.html). Between kinds
nothing is converted. A Python scalar adopts the dtype of the tensor.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from firebrick.core import (
    DType,
    dtype,
    float32,
    from_numpy_dtype,
    to_numpy_dtype,
)
from firebrick.errors import DTypeError, KindError
from firebrick.tensor.operations import REMEDIES, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeGuard

    from firebrick.core import DispatchTensor, Scalar

CAST = numbers("cast")
# Fits every int dtype, so that small numbers need no look at the dtype.
SMALLEST_INT_MAX = 127
MOST_DIGITS_SHOWN = 30
# A tuple: a union written in a call is built at each call.
NUMBERS = (int, float, np.bool_, np.integer, np.floating)


@cache
def promote(lhs: DType, rhs: DType) -> DType:
    """The dtype that two dtypes of one kind become together; `DTypeError` if there is none."""
    if lhs is rhs:
        return lhs
    if lhs.kind != rhs.kind:
        raise DTypeError(f"{lhs} and {rhs} are of different kinds: they do not promote.")
    if lhs.kind == "float":
        # float16 and bfloat16 are of one size, and neither holds the values of the other.
        return float32 if lhs.itemsize == rhs.itemsize else max(lhs, rhs, key=_itemsize)
    together = np.promote_types(to_numpy_dtype(lhs), to_numpy_dtype(rhs))
    if together.kind not in "iu":
        raise DTypeError(
            f"no int dtype holds all values of {lhs} and {rhs}: cast one of them with `.cast()`."
        )
    return from_numpy_dtype(together)


def _itemsize(item: DType) -> int:
    return item.itemsize


@cache
def accumulator(of: DType, default: DType) -> DType:
    """The dtype of sums and products of ints: at least as wide as the `default` int dtype.

    Unsigned stays unsigned, as in the array API standard, section "Statistical Functions".
    """
    if of.kind != "int" or of.itemsize >= default.itemsize:
        return of
    unsigned = str(of).startswith("u") and not str(default).startswith("u")
    return dtype(f"u{default}") if unsigned else default


def common(shown: str, values: Sequence[DispatchTensor]) -> list[DispatchTensor]:
    """The values in the dtype that they promote to; `KindError` unless of one kind."""
    first, *others = values
    target = first.dtype
    for value in others:
        if value.kind != first.kind:
            raise mixed_kinds(shown, first, value)
        target = promote(target, value.dtype)
    return [cast(value, target) for value in values]


def fitting(shown: str, value: DispatchTensor, target: DispatchTensor) -> DispatchTensor:
    """`value` in the dtype of `target`, into which it is written; only widening is allowed."""
    if value.kind != target.kind:
        raise mixed_kinds(shown, target, value)
    dtypes = value.dtype, target.dtype
    if promote(*dtypes) is not dtypes[1]:
        raise DTypeError(
            f"`{shown}` writes into a {dtypes[1]} tensor, which cannot hold values of {dtypes[0]}: "
            f"call `.cast({dtypes[1]})` on the values or `.cast({dtypes[0]})` on the tensor."
        )
    return cast(value, dtypes[1])


def cast(value: DispatchTensor, target: DType) -> DispatchTensor:
    """`value` in another dtype of its kind; itself if it has that dtype."""
    return value if value.dtype is target else CAST[value.kind](value, target)


def mixed_kinds(shown: str, lhs: DispatchTensor, rhs: DispatchTensor) -> KindError:
    """Two tensors of different kinds in one operation, and the call that brings them together."""
    kinds = {lhs.kind, rhs.kind}
    if "float" in kinds:
        other = next(iter(kinds - {"float"}))
        remedy = f"call `.float()` on the {other} tensor"
    else:
        remedy = "call `.int()` on the bool tensor, or `.bool()` on the int tensor"
    return KindError(
        f"`{shown}` takes tensors of one kind; got {lhs.dtype} and {rhs.dtype}: {remedy}."
    )


def is_scalar(other: object, shown: str) -> TypeGuard[Scalar]:
    """Whether an operand that is no tensor is a number; `KindError` for a NumPy array."""
    if isinstance(other, NUMBERS):
        return True
    if isinstance(other, np.ndarray):
        raise KindError(
            f"`{shown}` takes tensors and Python numbers; got a NumPy array: "
            "`Tensor.from_numpy(array, device)` makes a tensor of it."
        )
    return False


def python_number(scalar: Scalar) -> Scalar:
    """A NumPy scalar as the Python number that it stands for; others as they are."""
    as_python: Callable[[], Scalar] | None = getattr(scalar, "item", None)
    return scalar if as_python is None else as_python()


def adopted(shown: str, value: DispatchTensor, scalar: Scalar) -> Scalar:
    """A Python or NumPy scalar as a number of the tensor's dtype.

    Raises: `KindError` for a float beside an int tensor and a number beside a bool tensor,
    `DTypeError` for an int that the dtype cannot hold.
    """
    if value.kind == "float" and type(scalar) is float:
        return scalar
    if value.kind == "int" and type(scalar) is int and 0 <= scalar <= SMALLEST_INT_MAX:
        return scalar
    return in_dtype(shown, value.dtype, scalar)


def in_dtype(shown: str, dtype: DType, scalar: Scalar) -> Scalar:
    """A Python or NumPy scalar as a number of `dtype`; raises as `adopted` does."""
    number = python_number(scalar)
    if dtype.kind == "float":
        return _as_float(shown, dtype, number)
    if dtype.kind == "int":
        return _as_int(shown, dtype, number)
    if isinstance(number, bool) or (isinstance(number, int) and number in (0, 1)):
        return bool(number)
    raise KindError(
        f"`{shown}`: a bool tensor goes with True and False; got {number!r}: {REMEDIES['int']}."
    )


def _as_float(shown: str, dtype: DType, number: Scalar) -> float:
    try:
        return float(number)
    except OverflowError:
        raise _out_of_range(shown, dtype, number) from None


def _as_int(shown: str, dtype: DType, number: Scalar) -> int:
    if isinstance(number, float):
        raise KindError(
            f"`{shown}`: an int tensor goes with ints; got {number!r}: {REMEDIES['float']}."
        )
    limits = np.iinfo(dtype.name)
    if not limits.min <= number <= limits.max:
        raise _out_of_range(shown, dtype, number)
    return int(number)


def _out_of_range(shown: str, dtype: DType, number: Scalar) -> DTypeError:
    digits = str(number) if abs(number) < 10**MOST_DIGITS_SHOWN else "an int of many digits"
    return DTypeError(
        f"`{shown}`: {digits} is out of the range of {dtype}; use a wider dtype, such as by "
        "`.cast()`."
    )


def default_int(value: DispatchTensor) -> DType:
    """The int dtype of the device that `value` lives on."""
    return value.device.int_dtype
