"""Gradients by node: the table that a backward pass fills, and what it returns for the leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

from firebrick.core import DispatchTensor, Shape
from firebrick.decorators.autodiff.node import AutodiffTensor, LeafNode, Node, NodeId
from firebrick.errors import AutodiffError, DeviceError, GradientError, KindError


class Registered(NamedTuple):
    """A gradient and the backend whose tensor it is."""

    value: Any
    backend: Any


class Gradients:
    """Gradients by leaf: what `Tensor.backward` returns and what a backward pass fills."""

    __slots__ = ("_nodes", "_table", "_tracked")

    def __init__(self, *, tracked: bool) -> None:
        self._table: dict[int, Registered] = {}
        self._nodes: dict[int, Node] = {}
        self._tracked = tracked

    def consume(self, node: Node) -> Any:
        """Takes the gradient of an output, of the decorated backend's type.

        `AutodiffError` if none was registered or the node is not tracked.
        """
        found = self._table.pop(node.serial, None)
        if found is None:
            why = "none was registered" if node.is_tracked else "the node is not tracked"
            raise AutodiffError(
                f"there is no gradient to consume for {node!r}: {why}. A backward pass consumes "
                "the gradient of `ops.node` once."
            )
        return found.value

    def register(self, node: Node | NodeId, value: Any) -> None:
        """Adds `value` to what is registered for `node` already.

        `GradientError` for a gradient of another shape or dtype than the node's value.
        """
        known = self._nodes.get(node.serial) if isinstance(node, NodeId) else node
        if known is None:
            raise AutodiffError(f"{node!r} is no parent of the call whose backward pass runs.")
        if not known.is_tracked:
            return
        if self._tracked and not isinstance(value, AutodiffTensor):
            raise GradientError(
                f"a recorded backward pass registered a {type(value).__name__} that is not on the "
                "autodiff backend; compute gradients with the `backend` that is passed in."
            )
        found = value.primitive if isinstance(value, AutodiffTensor) else value
        if tuple(found.shape) != tuple(known.shape) or found.dtype != known.dtype:
            position = f"the value of {known!r} and dtype {known.dtype}"
            raise GradientError(
                f"a gradient of shape {list(found.shape)} and dtype {found.dtype} was registered "
                f"for {position}; shapes and dtypes must be equal (sum broadcast dimensions with "
                "`broadcast_shape`)."
            )
        self.add(known, value)

    def add(self, node: Node, value: Any) -> None:
        """As `register`, for a gradient that is checked already."""
        backend = node.backend if self._tracked else node.backend.inner
        known = self._table.get(node.serial)
        if known is not None:
            value = backend.float_add(known.value, value)
        self._table[node.serial] = Registered(value, backend)

    def know(self, node: Node) -> None:
        """Makes a node known by its id."""
        self._nodes[node.serial] = node

    def pop(self, node: Node) -> Any:
        """The gradient of a node, taken out; None if there is none."""
        found = self._table.pop(node.serial, None)
        return None if found is None else found.value

    def has(self, node: Node) -> bool:
        """Whether a gradient is registered."""
        return node.serial in self._table

    def keep_leaves(self) -> None:
        """Leaves only gradients of marked leaves, and forgets the graph."""
        for serial, node in self._nodes.items():
            if not node.is_leaf:
                self._table.pop(serial, None)
        self._nodes.clear()

    def get(self, tensor: DispatchTensor) -> DispatchTensor | None:
        """The gradient of a leaf, None if there is none."""
        leaf = _leaf_of(tensor)
        found = None if leaf is None else self._table.get(leaf.serial)
        return None if found is None else DispatchTensor(found.value, "float", found.backend)

    def remove(self, tensor: DispatchTensor) -> DispatchTensor | None:
        """As `get`, and takes it out."""
        found = self.get(tensor)
        leaf = _leaf_of(tensor)
        if leaf is not None:
            self._table.pop(leaf.serial, None)
        return found

    def replace(self, tensor: DispatchTensor, value: DispatchTensor) -> None:
        """Sets the gradient of a leaf.

        `GradientError` unless `value` has the leaf's shape and dtype, `DeviceError` unless it is
        a tensor of the leaf's backend, `KindError` unless it is a float.
        """
        leaf = _leaf_of(tensor)
        if leaf is None:
            raise AutodiffError(
                "`grad_replace` takes a marked leaf; call `require_grad()` on the tensor first."
            )
        if value.kind != "float":
            raise KindError(f"a gradient is a float tensor; got a tensor of kind {value.kind}.")
        if value.backend not in (leaf.backend, leaf.backend.inner):
            raise DeviceError(
                f"the gradient lives on {value.device}, its leaf on {tensor.device}; move it with "
                "`.to(...)`."
            )
        if value.shape != Shape(leaf.shape) or value.dtype is not tensor.dtype:
            raise GradientError(
                f"a gradient has its leaf's shape {list(leaf.shape)} and dtype {tensor.dtype}; got "
                f"{list(value.shape)} and {value.dtype}."
            )
        self._table[leaf.serial] = Registered(value.primitive, value.backend)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"Gradients(of {len(self)} leaves)"


def _leaf_of(tensor: DispatchTensor) -> Node | None:
    link = getattr(tensor.primitive, "link", None)
    return link if isinstance(link, LeafNode) else None
