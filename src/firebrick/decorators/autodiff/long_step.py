"""A recorded call whose backward pass is written in the long form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firebrick.decorators.autodiff.kept import Source
from firebrick.decorators.autodiff.node import Node, NodeId, Step
from firebrick.decorators.autodiff.recorded_state import tracked_state
from firebrick.errors import AutodiffError, GradientError

if TYPE_CHECKING:
    from firebrick.core import Kind
    from firebrick.decorators.autodiff.backward_pass import BackwardPass

S = TypeVar("S")
KeptValue = tuple[Any, "Kind", "Node | None"]


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
        found = self._step.kept.get(node_id.serial)
        if found is None:
            raise AutodiffError(
                f"`{self._step.label}` asks for {node_id!r}, which was never checkpointed; use the "
                "id that `prep.checkpoint(tensor)` returned."
            )
        kept, kind, link = found
        return self._backward.value(kept, self._step.backend, kind, link)


class LongStep(Step):
    """One call with its state, the values it asked for, and how to compute its output again."""

    __slots__ = ("_backward", "_retro", "_state", "kept", "retro_parents")

    def __init__(
        self,
        owner: Any,
        parents: tuple[Node | None, ...],
        backward: Any,
        kept: dict[int, KeptValue],
        state: Any,
        retro_forward: Callable[..., Any] | None,
        retro_parents: tuple[Any, ...],
        output: Any,
    ) -> None:
        super().__init__(owner, parents, output.shape, output.dtype)
        self._backward = backward
        self.kept = kept
        self._state = state
        self._retro = retro_forward
        self.retro_parents = retro_parents
        self.note(output)

    @property
    def recomputes(self) -> bool:
        """Whether the output can be computed again."""
        return self._retro is not None

    @property
    def label(self) -> str:
        """The name of the backward pass."""
        return type(self._backward).__name__

    def release(self) -> None:
        """Drops parents, state and everything kept."""
        self.parents = ()
        self.kept = {}
        self._state = None
        self.retro_parents = ()

    def sources(self) -> tuple[Node, ...]:
        """Nodes whose values recomputing needs."""
        return tuple(kept.node for kept in self.retro_parents if isinstance(kept, Source))

    def recompute(self, backward: BackwardPass) -> tuple[Any, ...]:
        """The output again, through the recorded function."""
        if self._retro is None:
            raise AutodiffError(f"`{self.label}` cannot compute its output again.")
        values = [backward.primitive(kept) for kept in self.retro_parents]
        return (self._retro(self.backend.inner, *values),)

    def run(self, backward: BackwardPass) -> None:
        """Calls the backward pass; on a recorded pass with tracked tensors in its state."""
        state = self._state
        if backward.create_graph:
            known = [(kept, link) for kept, _, link in self.kept.values() if link is not None]
            state = tracked_state(self, state, known)
        ops = Ops(self.parents, self, state)
        executor = backward.executor(self.backend)
        try:
            self._backward.backward(executor, ops, backward.gradients, Checkpointer(self, backward))
        except GradientError as fact:
            raise GradientError(f"`{self.label}`: {fact}") from None
