"""The backward pass: runs the steps of a claimed graph from the last to the first."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor
from firebrick.decorators.autodiff.claim import Claim, steps_of
from firebrick.decorators.autodiff.gradients import Gradients
from firebrick.decorators.autodiff.kept import Source
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, Step
from firebrick.errors import NotTrackedError

if TYPE_CHECKING:
    from firebrick.core import Kind


class BackwardPass:
    """One pass: the gradients so far, and values computed again for it."""

    def __init__(self, *, create_graph: bool) -> None:
        self.create_graph = create_graph
        self.gradients = Gradients(tracked=create_graph)
        self._recomputed: dict[int, Mapping[str, Any]] = {}
        self._latest: list[int] = []  # a heap of negated serials: the last step comes first

    def executor(self, owner: Any) -> Any:
        """The backend whose tensors gradients are: the decorated one, or the decorator itself."""
        return owner if self.create_graph else owner.inner

    def value(self, kept: Any, owner: Any, kind: Kind, link: Node | None) -> Any:
        """A kept value for a rule to read: not writable; tracked if the pass is recorded."""
        read_only = owner.inner.read_only(self.primitive(kept))
        return AutodiffTensor(read_only, link, kind, owner) if self.create_graph else read_only

    def primitive(self, kept: Any) -> Any:
        """A kept value, computed again if need be, of the decorated backend's type."""
        if not isinstance(kept, Source):
            return kept
        (step,) = steps_of([kept.node])
        return self.outputs(step)[kept.node.path]

    def outputs(self, wanted: Step) -> Mapping[str, Any]:
        """The output tensors of a step, computed again with all that it needs, by a loop."""
        known = self._recomputed
        pending = [wanted]
        while pending:
            step = pending[-1]
            missing = [s for s in steps_of(step.sources()) if s.serial not in known]
            if step.serial in known:
                pending.pop()
            elif missing:
                pending += missing
            else:
                known[step.serial] = step.recompute(self)
                heappush(self._latest, -step.serial)
        return known[wanted.serial]

    def run(self, steps: list[Step]) -> None:
        """Runs steps in descending order; those that no gradient reached are left out."""
        gradients = self.gradients
        for step in steps:
            outputs = step.outputs
            if any(gradients.has(node) for node in outputs):
                step.run(self)
                for node in outputs:
                    gradients.pop(node)
            self._forget(step.serial)

    def _forget(self, serial: int) -> None:
        """Drops recomputed values that only this step or later ones could ask for."""
        while self._latest and -self._latest[0] >= serial:
            del self._recomputed[-heappop(self._latest)]


def run_backward(
    root: DispatchTensor, *, create_graph: bool = False, retain_graph: bool = False
) -> Gradients:
    """Gradients of the sum of `root` for every marked leaf.

    Consumes the graph unless an option is set; after an error the graph is as it was.

    Raises: `NotTrackedError`, `GraphConsumedError`, and what rules raise.
    """
    tensor = root.primitive
    link = getattr(tensor, "link", None)
    if link is None:
        raise NotTrackedError(
            "`backward` needs a tensor with a graph, and this one has none: it was not computed "
            "from a tensor marked with `require_grad()` on an autodiff device."
        )
    backward = BackwardPass(create_graph=create_graph)
    with Claim(link, consume=not (create_graph or retain_graph)) as steps:
        inner = link.backend.inner
        device, dtype = inner.device_of(tensor.primitive), inner.dtype_of(tensor.primitive)
        executor = backward.executor(link.backend)
        backward.gradients.add(link, executor.float_ones(tuple(tensor.shape), device, dtype))
        backward.run(steps)
    return backward.gradients
