"""Moving a tensor to another device, within a backend or through the host to another one.

A tensor keeps its own autodiff context: what is plain stays plain on an autodiff device, what is
tracked stays tracked, and its gradient travels the same way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor, DType, bfloat16, float32
from firebrick.decorators.autodiff import record_transfer
from firebrick.dispatch.registry import backend_for
from firebrick.errors import DispatchError, DTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firebrick.backend import Backend
    from firebrick.core import Device, Kind


def transfer(tensor: DispatchTensor, device: Device) -> DispatchTensor:
    """The same values on the hardware of `device`; the tensor itself if it is there already.

    Whether `device` is an autodiff device does not matter.

    Raises: `DTypeError` when the device does not support the dtype, `DispatchError` for a
    tensor of the capture device, which has no values.
    """
    source, target = tensor.device.inner(), device.inner()
    if source == target:
        return tensor
    if source.backend == "capture":
        raise DispatchError(
            f"`to` cannot move a tensor from the capture device to `{target}`: a capture device "
            "records operations and executes none, so there are no values to move."
        )
    owner: Any = tensor.backend
    here, there = owner.inner if owner.is_autodiff else owner, backend_for(target)
    if not there.supports_dtype(target, tensor.dtype):
        raise _unsupported(tensor, there, target)
    forth = _move(tensor.kind, here, there, target)
    if tensor.is_autodiff:
        back = _move(tensor.kind, there, here, source)
        return record_transfer(tensor, there, forth, back)
    return DispatchTensor(forth(tensor.primitive), tensor.kind, there)


def _move(
    kind: Kind, here: Backend[Any], there: Backend[Any], device: Device
) -> Callable[[Any], Any]:
    """From a tensor of one backend to one of another, or of another device of the same."""
    if here is there:
        to_device = getattr(here, f"{kind}_to_device")
        return lambda primitive: to_device(primitive, device)
    into_data = getattr(here, f"{kind}_into_data")
    from_data = getattr(there, f"{kind}_from_data")

    def through_host(primitive: Any) -> Any:
        if here.dtype_of(primitive) is not bfloat16:
            return from_data(into_data(primitive), device)
        # NumPy has no bfloat16; float32 holds all of its values.
        host = into_data(here.float_cast(primitive, float32))
        return there.float_cast(from_data(host, device), bfloat16)

    return through_host


def _unsupported(tensor: DispatchTensor, there: Backend[Any], device: Device) -> DTypeError:
    supported = [
        str(known)
        for known in DType.by_name.values()
        if known.kind == tensor.kind and there.supports_dtype(device, known)
    ]
    return DTypeError(
        f"`to` cannot move a {tensor.dtype} tensor to `{device}`, which does not support that "
        f"dtype; cast it to one of {', '.join(supported)} first."
    )
