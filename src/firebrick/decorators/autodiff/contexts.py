"""Autodiff contexts of dispatched tensors: putting them on, taking them off, marking leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor, NoCheckpointing
from firebrick.decorators.autodiff.backend import Autodiff, autodiff_of
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, Step
from firebrick.errors import AutodiffError, NonLeafError

if TYPE_CHECKING:
    from firebrick.core import CheckpointStrategy
    from firebrick.decorators.autodiff.backward_pass import BackwardPass


def lift(
    tensor: DispatchTensor, checkpointing: type[CheckpointStrategy] = NoCheckpointing
) -> DispatchTensor:
    """The same values on the autodiff device, untracked; itself if already there."""
    if tensor.is_autodiff:
        return tensor
    backend: Any = tensor.backend
    return autodiff_of(backend, checkpointing).lift(tensor)


def lower(tensor: DispatchTensor) -> DispatchTensor:
    """The same values off the autodiff device; itself if already there."""
    if not isinstance(tensor.backend, Autodiff):
        return tensor
    return DispatchTensor(tensor.primitive.primitive, tensor.kind, tensor.backend.inner)


def is_tracked(tensor: DispatchTensor) -> bool:
    """Whether a backward pass can reach a marked leaf from here."""
    return isinstance(tensor.primitive, AutodiffTensor) and tensor.primitive.is_tracked


def is_leaf(tensor: DispatchTensor) -> bool:
    """Whether the tensor is a marked leaf."""
    link = tensor.primitive.link if isinstance(tensor.primitive, AutodiffTensor) else None
    return link is not None and link.is_leaf


def mark_leaf(tensor: DispatchTensor) -> DispatchTensor:
    """A marked leaf with the same values; itself if it is one.

    Raises: `AutodiffError` off the autodiff device or for another kind than float,
    `NonLeafError` for a derived tensor.
    """
    if not isinstance(tensor.backend, Autodiff):
        raise AutodiffError(
            f"`require_grad` needs a tensor on an autodiff device, and this one is on "
            f"{tensor.device}; make it on `device.autodiff()` or call `.autodiff()` first."
        )
    if tensor.kind != "float":
        raise AutodiffError(
            f"`require_grad` needs a float tensor, and this one is of kind {tensor.kind}."
        )
    if is_tracked(tensor) and not is_leaf(tensor):
        raise NonLeafError(
            "`require_grad` marks a leaf, and this tensor is derived from a tracked one; use "
            "`.detach()` first to start a new graph here."
        )
    marked = tensor.backend.float_set_require_grad(tensor.primitive, True)
    return DispatchTensor(marked, "float", tensor.backend)


def detach(tensor: DispatchTensor) -> DispatchTensor:
    """The same values without history; a marked leaf gives a marked leaf."""
    if not is_tracked(tensor):
        return tensor
    backend: Any = tensor.backend
    return DispatchTensor(backend.float_detach(tensor.primitive), "float", backend)


Move = Callable[[Any], Any]


class TransferStep(Step):
    """A move between backends: the gradient moves back."""

    __slots__ = ("_back", "_forth")

    def __init__(self, owner: Autodiff, parent: Node, moved: Any, forth: Move, back: Move) -> None:
        super().__init__(owner, (parent,), moved.shape, moved.dtype)
        self._forth = forth
        self._back = back

    @property
    def label(self) -> str:
        """How errors name the move."""
        return "to"

    def run(self, backward: BackwardPass) -> None:
        """Moves the gradient of the output to where the input lives."""
        grad = backward.gradients.pop(self)
        for parent in self.parents:
            if parent is not None:
                backward.gradients.add(parent, self._moved_back(grad, parent, backward))

    def _moved_back(self, grad: Any, parent: Node, backward: BackwardPass) -> Any:
        if backward.create_graph:
            return _moved(grad, parent.backend, self._back, self._forth)
        return self._back(grad)


def _moved(tensor: AutodiffTensor, owner: Autodiff, forth: Move, back: Move) -> AutodiffTensor:
    value = forth(tensor.primitive)
    link = tensor.link
    step = None if link is None else TransferStep(owner, link, value, forth, back)
    return AutodiffTensor(value, step, tensor.kind, owner)


def record_transfer(tensor: DispatchTensor, target: Any, forth: Move, back: Move) -> DispatchTensor:
    """Moves a tensor with an autodiff context to another backend, recording the move.

    Args:
        tensor: On an autodiff device.
        target: The execution backend (not a decorator) that receives the values.
        forth: Moves a primitive of the source's decorated backend to one of `target`.
        back: The opposite move.

    Returns:
        The tensor on `target` under the source's strategy; tracked if `tensor` is.
    """
    source: Any = tensor.backend
    owner = autodiff_of(target, source.checkpointing)
    return DispatchTensor(_moved(tensor.primitive, owner, forth, back), tensor.kind, owner)
