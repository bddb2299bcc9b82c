"""Copies and pickles of tensors. What is written to a file are values, a dtype and a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.tensor.autodiff import Differentiable
from firebrick.tensor.construct import Construct
from firebrick.tensor.reading import values_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from firebrick.core import Device, DType
    from firebrick.tensor.host import Array


class Persistent(Construct, Differentiable):
    """`copy`, `deepcopy` and `pickle`. The history of a tracked tensor is in neither."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Values are never changed, so they are shared; a marked leaf gives a leaf of its own."""
        return self.detach()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        values = values_of(self._value).copy()
        return restored, (type(self), values, self.dtype, self.device, self.is_require_grad)


def restored(
    cls: type[Persistent], values: Array, dtype: DType, device: Device, is_leaf: bool
) -> Persistent:
    """The tensor that was pickled; `BackendUnavailableError` if its device is not here."""
    made = cls(values, device, dtype=dtype)
    return made.require_grad() if is_leaf else made
