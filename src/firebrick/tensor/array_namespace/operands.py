"""Arguments of the namespace's functions: tensors, numbers beside them, and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.errors import KindError
from firebrick.tensor.tensor import Tensor

if TYPE_CHECKING:
    from firebrick.core import Device, Scalar


def both(shown: str, x1: Tensor | Scalar, x2: Tensor | Scalar) -> tuple[Tensor, Tensor]:
    """Two operands as tensors; a number becomes a 0-d one of the other's dtype and device."""
    if isinstance(x1, Tensor):
        return x1, x2 if isinstance(x2, Tensor) else like(x1, x2)
    if isinstance(x2, Tensor):
        return like(x2, x1), x2
    raise KindError(f"`{shown}` takes at least one tensor; got {x1!r} and {x2!r}.")


def like(x: Tensor, number: Scalar) -> Tensor:
    """A 0-d tensor beside `x`."""
    return Tensor.full((), number, x.device, dtype=x.dtype)


def of_bools(shown: str, *operands: Tensor | Scalar) -> None:
    """`KindError` unless the tensors among the operands are bools."""
    for x in operands:
        if isinstance(x, Tensor) and x.kind != "bool":
            raise KindError(f"`{shown}` takes bool tensors; got {x.dtype}: call `.bool()` first.")


def device_of(x: Tensor, device: Device | None) -> Device:
    """The device asked for, else that of `x`."""
    return x.device if device is None else device
