"""A recorded call whose backward pass is written in the long form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from firebrick.decorators.autodiff.gradients import described, own_float
from firebrick.decorators.autodiff.kept import Source
from firebrick.decorators.autodiff.node import Node, NodeId, Noted, Step, noted
from firebrick.decorators.autodiff.recorded_state import StateReader
from firebrick.errors import AutodiffError

if TYPE_CHECKING:
    from firebrick.core import Kind
    from firebrick.decorators.autodiff.backward_pass import BackwardPass

S = TypeVar("S")


class Kept(NamedTuple):
    """A value that the backward pass asked for: `kept.py` says of what types it is."""

    value: Any
    kind: Kind
    link: Node | None


class Retro(NamedTuple):
    """How to compute the output again: from what, as `kept.py` has it."""

    function: Callable[..., Any]
    parents: tuple[Any, ...]


class Input(NamedTuple):
    """A node that `prepare` was given, and the value that it stood for then."""

    serial: int
    noted: Noted


@dataclass(frozen=True)
class Ops(Generic[S]):
    """One call of an operation, seen from its backward pass."""

    parents: tuple[Node | None, ...]
    """The nodes given to `prepare`; None where untracked."""
    node: Node
    state: S


class Checkpointer:
    """Gives the values that a backward pass asked for with `prep.checkpoint`."""

    def __init__(self, step: LongStep, backward: BackwardPass) -> None:
        self._step = step
        self._backward = backward

    def retrieve_node_output(self, node_id: NodeId) -> Any:
        """The value that `prep.checkpoint` saved or knows how to recompute."""
        found = self._step.kept.get(node_id)
        if found is None:
            raise AutodiffError(
                f"`{self._step.label}` asks for {node_id!r}, which was never checkpointed; use the "
                "id that `prep.checkpoint(tensor)` returned."
            )
        return self._backward.value(found.value, self._step.backend, found.kind, found.link)


class LongStep(Step):
    """One call with its state, the values it asked for, and how to compute its output again."""

    __slots__ = ("_backward", "_inputs", "_retro", "_state", "kept", "noted_output")

    def __init__(
        self,
        nodes: tuple[Node, ...],
        inputs: tuple[Input, ...],
        backward: Any,
        kept: Mapping[NodeId, Kept],
        state: Any,
        retro: Retro | None,
        output: Any,
    ) -> None:
        parents = tuple(node if node.is_tracked else None for node in nodes)
        super().__init__(nodes[0].backend, parents, output.shape, output.dtype)
        self._inputs = inputs
        self._backward = backward
        self.kept: Mapping[NodeId, Kept] = kept
        self._state = state
        self._retro = retro
        self.noted_output = noted(output)

    @property
    def recomputes(self) -> bool:
        """Whether the output can be computed again."""
        return self._retro is not None

    @property
    def label(self) -> str:
        """The name of the backward pass."""
        return type(self._backward).__name__

    def position(self, node: Any) -> int:
        """Which input a `Node` or `NodeId` is; `AutodiffError` if it is none."""
        if isinstance(node, Node | NodeId):
            for position, known in enumerate(self._inputs):
                if known.serial == node.serial:
                    return position
        hint = "; `ops.parents` has None where an input is not tracked" if node is None else ""
        raise AutodiffError(
            f"`{self.label}` registered a gradient for {node!r}, which is no input of the call"
            f"{hint}. Register for the nodes in `ops.parents`."
        )

    def release(self) -> None:
        """Drops parents, state and everything kept."""
        self.parents = ()
        self.kept = {}
        self._state = None
        self._retro = None

    def sources(self) -> tuple[Node, ...]:
        """Nodes whose values recomputing needs."""
        parents = () if self._retro is None else self._retro.parents
        return tuple(kept.node for kept in parents if isinstance(kept, Source))

    def recompute(self, backward: BackwardPass) -> Mapping[str, Any]:
        """The output again, through the recorded function; `AutodiffError` if it is another."""
        if self._retro is None:
            raise AutodiffError(f"`{self.label}` cannot compute its output again.")
        inner = self.backend.inner
        values = [inner.read_only(backward.primitive(kept)) for kept in self._retro.parents]
        found = self._retro.function(inner, *values)
        output = own_float(inner, found)
        if output is None:
            raise AutodiffError(
                f"`{self.label}`: `retro_forward` returned {described(found)}; it returns the "
                f"output again, a float tensor of `{inner}`."
            )
        if tuple(output.shape) != tuple(self.shape) or output.dtype != self.dtype:
            raise AutodiffError(
                f"`{self.label}`: `retro_forward` returned shape {list(output.shape)} and dtype "
                f"{output.dtype}, where the call had shape {list(self.shape)} and {self.dtype}."
            )
        return {"out": output}

    def run(self, backward: BackwardPass) -> None:
        """Calls the backward pass; on a recorded pass with tracked tensors in its state."""
        state = self._state
        if backward.create_graph:
            state = self._reader().read(state)
        ops = Ops(self.parents, self, state)
        executor = backward.executor(self.backend)
        backward.gradients.enter(self)
        try:
            self._backward.backward(executor, ops, backward.gradients, Checkpointer(self, backward))
        finally:
            backward.gradients.enter(None)

    def _reader(self) -> StateReader:
        """Knows the output, the inputs and the checkpointed values."""
        reader = StateReader(self.label, self.backend, self.dtype)
        reader.know(self.noted_output(), self)
        for known, parent in zip(self._inputs, self.parents, strict=True):
            reader.know(known.noted(), parent)
        for kept in self.kept.values():
            if not isinstance(kept.value, Source):
                reader.know(kept.value, kept.link)
        return reader
