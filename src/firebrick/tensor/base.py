"""What every family of tensor methods stands on: one slot, and the facts about the value in it.

A family is a mixin class in a file of its own; `Tensor` inherits all of them. Methods return
`Self`, so that no family needs to import `Tensor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.core import DispatchTensor, Shape
from firebrick.errors import KindError

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import Device, DType, Kind


class TensorBase:
    """Holds a dispatched tensor and never changes it."""

    __slots__ = ("__weakref__", "_value")
    _value: DispatchTensor

    def into_dispatch(self) -> DispatchTensor:
        """The dispatched tensor inside, for operations of an extension."""
        return self._value

    @classmethod
    def from_dispatch(cls, tensor: DispatchTensor) -> Self:
        """A tensor around what an operation returned; `KindError` for anything else."""
        if not isinstance(tensor, DispatchTensor):  # pyright: ignore[reportUnnecessaryIsInstance] # untyped callers
            raise KindError(
                "`from_dispatch` takes the dispatched tensor that an operation returned; got "
                f"{type(tensor).__name__}: use `Tensor(data)` for values, or "
                "`firebrick.extension.from_dispatch` for tensors inside other values."
            )
        made = object.__new__(cls)
        made._value = tensor
        return made

    def _wrap(self, value: DispatchTensor) -> Self:
        made = object.__new__(type(self))
        made._value = value
        return made

    @property
    def shape(self) -> Shape:
        """Sizes, outermost first."""
        return Shape(self._value.primitive.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._value.primitive.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._value.shape.num_elements()

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._value.dtype

    @property
    def kind(self) -> Kind:
        """`float`, `int`, `bool` or `quantized`."""
        return self._value.kind

    @property
    def device(self) -> Device:
        """An autodiff device for every tensor made on one, ints and bools included."""
        return self._value.device

    @staticmethod
    def _operand(shown: str, other: TensorBase) -> DispatchTensor:
        """The dispatched tensor of an argument; `KindError` for what is no tensor."""
        if isinstance(other, TensorBase):  # pyright: ignore[reportUnnecessaryIsInstance] # untyped callers
            return other._value
        raise KindError(
            f"`{shown}` takes tensors; got {type(other).__name__}: `Tensor(data, device)` makes "
            "one of it."
        )
