"""Cases on a device: in which dtype, and in which memory layout.

Layouts are made as a user makes them: by transposing, slicing and expanding a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from firebrick.core import Device, DType, bfloat16, float64, to_numpy_dtype
from firebrick.tensor import Tensor

if TYPE_CHECKING:
    from firebrick.testing.case import Case, HostTensor
    from firebrick.testing.comparison import Array

Layout: TypeAlias = Literal["contiguous", "transposed", "strided", "broadcast"]
Precision: TypeAlias = Literal["native", "float64"]
"""Floats in the dtype of the device, or the user's; or all of them in float64."""

OTHER_LAYOUTS: tuple[Layout, ...] = ("transposed", "strided", "broadcast")


def place(
    case: Case,
    device: Device,
    *,
    precision: Precision = "native",
    layout: Layout = "contiguous",
) -> dict[str, Any]:
    """The arguments of a case with user tensors on `device`, fresh ones at each call."""

    def tensor(_: str, leaf: HostTensor) -> Tensor:
        return laid_out(leaf.array, device, dtype_for(leaf, device, precision), layout)

    return case.filled(tensor, device)


def dtype_for(tensor: HostTensor, device: Device, precision: Precision) -> DType:
    """The dtype of a tensor of a case there."""
    if tensor.kind == "float" and precision == "float64":
        return float64
    if tensor.dtype is not None and device.supports_dtype(tensor.dtype):
        return tensor.dtype
    if tensor.kind == "float":
        return device.float_dtype
    return device.int_dtype if tensor.kind == "int" else device.bool_dtype


def laid_out(array: Array, device: Device, dtype: DType, layout: Layout) -> Tensor:
    """A tensor with these values in that layout; contiguous where the layout does not apply."""
    if not applies(layout, array):
        return _uploaded(array, device, dtype)
    if layout == "transposed":
        return _uploaded(array.T, device, dtype).permute(*reversed(range(array.ndim)))
    if layout == "strided":
        # What lies between are values of the same tensor, so that they are as valid.
        between = np.roll(array, 1)
        wide = np.stack([array, between], axis=-1).reshape(*array.shape[:-1], -1)
        return _uploaded(wide, device, dtype)[..., ::2]
    return _uploaded(array[:1], device, dtype).expand(*array.shape)


def applies(layout: Layout, array: Array) -> bool:
    """Whether an array of this shape can differ from a contiguous one in that layout."""
    if layout == "transposed":
        return array.ndim >= 2
    if layout == "strided":
        return array.ndim >= 1 and array.size > 0
    return layout == "broadcast" and array.ndim >= 1 and array.shape[0] > 1


def in_layout(case: Case, layout: Layout) -> Case | None:
    """The case whose values a layout can hold; None if the layout does not apply to it.

    A broadcast tensor has equal rows, so that it is another case; a given case has its own
    values and no other.
    """
    if not any(applies(layout, tensor.array) for _, tensor in case.tensors()):
        return None
    if layout != "broadcast":
        return case
    return None if case.is_given else case.changed(_with_equal_rows)


def _with_equal_rows(tensor: HostTensor) -> HostTensor:
    array = tensor.array
    if not applies("broadcast", array):
        return tensor
    return tensor.with_values(np.broadcast_to(array[:1], array.shape))


def _uploaded(array: Array, device: Device, dtype: DType) -> Tensor:
    stored = np.float32 if dtype is bfloat16 else to_numpy_dtype(dtype)
    return Tensor(np.array(array, stored, order="C"), device, dtype=dtype)
