"""Tensors that share memory with other libraries, through the DLPack protocol.

A backend whose tensors are not NumPy arrays takes producers by a method `from_dlpack(array)`;
primitives export themselves by their own `__dlpack__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.core import DispatchTensor, from_numpy_dtype
from firebrick.decorators.autodiff import lift, lower
from firebrick.dispatch import backend_for, transfer
from firebrick.tensor.host import FROM_DATA, exported_array

if TYPE_CHECKING:
    from firebrick.core import Device


def shared(array: Any, device: Device) -> DispatchTensor:
    """A tensor on the memory of `array`, copied only if that is elsewhere than `device`.

    Raises: `DTypeError` for values without a dtype here, `DeviceError` for memory that this
    device cannot read.
    """
    backend = backend_for(device.inner())
    take = getattr(backend, "from_dlpack", None)
    if take is None:
        plain = _on_host(array, device.inner(), backend)
    else:
        primitive = take(array)
        plain = DispatchTensor(primitive, backend.kind_of(primitive), backend)
        if plain.device != device:
            plain = transfer(plain, device.inner())
    return plain if device.checkpointing is None else lift(plain, device.checkpointing)


def _on_host(array: Any, device: Device, backend: Any) -> DispatchTensor:
    view = exported_array(array).view()
    # Operations never write their inputs; the producer keeps its own right to write.
    view.flags.writeable = False
    kind = from_numpy_dtype(view.dtype).kind
    if backend.native is np.ndarray and view.dtype.isnative:
        return DispatchTensor(view, kind, backend)
    return FROM_DATA[kind](view, device)


def exported(value: DispatchTensor) -> Any:
    """The object whose `__dlpack__` exports the memory of `value`; None if there is no such."""
    primitive = lower(value).primitive
    return primitive if hasattr(primitive, "__dlpack__") else None
