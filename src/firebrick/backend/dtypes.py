"""Dtypes of outputs from dtypes of inputs, for the `@fusion` forms of the built-in operations.

As in `shapes.py`, functions take the operands by the names that the operations give them.
Built-in operations do not promote: `DTypeError` for operands of different dtypes, `KindError`
for a requested dtype of another kind, `DTypeError` for a scalar that an integer dtype cannot
hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from firebrick.backend.options import Array
from firebrick.core import DType, Kind, Scalar, from_numpy_dtype, normalize_dim
from firebrick.errors import DTypeError, KindError


def of_kind(wanted: DType, kind: Kind) -> DType:
    """`wanted`, which must be of `kind`."""
    if wanted.kind != kind:
        raise KindError(f"the requested dtype is of kind {kind}; got {wanted}.")
    return wanted


def of_data(data: Array, kind: Kind) -> DType:
    """The dtype of host data, which must be of `kind`."""
    found = from_numpy_dtype(data.dtype)
    if found.kind != kind:
        raise KindError(f"the data is of kind {kind}; got an array of {found}.")
    return found


def new_float(dtype: DType) -> DType:
    """A requested float dtype."""
    return of_kind(dtype, "float")


def new_int(dtype: DType) -> DType:
    """A requested integer dtype."""
    return of_kind(dtype, "int")


def new_bool(dtype: DType) -> DType:
    """A requested dtype of truth values."""
    return of_kind(dtype, "bool")


def as_float(out_dtype: DType) -> DType:
    """A requested float dtype of the output."""
    return of_kind(out_dtype, "float")


def as_int(out_dtype: DType) -> DType:
    """A requested integer dtype of the output."""
    return of_kind(out_dtype, "int")


def as_bool(out_dtype: DType) -> DType:
    """A requested dtype of truth values of the output."""
    return of_kind(out_dtype, "bool")


def float_data(data: Array) -> DType:
    """Of floats on the host."""
    return of_data(data, "float")


def int_data(data: Array) -> DType:
    """Of integers on the host."""
    return of_data(data, "int")


def bool_data(data: Array) -> DType:
    """Of truth values on the host."""
    return of_data(data, "bool")


def equal(lhs: DType, rhs: DType) -> DType:
    """The one dtype of two operands."""
    if lhs is not rhs:
        raise DTypeError(f"both operands have one dtype; got {lhs} and {rhs}: cast one of them.")
    return lhs


def compared(lhs: DType, rhs: DType, out_dtype: DType) -> DType:
    """Of a comparison of operands of one dtype."""
    equal(lhs, rhs)
    return of_kind(out_dtype, "bool")


def stored(tensor: DType, value: DType) -> DType:
    """Of a tensor in which values of the same dtype are put."""
    return equal(tensor, value)


def of_all(tensors: Sequence[DType]) -> DType:
    """The one dtype of several tensors."""
    for found in tensors[1:]:
        equal(tensors[0], found)
    return tensors[0]


def with_scalar(lhs: DType, rhs: Scalar) -> DType:
    """Of an integer tensor and a scalar that takes its dtype."""
    check_integer(rhs, lhs)
    return lhs


def with_power(lhs: DType, rhs: Scalar) -> DType:
    """Of an integer tensor and a whole exponent of any size."""
    if isinstance(rhs, float):
        raise DTypeError(f"an integer tensor has integer powers; got the exponent {rhs!r}.")
    return lhs


def filled(tensor: DType, value: Scalar) -> DType:
    """Of an integer tensor and a scalar that is put in it."""
    check_integer(value, tensor)
    return tensor


def new_integer(fill_value: Scalar, dtype: DType) -> DType:
    """Of a new integer tensor that holds `fill_value`."""
    check_integer(fill_value, of_kind(dtype, "int"))
    return dtype


def of_range(range: range, dtype: DType) -> DType:  # named as the operation names it
    """Of a new integer tensor that holds the numbers of a range."""
    of_kind(dtype, "int")
    for number in (*range[:1], *range[-1:]):
        check_integer(number, dtype)
    return dtype


def of_steps(range: range, step: int, dtype: DType) -> DType:  # named as the operation names it
    """Of a new integer tensor that holds every `step`-th number of a range."""
    return of_range(range[:: max(step, 1)], dtype)


def integer_bounds(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    bits = 8 * dtype.itemsize
    if dtype.name.startswith("u"):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def check_integer(value: Scalar, dtype: DType) -> None:
    """`DTypeError` unless `value` is a whole number that `dtype` holds."""
    least, greatest = integer_bounds(dtype)
    if isinstance(value, float) or not least <= value <= greatest:
        raise DTypeError(
            f"a scalar takes the tensor's dtype, {dtype}, which holds whole numbers from {least} "
            f"to {greatest}; got {value!r}."
        )


def check_positions(shape: Sequence[int], dim: int, dtype: DType) -> None:
    """`DTypeError` unless `dtype` holds every position along `dim`."""
    size = shape[normalize_dim(dim, len(shape))]
    greatest = integer_bounds(dtype)[1]
    if size - 1 > greatest:
        raise DTypeError(
            f"{dtype} ends at {greatest} and cannot hold the {size} positions of dimension {dim} "
            f"of shape {list(shape)}; use a wider dtype."
        )
