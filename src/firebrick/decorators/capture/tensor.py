"""The tensor of the capture device: a name for values that nobody computes."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from firebrick.core import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firebrick.core import DType

_ids = count(1)


class CaptureTensor(TensorSpec):
    """What is known of a tensor before it is computed, and an id that no other tensor has.

    A spec itself, so that an operation describes its outputs from captured inputs as they are.
    Two of them are equal if they have one id: a copy stands for the same values.
    """

    __slots__ = ("id",)
    id: int

    def __init__(self, shape: Sequence[int], dtype: DType) -> None:
        super().__init__(shape, dtype)
        object.__setattr__(self, "id", next(_ids))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CaptureTensor) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"%{self.id}: {self.dtype}{list(self.shape)}"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return _restored, (self.id, tuple(self.shape), self.dtype)


def _restored(id: int, shape: tuple[int, ...], dtype: DType) -> CaptureTensor:
    tensor = CaptureTensor(shape, dtype)
    object.__setattr__(tensor, "id", id)
    return tensor
