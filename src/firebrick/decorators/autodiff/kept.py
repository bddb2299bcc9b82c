"""What a step keeps of a tensor: its value, where to recompute it, or only its spec.

All three tell shape and native dtype. A tracked tensor whose value nobody asked for is represented
by its node, which the step holds anyway.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from firebrick.decorators.autodiff.node import AutodiffTensor, Node


class Source:
    """A value that is computed again when asked for, by the step of `node`."""

    __slots__ = ("dtype", "node", "shape")

    def __init__(self, node: Node, shape: tuple[int, ...], dtype: Any) -> None:
        self.node = node
        self.shape = shape
        self.dtype = dtype


class Unsaved(NamedTuple):
    """Shape and native dtype of an untracked tensor whose value nobody asked for."""

    shape: tuple[int, ...]
    dtype: Any


def keep(tensor: AutodiffTensor) -> Any:
    """The value of `tensor`, or the source to recompute it from under its strategy."""
    link = tensor.link
    if link is not None:
        step = link.step
        if step is not None and step.recomputes:
            primitive = tensor.primitive
            return Source(link, primitive.shape, primitive.dtype)
    return tensor.primitive


def unsaved(tensor: AutodiffTensor) -> Node | Unsaved:
    """Only the spec."""
    primitive = tensor.primitive
    return tensor.link or Unsaved(primitive.shape, primitive.dtype)


def is_saved(kept: Any) -> bool:
    """Whether a value can be had from what was kept."""
    return not isinstance(kept, Node | Unsaved)
