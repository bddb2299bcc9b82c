"""Values back on the host: arrays, lists, Python numbers, and protocols that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.core import bfloat16, float32, to_numpy_dtype
from firebrick.errors import KindError
from firebrick.tensor.checks import one_element
from firebrick.tensor.exchange import exported
from firebrick.tensor.operations import every
from firebrick.tensor.promotion import cast
from firebrick.tensor.select import Select

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from firebrick.core import DispatchTensor
    from firebrick.tensor.host import Array

INTO_DATA = every("into_data")


def values_of(value: DispatchTensor) -> Array:
    """The values on the host, not to be written. `bfloat16` is shown as `float32`."""
    if value.dtype is bfloat16:
        value = cast(value, float32)
    view = np.asarray(INTO_DATA[value.kind](value)).view()
    view.flags.writeable = False
    return view


class Reading(Select):
    """Methods that wait for the values and give them out."""

    __slots__ = ()

    def numpy(self) -> Array:
        """The values on the host. Waits; raises what went wrong in producing them.

        The array cannot be written, since it may be the tensor's own memory; `.copy()` can.
        """
        to_numpy_dtype(self.dtype)
        return values_of(self._value)

    def tolist(self) -> Any:
        """Nested lists of Python numbers; one number for a 0-d tensor."""
        return values_of(self._value).tolist()

    def item(self) -> Any:
        """The only element; `ShapeError` if there is not exactly one."""
        one_element("item", self.shape)
        return values_of(self._value).item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        values = self.numpy()
        wanted = values.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != values.dtype:
            raise ValueError(f"{values.dtype} values become {wanted} only in a copy.")
        return values.astype(wanted) if copy or wanted != values.dtype else values

    def __dlpack__(self, **options: Any) -> Any:
        producer = exported(self._value)
        return (self.numpy() if producer is None else producer).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        producer = exported(self._value)
        return (self.numpy() if producer is None else producer).__dlpack_device__()

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("a 0-d tensor has no length; `.size` is its number of elements.")
        return shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.shape:
            raise TypeError("a 0-d tensor has nothing to iterate over; `.item()` is its element.")
        return (self[position] for position in range(self.shape[0]))

    def __bool__(self) -> bool:
        one_element("bool()", self.shape)
        return bool(values_of(self._value).item())

    def __int__(self) -> int:
        one_element("int()", self.shape)
        return int(values_of(self._value).item())

    def __float__(self) -> float:
        one_element("float()", self.shape)
        return float(values_of(self._value).item())

    def __index__(self) -> int:
        one_element("an index", self.shape)
        if self.kind != "int":
            raise KindError(f"an index is an int; got a {self.dtype} tensor: call `.int()`.")
        return int(values_of(self._value).item())
