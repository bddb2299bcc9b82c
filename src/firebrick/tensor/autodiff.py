"""Devices, and what a tensor has to do with differentiation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.decorators.autodiff import (
    Gradients,
    detach,
    is_leaf,
    is_tracked,
    lift,
    lower,
    mark_leaf,
    run_backward,
)
from firebrick.dispatch import transfer
from firebrick.tensor.base import TensorBase

if TYPE_CHECKING:
    from typing import Self

    from firebrick.core import CheckpointStrategy, Device


class Differentiable(TensorBase):
    """Methods about the autodiff context of a tensor, its gradients, and where it lives."""

    __slots__ = ()

    def to(self, device: Device) -> Self:
        """The same values there. Keeps its own autodiff context; gradients flow back."""
        moved = transfer(self._value, device)
        return self if moved is self._value else self._wrap(moved)

    def autodiff(self) -> Self:
        """The same values on the autodiff device, untracked; itself if already there."""
        return self if self.is_autodiff else self._wrap(lift(self._value))

    def inner(self) -> Self:
        """The same values off the autodiff device; itself if already there."""
        return self._wrap(lower(self._value)) if self.is_autodiff else self

    def detach(self) -> Self:
        """The same values without history; a marked leaf gives a marked leaf."""
        return self._wrap(detach(self._value))

    def require_grad(self) -> Self:
        """A marked leaf, to which `backward` gives a gradient.

        Raises: `AutodiffError` off autodiff and for ints and bools, `NonLeafError` on a derived
        tensor.
        """
        return self._wrap(mark_leaf(self._value))

    @property
    def is_autodiff(self) -> bool:
        """Whether the tensor lives on an autodiff device."""
        return self._value.backend.is_autodiff

    @property
    def is_tracked(self) -> bool:
        """Whether a gradient flows through the tensor."""
        return is_tracked(self._value)

    @property
    def is_require_grad(self) -> bool:
        """Whether the tensor is a marked leaf."""
        return is_leaf(self._value)

    @property
    def checkpointing(self) -> type[CheckpointStrategy] | None:
        """The strategy of its autodiff device; None off autodiff."""
        return self._value.device.checkpointing

    def backward(self, *, create_graph: bool = False, retain_graph: bool = False) -> Gradients:
        """Gradients of the sum of this tensor for every marked leaf.

        Consumes the graph unless one of the options is set; with `create_graph` the gradients
        are themselves tracked. Raises: `NotTrackedError`, `GraphConsumedError`.
        """
        return run_backward(self._value, create_graph=create_graph, retain_graph=retain_graph)

    def grad(self, gradients: Gradients) -> Self | Any:
        """The gradient of this leaf, a plain tensor; None if there is none."""
        found = gradients.get(self._value)
        return None if found is None else self._wrap(found)

    def grad_remove(self, gradients: Gradients) -> Self | Any:
        """As `grad`, and takes it out."""
        found = gradients.remove(self._value)
        return None if found is None else self._wrap(found)

    def grad_replace(self, gradients: Gradients, value: Self) -> None:
        """Puts `value` in place of the gradient of this leaf."""
        gradients.replace(self._value, self._operand("grad_replace", value))
