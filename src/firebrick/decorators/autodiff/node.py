"""The graph: nodes owned by tensors and by later nodes, and the tensors themselves.

Nothing else owns a node, so a graph lives exactly as long as something can reach it. There are no
cycles, and CPython takes long chains of such objects apart without recursion. Serial numbers grow
with creation; a parent's is smaller, so descending order is a topological one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from firebrick.core import Shape

if TYPE_CHECKING:
    from firebrick.core import Device, DType, Kind
    from firebrick.decorators.autodiff.backward_pass import BackwardPass

next_serial = count(1).__next__

Noted = Callable[[], Any]
"""Gives a value that was noted, None once it is gone."""


class NodeId:
    """Names one value of the graph. Hashable; unique in the process."""

    __slots__ = ("serial",)

    def __init__(self, serial: int) -> None:
        self.serial = serial

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeId) and other.serial == self.serial

    def __hash__(self) -> int:
        return hash(self.serial)

    def __repr__(self) -> str:
        return f"NodeId({self.serial})"


class Node:
    """A value of the graph: its place, its backend, and its shape and native dtype."""

    __slots__ = ("__weakref__", "_noted", "backend", "dtype", "serial", "shape")
    is_leaf = False
    is_tracked = True
    _noted: Noted

    def __init__(self, backend: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.serial = next_serial()
        self.backend = backend
        self.shape = shape
        self.dtype = dtype

    @property
    def id(self) -> NodeId:
        """The name of the value."""
        return NodeId(self.serial)

    @property
    def step(self) -> Step | None:
        """The call that made the value; None for a leaf."""
        return None

    @property
    def path(self) -> str:
        """Which output of the step the value is: `out`, or `out.0.coords`."""
        return "out"

    def note(self, value: Any) -> None:
        """Remembers which value the node was last asked for, without keeping it alive."""
        self._noted = noted(value)

    @property
    def noted(self) -> Noted:
        """The value the node was last asked for."""
        return getattr(self, "_noted", _nothing)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.serial}, shape {list(self.shape)}>"


def noted(value: Any) -> Noted:
    """A way back to `value` that does not keep it alive; to None where its type forbids that."""
    try:
        return weakref.ref(value)
    except TypeError:
        return _nothing


def _nothing() -> None:
    return None


class LeafNode(Node):
    """A tensor that `require_grad` marked."""

    __slots__ = ()
    is_leaf = True


class UntrackedNode(Node):
    """Stands for a tensor without history."""

    __slots__ = ()
    is_tracked = False


class Step(Node):
    """One recorded call. With a single output it is that output's node itself."""

    __slots__ = ("consumed", "holders", "parents")

    def __init__(
        self, backend: Any, parents: tuple[Node | None, ...], shape: tuple[int, ...], dtype: Any
    ) -> None:
        self.serial = next_serial()
        self.backend = backend
        self.shape = shape
        self.dtype = dtype
        self.parents = parents
        self.consumed = False
        self.holders = 0

    @property
    def step(self) -> Step | None:
        """Itself."""
        return self

    @property
    def recomputes(self) -> bool:
        """Whether the outputs can be computed again from what the step keeps."""
        return False

    @property
    def label(self) -> str:
        """How errors name the call."""
        raise NotImplementedError

    @property
    def outputs(self) -> tuple[Node, ...]:
        """The nodes of the float outputs."""
        return (self,)

    def run(self, backward: BackwardPass) -> None:
        """Takes the gradients of the outputs and adds one for every tracked parent."""
        raise NotImplementedError

    def recompute(self, backward: BackwardPass) -> Mapping[str, Any]:
        """The output tensors again by path, of the decorated backend's type."""
        raise NotImplementedError

    def sources(self) -> tuple[Node, ...]:
        """Nodes whose values `recompute` needs computed first."""
        return ()

    def release(self) -> None:
        """Drops what the step keeps; it cannot run any more."""
        self.parents = ()


class OutputNode(Node):
    """One of several outputs of a step; made anew whenever it is needed."""

    __slots__ = ("_path", "_step")

    def __init__(
        self, step: Step, path: str, serial: int, shape: tuple[int, ...], dtype: Any
    ) -> None:
        self.serial = serial
        self.backend = step.backend
        self.shape = shape
        self.dtype = dtype
        self._step = step
        self._path = path

    @property
    def step(self) -> Step | None:
        """The call that has the value among its outputs."""
        return self._step

    @property
    def path(self) -> str:
        """Which of the outputs."""
        return self._path


class AutodiffTensor:
    """A tensor of the decorated backend with its place in the graph.

    In an `Autodiff` implementation every tensor is one, whatever its kind; only floats are
    ever tracked. `node` of an untracked tensor may be passed to `prepare` like any other.
    """

    __slots__ = ("__weakref__", "kind", "link", "owner", "primitive")

    def __init__(self, primitive: Any, link: Node | None, kind: Kind, owner: Any) -> None:
        self.primitive = primitive
        self.link = link
        self.kind: Kind = kind
        self.owner = owner

    @property
    def node(self) -> Node:
        """The place in the graph; a new stand-in each time if the tensor is not tracked."""
        primitive, node = self.primitive, self.link
        if node is None:
            node = UntrackedNode(self.owner, primitive.shape, primitive.dtype)
        node.note(primitive)
        return node

    @property
    def is_tracked(self) -> bool:
        """Whether a backward pass can reach a marked leaf from here."""
        return self.link is not None

    @property
    def shape(self) -> Shape:
        """Sizes, outermost first."""
        return Shape(self.primitive.shape)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.owner.inner.dtype_of(self.primitive)

    @property
    def device(self) -> Device:
        """Where the values live, as an autodiff device."""
        return self.owner.device_of(self)

    def __repr__(self) -> str:
        tracked = "tracked" if self.is_tracked else "untracked"
        return f"AutodiffTensor({tracked}, {self.kind}, {list(self.shape)}, {self.dtype})"
