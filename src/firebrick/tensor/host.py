"""From values on the host to a dispatched tensor: which dtype they get, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from firebrick.core import bfloat16, float32, from_numpy_dtype, to_numpy_dtype
from firebrick.errors import DeviceError, DTypeError, ShapeError
from firebrick.tensor.convert import supported
from firebrick.tensor.operations import every
from firebrick.tensor.promotion import cast as cast_value

if TYPE_CHECKING:
    from firebrick.core import Device, DispatchTensor, DType, Kind, Scalar


Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
FROM_DATA = every("from_data")


def read_values(data: Any) -> tuple[Array, bool]:
    """The values as an array, and whether that has a dtype of its own that the user chose."""
    if isinstance(data, np.ndarray | np.generic):
        return np.asarray(cast("Array", data)), True
    if hasattr(data, "__dlpack__"):
        return exported_array(data), True
    try:
        return np.asarray(data), False
    except ValueError as fact:
        raise ShapeError(
            f"nested sequences have equal lengths at each depth; got others: {fact}"
        ) from None


def exported_array(producer: Any) -> Array:
    """A view of the memory that another library exports.

    Raises: `DeviceError` for memory that is not the host's, `DTypeError` for a dtype that NumPy
    does not have and for what exports nothing.
    """
    name = type(producer).__name__
    if not hasattr(producer, "__dlpack__"):
        raise DTypeError(
            f"`from_dlpack` takes an array with `__dlpack__`; got {name}: `Tensor(data)` takes "
            "numbers and nested sequences."
        )
    try:
        return np.from_dlpack(producer)
    except (BufferError, RuntimeError) as fact:
        raise DeviceError(
            f"the memory of this {name} cannot be read on the host: {fact}. Copy it there first, "
            "or use a device that shares it."
        ) from fact


def kind_of(value: Scalar) -> Kind:
    """The kind that a Python or NumPy scalar becomes."""
    if isinstance(value, bool | np.bool_):
        return "bool"
    return "int" if isinstance(value, int | np.integer) else "float"


def default_dtype(device: Device, kind: Kind) -> DType:
    """What Python values of a kind become on a device."""
    if kind == "float":
        return device.float_dtype
    return device.int_dtype if kind == "int" else device.bool_dtype


def uploaded(data: Any, device: Device, dtype: DType | None) -> DispatchTensor:
    """A copy of the values on the device; Python numbers get the device's default dtypes."""
    array, chosen = read_values(data)
    if dtype is None:
        dtype = from_numpy_dtype(array.dtype)
        if not chosen:
            dtype = default_dtype(device, dtype.kind)
    return placed(array, device, dtype)


def placed(array: Array, device: Device, dtype: DType) -> DispatchTensor:
    """The values in `dtype` on the device; shared only where the array cannot be written."""
    supported(device, dtype)
    from_numpy_dtype(array.dtype)
    if dtype is bfloat16:
        # Host arrays have no bfloat16; the device rounds.
        return cast_value(placed(array, device, float32), bfloat16)
    data = _as(array, to_numpy_dtype(dtype))
    return FROM_DATA[dtype.kind](data, device)


def _as(array: Array, target: np.dtype[Any]) -> Array:
    """The values in another dtype; a new array is made read-only, so that it can be shared."""
    if array.dtype == target and array.dtype.isnative:
        return array
    if target.kind in "iu":
        _require_range(array, target)
    with np.errstate(over="ignore"):  # a float too large for the dtype is infinite in it
        converted = array.astype(target)
    converted.flags.writeable = False
    return converted


def _require_range(array: Array, target: np.dtype[Any]) -> None:
    """`DTypeError` where a value is out of the range of an int dtype."""
    if array.dtype.kind == "b" or not array.size:
        return
    limits = np.iinfo(target)
    low, high = array.min(), array.max()
    if not (low >= limits.min and high <= limits.max):
        worst = low if not low >= limits.min else high
        raise DTypeError(
            f"{worst} is out of the range of {target}, which is {limits.min} to {limits.max}; "
            "give `dtype=` for a wider one."
        )
