"""What is known of a tensor before it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.core.dtype import DType


class TensorSpec:
    """Shape and dtype; immutable and compared by value."""

    __slots__ = ("dtype", "shape")
    __match_args__ = ("shape", "dtype")
    shape: Shape
    dtype: DType

    def __init__(self, shape: Sequence[int], dtype: DType) -> None:
        object.__setattr__(self, "shape", shape if type(shape) is Shape else Shape(shape))
        object.__setattr__(self, "dtype", dtype)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TensorSpec is immutable; `{name}` cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a TensorSpec is immutable; `{name}` cannot be deleted.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return self.shape == other.shape and self.dtype is other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec({list(self.shape)}, {self.dtype})"

    def __reduce__(self) -> tuple[object, ...]:
        return TensorSpec, (tuple(self.shape), self.dtype)
