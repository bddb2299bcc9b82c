"""A backend's tensor, tagged with what routing needs to know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from firebrick.core.shape import Shape

if TYPE_CHECKING:
    from firebrick.core.device import Device
    from firebrick.core.dtype import DType, Kind


class Owner(Protocol):
    """What a tensor asks of the backend that owns it."""

    @property
    def is_autodiff(self) -> bool:
        """Whether it is an autodiff decorator."""
        ...

    def device_of(self, tensor: Any, /) -> Device:
        """Where a tensor of its own lives."""
        ...

    def dtype_of(self, tensor: Any, /) -> DType:
        """The element type of a tensor of its own."""
        ...


class DispatchTensor:
    """A backend's tensor, tagged with kind, backend and autodiff context. Opaque to authors.

    The autodiff context is part of `backend`: a tensor made on an autodiff device belongs to
    that decorator, whatever its kind.
    """

    __slots__ = ("__weakref__", "backend", "kind", "primitive")

    def __init__(self, primitive: Any, kind: Kind, backend: Any) -> None:
        self.primitive = primitive
        self.kind: Kind = kind
        self.backend: Owner = backend

    @property
    def shape(self) -> Shape:
        """Sizes, outermost first."""
        return Shape(self.primitive.shape)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.backend.dtype_of(self.primitive)

    @property
    def device(self) -> Device:
        """Where the values live; an autodiff device on the autodiff path."""
        return self.backend.device_of(self.primitive)

    @property
    def is_autodiff(self) -> bool:
        """Whether the tensor was made on an autodiff device."""
        return self.backend.is_autodiff

    def __repr__(self) -> str:
        return f"DispatchTensor({self.kind}, {list(self.shape)}, {self.dtype}, {self.device})"
