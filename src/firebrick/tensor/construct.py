"""Making tensors: from values on the host, from other libraries, from a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.core import Device, from_numpy_dtype
from firebrick.errors import ShapeError
from firebrick.tensor.base import TensorBase
from firebrick.tensor.checks import shape_of
from firebrick.tensor.convert import converted, supported
from firebrick.tensor.exchange import shared
from firebrick.tensor.host import Array, default_dtype, kind_of, placed, uploaded
from firebrick.tensor.operations import FLOAT, INT, filled
from firebrick.tensor.promotion import in_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from firebrick.core import Distribution, DType, Kind, Scalar


class Construct(TensorBase):
    """Constructors. Without `device` they use `Device.default()`."""

    __slots__ = ()

    def __init__(
        self, data: Any, device: Device | None = None, *, dtype: DType | None = None
    ) -> None:
        """From numbers, nested sequences, a NumPy array or anything with DLPack. Copies.

        Python floats, ints and bools take the device's default dtypes; arrays keep theirs.

        Raises: `ShapeError` for sequences of unequal lengths, `DTypeError` for values that
        have no dtype here, or none on this device.
        """
        self._value = uploaded(data, device or Device.default(), dtype)

    @classmethod
    def from_floats(cls, data: Any, device: Device | None = None) -> Self:
        """In the device's float dtype."""
        return cls._of_kind(data, device, "float")

    @classmethod
    def from_ints(cls, data: Any, device: Device | None = None) -> Self:
        """In the device's int dtype; floats truncate toward zero."""
        return cls._of_kind(data, device, "int")

    @classmethod
    def from_bools(cls, data: Any, device: Device | None = None) -> Self:
        """False for zero, true for everything else."""
        return cls._of_kind(data, device, "bool")

    @classmethod
    def _of_kind(cls, data: Any, device: Device | None, kind: Kind) -> Self:
        where = device or Device.default()
        return cls.from_dispatch(uploaded(data, where, default_dtype(where, kind)))

    @classmethod
    def from_numpy(cls, array: Array, device: Device | None = None) -> Self:
        """Same shape and dtype. Copies, unless the array is read-only and can be shared."""
        values: Array = np.asarray(array)
        dtype = from_numpy_dtype(values.dtype)
        return cls.from_dispatch(placed(values, device or Device.default(), dtype))

    @classmethod
    def from_dlpack(cls, array: Any, device: Device | None = None) -> Self:
        """Without a copy where producer and device share memory.

        Later writes of the producer show here, also in gradients not yet computed; copy first,
        `Tensor(array)`, if the producer writes again.
        """
        return cls.from_dispatch(shared(array, device or Device.default()))

    @classmethod
    def zeros(
        cls, shape: Sequence[int], device: Device | None = None, *, dtype: DType | None = None
    ) -> Self:
        """0 everywhere, in the device's float dtype unless another is given."""
        return cls._everywhere("zeros", shape, 0, device, dtype)

    @classmethod
    def ones(
        cls, shape: Sequence[int], device: Device | None = None, *, dtype: DType | None = None
    ) -> Self:
        """1 everywhere, in the device's float dtype unless another is given."""
        return cls._everywhere("ones", shape, 1, device, dtype)

    @classmethod
    def full(
        cls,
        shape: Sequence[int],
        value: Scalar,
        device: Device | None = None,
        *,
        dtype: DType | None = None,
    ) -> Self:
        """One number everywhere, in the device's default dtype for it unless another is given."""
        where = device or Device.default()
        own = dtype or default_dtype(where, kind_of(value))
        return cls._everywhere("full", shape, value, where, own)

    @classmethod
    def _everywhere(
        cls,
        shown: str,
        shape: Sequence[int],
        value: Scalar,
        device: Device | None,
        dtype: DType | None,
    ) -> Self:
        where = device or Device.default()
        own = dtype or where.float_dtype
        supported(where, own)
        sizes = shape_of(shown, shape)
        return cls.from_dispatch(filled(sizes, in_dtype(shown, own, value), where, own))

    @classmethod
    def arange(cls, start: int, stop: int, step: int = 1, device: Device | None = None) -> Self:
        """The ints from `start` to before `stop`, in the device's int dtype."""
        where = device or Device.default()
        if step == 0:
            raise ShapeError("`arange` takes a step that is not 0.")
        return cls.from_dispatch(INT.int_arange(range(start, stop, step), where, where.int_dtype))

    @classmethod
    def eye(cls, size: int, device: Device | None = None) -> Self:
        """The identity matrix, in the device's float dtype."""
        where = device or Device.default()
        (rows,) = shape_of("eye", (size,))
        return cls.from_dispatch(placed(np.eye(rows), where, where.float_dtype))

    @classmethod
    def random(
        cls,
        shape: Sequence[int],
        distribution: Distribution,
        device: Device | None = None,
        *,
        dtype: DType | None = None,
    ) -> Self:
        """Values drawn from a distribution; `device.seed()` makes them repeatable."""
        where = device or Device.default()
        own = dtype or where.float_dtype
        supported(where, own)
        sizes = shape_of("random", shape)
        if own.kind == "float":
            return cls.from_dispatch(FLOAT.float_random(sizes, distribution, where, own))
        drawn = INT.int_random(
            sizes, distribution, where, own if own.kind == "int" else where.int_dtype
        )
        return cls.from_dispatch(converted(drawn, own))
