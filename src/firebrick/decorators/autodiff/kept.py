"""What a step keeps of a tensor: its value, where to recompute it, or only its spec."""

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
    """Shape and native dtype of a tensor whose value nobody asked for."""

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


def unsaved(tensor: AutodiffTensor) -> Unsaved:
    """Only the spec."""
    primitive = tensor.primitive
    return Unsaved(primitive.shape, primitive.dtype)
