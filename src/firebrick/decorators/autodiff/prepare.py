"""The long form of a backward pass: `Backward`, and the builder that `prepare` starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firebrick.core import BalancedCheckpointing
from firebrick.decorators.autodiff.kept import keep
from firebrick.decorators.autodiff.long_step import Checkpointer, LongStep, Ops
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, NodeId, next_serial
from firebrick.errors import AutodiffError, KindError
from firebrick.opset import kind_or_none

if TYPE_CHECKING:
    from firebrick.backend import Backend
    from firebrick.core import CheckpointStrategy
    from firebrick.decorators.autodiff.gradients import Gradients

S = TypeVar("S")


class Backward(Generic[S]):
    """A backward pass with state `S`. Stateless itself; built without arguments."""

    def backward(
        self, backend: Backend[Any], ops: Ops[S], grads: Gradients, checkpointer: Checkpointer
    ) -> None:
        """Consumes `grads` of `ops.node`, registers one for every parent that is not None."""
        raise NotImplementedError(f"`{type(self).__name__}` defines no `backward`.")

    @classmethod
    def prepare(cls, checkpointing: type[CheckpointStrategy], *nodes: Node) -> Prep[S]:
        """Starts recording a call whose inputs have these nodes.

        `AutodiffError` without nodes: a call without inputs has no backward pass.
        """
        if not nodes:
            raise AutodiffError(
                f"`{cls.__name__}.prepare` takes the nodes of the inputs, such as `x.node`; got "
                "none."
            )
        return Prep(_Recording(cls, checkpointing, nodes))


@dataclass(slots=True)
class _Recording:
    """What the builder has gathered so far."""

    backward: type[Backward[Any]]
    checkpointing: type[CheckpointStrategy]
    nodes: tuple[Node, ...]
    retro_forward: Callable[..., Any] | None = None
    retro_parents: tuple[AutodiffTensor, ...] = ()

    @property
    def owner(self) -> Any:
        """The autodiff backend of the call."""
        return self.nodes[0].backend

    @property
    def is_tracked(self) -> bool:
        """Whether any input is."""
        return any(node.is_tracked for node in self.nodes)

    def output(self, output: Any, link: Node | None) -> AutodiffTensor:
        """The call's result, `output` being of the decorated backend's type."""
        return AutodiffTensor(self.checked(output), link, "float", self.owner)

    def checked(self, output: Any) -> Any:
        """`output` if it is a float tensor of the decorated backend."""
        inner = self.owner.inner
        adopted = inner.adopt(output)
        if kind_or_none(inner, adopted) != "float":
            raise KindError(
                f"`{self.backward.__name__}` finished with a {type(output).__name__}; `finish` "
                f"takes a float tensor of `{inner}`, the decorated backend (`x.primitive`, not `x`)."
            )
        return adopted


class UntrackedPrep:
    """No input is tracked: the output is a constant."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    def finish(self, output: Any) -> AutodiffTensor:
        """Wraps `output`, of the decorated backend's type."""
        return self._recording.output(output, None)


class TrackedPrep(Generic[S]):
    """Some input is tracked: the call is recorded."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording
        self._kept: dict[int, tuple[Any, AutodiffTensor]] = {}

    def checkpoint(self, tensor: AutodiffTensor) -> NodeId:
        """Asks for the value of `tensor` in backward: saved, or recomputed."""
        serial = next_serial()
        self._kept[serial] = (keep(tensor), tensor)
        return NodeId(serial)

    def finish(self, state: S, output: Any) -> AutodiffTensor:
        """Records the call; `output` is of the decorated backend's type."""
        recording = self._recording
        value = recording.checked(output)
        recomputes = (
            recording.retro_forward is not None and recording.checkpointing is BalancedCheckpointing
        )
        step = LongStep(
            recording.owner,
            tuple(node if node.is_tracked else None for node in recording.nodes),
            recording.backward(),
            {serial: (kept, t.kind, t.link) for serial, (kept, t) in self._kept.items()},
            state,
            recording.retro_forward if recomputes else None,
            tuple(keep(parent) for parent in recording.retro_parents) if recomputes else (),
            value,
        )
        return recording.output(value, step)


@dataclass(frozen=True)
class Tracked(Generic[S]):
    """Some parent is tracked: `case Tracked(prep)`."""

    prep: TrackedPrep[S]


@dataclass(frozen=True)
class Untracked:
    """No parent is tracked: `case Untracked(prep)`."""

    prep: UntrackedPrep


class BoundPrep(Generic[S]):
    """The cost class is chosen; what remains is the state."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    def stateful(self) -> Tracked[S] | Untracked:
        """Tells whether the call is recorded; use `match`."""
        if self._recording.is_tracked:
            return Tracked(TrackedPrep(self._recording))
        return Untracked(UntrackedPrep(self._recording))

    def stateless(self, output: Any) -> AutodiffTensor:
        """For a backward pass whose state is None."""
        match self.stateful():
            case Tracked(prep):
                recorded: TrackedPrep[Any] = prep
                return recorded.finish(None, output)
            case Untracked(prep):
                return prep.finish(output)


class MemoryBoundPrep(Generic[S]):
    """A call that is cheap to compute again."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    def retro_forward(self, recompute: Callable[..., Any]) -> MemoryBoundPrep[S]:
        """`recompute(backend, *parents)` gives the output again, on the decorated backend."""
        self._recording.retro_forward = recompute
        return self

    def parents(self, *tensors: AutodiffTensor) -> BoundPrep[S]:
        """The tensors whose values `recompute` receives, in this order."""
        self._recording.retro_parents = tensors
        return BoundPrep(self._recording)


class Prep(Generic[S]):
    """Chooses the cost class of a call."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    def compute_bound(self) -> BoundPrep[S]:
        """Too costly to recompute: outputs are kept under every strategy."""
        return BoundPrep(self._recording)

    def memory_bound(self) -> MemoryBoundPrep[S]:
        """Cheap to recompute: under `BalancedCheckpointing` outputs are not kept."""
        return MemoryBoundPrep(self._recording)
