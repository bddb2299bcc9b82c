"""Gradients by node: the table that a backward pass fills, and what it returns for the leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor, Shape
from firebrick.decorators.autodiff.node import (
    AutodiffTensor,
    LeafNode,
    Node,
    NodeId,
    UntrackedNode,
)
from firebrick.errors import AutodiffError, DeviceError, GradientError, KindError
from firebrick.opset import kind_or_none

if TYPE_CHECKING:
    from firebrick.decorators.autodiff.long_step import LongStep


class Gradients:
    """Gradients by leaf: what `Tensor.backward` returns and what a backward pass fills."""

    __slots__ = ("_step", "_table", "_tracked")

    def __init__(self, *, tracked: bool) -> None:
        self._table: dict[int, Any] = {}
        self._tracked = tracked
        self._step: LongStep | None = None

    def consume(self, node: Node) -> Any:
        """Takes the gradient of an output, of the decorated backend's type.

        `AutodiffError` if none was registered or the node is not tracked.
        """
        step = self._running("consume")
        if getattr(node, "serial", None) != step.serial:
            why = "is not tracked" if isinstance(node, UntrackedNode) else "is not `ops.node`"
            raise AutodiffError(
                f"`{step.label}` consumes the gradient of {node!r}, which {why}; `consume` takes "
                "`ops.node`, the output of the call."
            )
        found = self._table.pop(node.serial, None)
        if found is None:
            raise AutodiffError(
                f"`{step.label}` consumes the gradient of `ops.node` twice; it is taken out the "
                "first time, so keep it in a variable."
            )
        return self._executor(node).read_only(found)

    def register(self, node: Node | NodeId, value: Any) -> None:
        """Adds `value` to what is registered for `node` already; nothing for an untracked node.

        `GradientError` for a gradient of another shape or dtype than the node's value.
        """
        step = self._running("register")
        position = step.position(node)
        parent = step.parents[position]
        if parent is None:
            return
        where = f"`{step.label}` registered for input {position}, {parent!r},"
        gradient = own_float(self._executor(parent), value)
        if gradient is None:
            raise GradientError(
                f"{where} {described(value)}; gradients are float tensors of the `backend` that "
                "is passed in."
            )
        found = gradient.primitive if self._tracked else gradient
        if tuple(found.shape) != tuple(parent.shape) or found.dtype != parent.dtype:
            raise GradientError(
                f"{where} a gradient of shape {list(found.shape)} and dtype {found.dtype}, and the "
                f"input has {list(parent.shape)} and {parent.dtype}; they must be equal (sum "
                "broadcast dimensions with `broadcast_shape`)."
            )
        self.add(parent, gradient)

    def enter(self, step: LongStep | None) -> None:
        """From now on `consume` and `register` serve this step; None: nobody."""
        self._step = step

    def add(self, node: Node, value: Any) -> None:
        """As `register`, for a gradient that is checked already."""
        known = self._table.get(node.serial)
        if known is not None:
            value = self._executor(node).float_add(known, value)
        self._table[node.serial] = value

    def pop(self, node: Node) -> Any:
        """The gradient of a node, taken out; None if there is none."""
        return self._table.pop(node.serial, None)

    def has(self, node: Node) -> bool:
        """Whether a gradient is there."""
        return node.serial in self._table

    def get(self, tensor: DispatchTensor) -> DispatchTensor | None:
        """The gradient of a leaf, None if there is none."""
        leaf = _leaf_of(tensor)
        return None if leaf is None else _dispatched(leaf, self._table.get(leaf.serial))

    def remove(self, tensor: DispatchTensor) -> DispatchTensor | None:
        """As `get`, and takes it out."""
        leaf = _leaf_of(tensor)
        return None if leaf is None else _dispatched(leaf, self._table.pop(leaf.serial, None))

    def replace(self, tensor: DispatchTensor, value: DispatchTensor) -> None:
        """Sets the gradient of a leaf.

        `GradientError` unless `value` has the leaf's shape and dtype, `DeviceError` unless it
        lives where the leaf does and under no other strategy, `KindError` unless it is a float.
        """
        leaf = _leaf_of(tensor)
        if leaf is None:
            raise AutodiffError(
                "`grad_replace` takes a marked leaf; call `require_grad()` on the tensor first."
            )
        if value.kind != "float":
            raise KindError(
                f"`grad_replace`: a gradient is a float tensor; got a tensor of kind {value.kind}."
            )
        if value.backend not in (leaf.backend, leaf.backend.inner) or value.device != tensor.device:
            raise DeviceError(
                f"`grad_replace`: the gradient lives on {value.device!r}, its leaf on "
                f"{tensor.device!r}; move it with `.to(...)`, or take it off another strategy "
                "with `.inner()`."
            )
        if value.shape != Shape(leaf.shape) or value.dtype is not tensor.dtype:
            raise GradientError(
                f"`grad_replace`: a gradient has its leaf's shape {list(leaf.shape)} and dtype "
                f"{tensor.dtype}; got {list(value.shape)} and {value.dtype}."
            )
        self._table[leaf.serial] = value.primitive

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"Gradients(of {len(self)} {'leaf' if len(self) == 1 else 'leaves'})"

    def _executor(self, node: Node) -> Any:
        return node.backend if self._tracked else node.backend.inner

    def _running(self, asked: str) -> LongStep:
        if self._step is None:
            raise AutodiffError(
                f"`{asked}` is for the `backward` of a `Backward`, while it runs; afterwards "
                "`tensor.grad(gradients)` reads a gradient and `tensor.grad_replace` sets one."
            )
        return self._step


def own_float(executor: Any, value: Any) -> Any:
    """`value` as a float tensor of this backend, scalars of its library wrapped; None if none."""
    adopted = executor.adopt(value)
    if kind_or_none(executor, adopted) != "float":
        return None
    foreign = executor.is_autodiff and adopted.owner is not executor
    return None if foreign else adopted


def described(value: Any) -> str:
    """What to call a value that is no gradient."""
    name = type(value).__name__
    dtype = getattr(value, "dtype", None)
    return f"a {name}" if dtype is None else f"a {name} of dtype {dtype}"


def _leaf_of(tensor: DispatchTensor) -> LeafNode | None:
    link = getattr(tensor.primitive, "link", None)
    return link if isinstance(link, LeafNode) else None


def _dispatched(leaf: LeafNode, value: Any) -> DispatchTensor | None:
    if value is None:
        return None
    backend = leaf.backend if isinstance(value, AutodiffTensor) else leaf.backend.inner
    return DispatchTensor(value, "float", backend)
