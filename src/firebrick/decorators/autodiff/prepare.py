"""The long form of a backward pass: `Backward`, and the builder that `prepare` starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firebrick.core import BalancedCheckpointing, CheckpointStrategy
from firebrick.decorators.autodiff.gradients import described, own_float
from firebrick.decorators.autodiff.kept import keep
from firebrick.decorators.autodiff.long_step import (
    Checkpointer,
    Input,
    Kept,
    LongStep,
    Ops,
    Retro,
)
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, NodeId, next_serial
from firebrick.errors import AutodiffError, KindError

if TYPE_CHECKING:
    from firebrick.backend import Backend
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

        `AutodiffError` for a strategy that is none, and unless the nodes are of one backend.
        """
        _check_strategy(cls.__name__, checkpointing)
        _check_nodes(cls.__name__, nodes)
        return Prep(_Recording(cls, checkpointing, nodes))


def _check_strategy(name: str, checkpointing: Any) -> None:
    if not (isinstance(checkpointing, type) and issubclass(checkpointing, CheckpointStrategy)):
        raise AutodiffError(
            f"`{name}.prepare` takes the strategy first, `self.checkpointing`; got "
            f"{checkpointing!r}."
        )


def _check_nodes(name: str, nodes: tuple[Any, ...]) -> None:
    if not nodes:
        raise AutodiffError(
            f"`{name}.prepare` takes the nodes of the inputs, such as `x.node`; got none."
        )
    for node in nodes:
        if not isinstance(node, Node):
            raise AutodiffError(
                f"`{name}.prepare` takes the nodes of the inputs, such as `x.node`; got a "
                f"{type(node).__name__}."
            )
        if node.backend is not nodes[0].backend:
            raise AutodiffError(
                f"`{name}.prepare` takes nodes of one backend; got some of `{nodes[0].backend}` "
                f"({nodes[0].backend.checkpointing.__name__}) and of `{node.backend}` "
                f"({node.backend.checkpointing.__name__})."
            )


@dataclass(slots=True)
class _Recording:
    """What the builder has gathered so far."""

    backward: type[Backward[Any]]
    checkpointing: type[CheckpointStrategy]
    nodes: tuple[Node, ...]
    retro_forward: Callable[..., Any] | None = None
    retro_parents: tuple[AutodiffTensor, ...] = ()
    inputs: tuple[Input, ...] = field(init=False)

    def __post_init__(self) -> None:
        # Noted now: the next call of an operation may note another view of the same value.
        self.inputs = tuple(Input(node.serial, node.noted) for node in self.nodes)

    @property
    def label(self) -> str:
        """How errors name the call."""
        return self.backward.__name__

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
        return AutodiffTensor(output, link, "float", self.owner)

    def checked(self, output: Any) -> Any:
        """`output` if it is a float tensor of the decorated backend."""
        inner = self.owner.inner
        found = own_float(inner, output)
        if found is None:
            raise KindError(
                f"`{self.label}` finished with {described(output)}; `finish` takes a float tensor "
                f"of `{inner}`, the decorated backend (`x.primitive`, not `x`)."
            )
        return found

    def own(self, tensor: Any, method: str) -> AutodiffTensor:
        """`tensor` if it is one of the call's autodiff backend."""
        if not isinstance(tensor, AutodiffTensor) or tensor.owner is not self.owner:
            raise AutodiffError(
                f"`{self.label}`: `{method}` takes `AutodiffTensor`s of `{self.owner}` (`x`, not "
                f"`x.primitive`); got {described(tensor)}."
            )
        return tensor

    def keep(self, tensor: AutodiffTensor) -> Any:
        """Its value or, if an input and so part of the graph, where to recompute it from."""
        return keep(tensor) if tensor.link in self.nodes else tensor.primitive

    def retro(self) -> Retro | None:
        """How to compute the output again under a strategy that does so."""
        if self.retro_forward is None or not issubclass(self.checkpointing, BalancedCheckpointing):
            return None
        parents = tuple(self.keep(parent) for parent in self.retro_parents)
        return Retro(self.retro_forward, parents)


class UntrackedPrep:
    """No input is tracked: the output is a constant."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording

    def finish(self, output: Any) -> AutodiffTensor:
        """Wraps `output`, of the decorated backend's type."""
        return self._recording.output(self._recording.checked(output), None)


class TrackedPrep(Generic[S]):
    """Some input is tracked: the call is recorded."""

    def __init__(self, recording: _Recording) -> None:
        self._recording = recording
        self._kept: dict[NodeId, Kept] = {}

    def checkpoint(self, tensor: AutodiffTensor) -> NodeId:
        """Asks for the value of `tensor` in backward: saved, or recomputed."""
        recording = self._recording
        link = recording.own(tensor, "checkpoint").link
        name = NodeId(next_serial()) if link is None else link.id
        self._kept[name] = Kept(recording.keep(tensor), tensor.kind, link)
        return name

    def finish(self, state: S, output: Any) -> AutodiffTensor:
        """Records the call; `output` is of the decorated backend's type."""
        recording = self._recording
        value = recording.checked(output)
        step = LongStep(
            recording.nodes, recording.inputs, recording.backward(), dict(self._kept), state,
            recording.retro(), value,
        )  # fmt: skip
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
        recording = self._recording
        if recording.retro_forward is None:
            raise AutodiffError(
                f"`{recording.label}` is memory bound without `retro_forward`; say how to compute "
                "the output again with `.retro_forward(...)` before `.parents(...)`."
            )
        recording.retro_parents = tuple(recording.own(tensor, "parents") for tensor in tensors)
        return BoundPrep(recording)


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
