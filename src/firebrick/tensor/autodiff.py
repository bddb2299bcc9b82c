"""Devices, and what a tensor has to do with differentiation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.core import CheckpointStrategy, Device, NoCheckpointing
from firebrick.decorators.autodiff import (
    Gradients,
    backward,
    detach,
    is_leaf,
    is_tracked,
    lift,
    lower,
    mark_leaf,
)
from firebrick.dispatch import transfer
from firebrick.errors import AutodiffError, KindError, NotTrackedError
from firebrick.tensor.base import TensorBase

if TYPE_CHECKING:
    from typing import Self


class Differentiable(TensorBase):
    """Methods about the autodiff context of a tensor, its gradients, and where it lives."""

    __slots__ = ()

    def to(self, device: Device) -> Self:
        """The same values there. Keeps its own autodiff context; gradients flow back."""
        moved = transfer(self._value, device)
        return self if moved is self._value else self._wrap(moved)

    def autodiff(self) -> Self:
        """The same values on the autodiff device, untracked; itself if already there."""
        if self.is_autodiff:
            return self
        return self._wrap(lift(self._value, NoCheckpointing))

    def inner(self) -> Self:
        """The same values off the autodiff device; itself if already there."""
        return self._wrap(lower(self._value)) if self.is_autodiff else self

    def detach(self) -> Self:
        """The same values without history; a marked leaf gives a marked leaf."""
        return self._wrap(detach(self._value)) if self.is_autodiff else self

    def require_grad(self) -> Self:
        """A marked leaf, to which `backward` gives a gradient.

        Raises: `AutodiffError` off autodiff, `KindError` for ints and bools, `NonLeafError` on
        a derived tensor.
        """
        if not self.is_autodiff:
            raise AutodiffError(
                f"`require_grad` needs a tensor on an autodiff device; this one is on "
                f"{self.device}: call `.autodiff()` on the tensor or on its device first."
            )
        if self.kind != "float":
            raise KindError(
                f"`require_grad` needs a float tensor; got {self.dtype}: call `.float()` first."
            )
        return self._wrap(mark_leaf(self._value))

    @property
    def is_autodiff(self) -> bool:
        """Whether the tensor lives on an autodiff device."""
        return self._value.backend.is_autodiff

    @property
    def is_tracked(self) -> bool:
        """Whether a gradient flows through the tensor."""
        return self.is_autodiff and is_tracked(self._value)

    @property
    def is_require_grad(self) -> bool:
        """Whether the tensor is a marked leaf."""
        return self.is_autodiff and is_leaf(self._value)

    @property
    def checkpointing(self) -> type[CheckpointStrategy] | None:
        """The strategy of its autodiff device; None off autodiff."""
        return self._value.device.checkpointing

    def backward(self, *, create_graph: bool = False, retain_graph: bool = False) -> Gradients:
        """Gradients of the sum of this tensor for every marked leaf.

        Consumes the graph unless one of the options is set; with `create_graph` the gradients
        are themselves tracked. Raises: `NotTrackedError`, `GraphConsumedError`.
        """
        if not self.is_tracked:
            raise NotTrackedError(
                "`backward` needs a tensor that was computed from a marked leaf; this one was "
                "not: call `.require_grad()` on the tensors that need gradients, on an autodiff "
                "device."
            )
        return backward(self._value, create_graph=create_graph, retain_graph=retain_graph)

    def grad(self, gradients: Gradients) -> Self | Any:
        """The gradient of this leaf, a plain tensor; None if there is none."""
        found = gradients.get(self._value) if self.is_autodiff else None
        return None if found is None else self._wrap(found)

    def grad_remove(self, gradients: Gradients) -> Self | Any:
        """As `grad`, and takes it out."""
        found = gradients.remove(self._value) if self.is_autodiff else None
        return None if found is None else self._wrap(found)

    def grad_replace(self, gradients: Gradients, value: Self) -> None:
        """Puts `value` in place of the gradient of this leaf."""
        if not self.is_autodiff:
            raise AutodiffError(
                "`grad_replace` needs a leaf on an autodiff device, whose gradient it replaces; "
                f"this tensor is on {self.device}."
            )
        gradients.replace(self._value, value._value)
