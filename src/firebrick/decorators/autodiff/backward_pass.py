"""The backward pass: claims a graph, runs its steps from the last to the first, frees them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from firebrick.core import DispatchTensor
from firebrick.decorators.autodiff.gradients import Gradients
from firebrick.decorators.autodiff.kept import Source, Unsaved
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, Step
from firebrick.errors import AutodiffError, GraphConsumedError, NotTrackedError

if TYPE_CHECKING:
    from firebrick.core import Kind

_claiming = threading.Lock()


class BackwardPass:
    """One pass: the gradients so far, and values computed again for it."""

    def __init__(self, *, create_graph: bool) -> None:
        self.create_graph = create_graph
        self.gradients = Gradients(tracked=create_graph)
        self._recomputed: dict[int, tuple[Any, ...]] = {}

    def executor(self, owner: Any) -> Any:
        """The backend whose tensors gradients are: the decorated one, or the decorator itself."""
        return owner if self.create_graph else owner.inner

    def value(self, kept: Any, owner: Any, kind: Kind, link: Node | None) -> Any:
        """A kept value for a rule to read: not writable; tracked if the pass is recorded."""
        primitive = self.primitive(kept)
        read_only = owner.inner.read_only(primitive)
        return AutodiffTensor(read_only, link, kind, owner) if self.create_graph else read_only

    def primitive(self, kept: Any) -> Any:
        """A kept value, computed again if need be, of the decorated backend's type."""
        if isinstance(kept, Unsaved):
            raise AutodiffError("a value that was not saved cannot be read in the backward pass.")
        if not isinstance(kept, Source):
            return kept
        (step,) = _steps([kept.node])
        return self.outputs(step)[kept.node.slot]

    def outputs(self, wanted: Step) -> tuple[Any, ...]:
        """The float outputs of a step, computed again with all that it needs, by a loop."""
        known = self._recomputed
        pending = [wanted]
        while pending:
            step = pending[-1]
            missing = [s for s in _steps(step.sources()) if s.serial not in known]
            if step.serial in known:
                pending.pop()
            elif missing:
                pending += missing
            else:
                known[step.serial] = step.recompute(self)
        return known[wanted.serial]

    def run(self, steps: list[Step]) -> None:
        """Runs steps in descending order; recomputed values go when nobody can ask again."""
        for step in steps:
            if any(self.gradients.has(node) for node in step.outputs):
                self._run_step(step)
            for serial in [s for s in self._recomputed if s >= step.serial]:
                del self._recomputed[serial]

    def _run_step(self, step: Step) -> None:
        for parent in step.parents:
            if parent is not None:
                self.gradients.know(parent)
        step.run(self)
        for node in step.outputs:
            self.gradients.pop(node)


def _steps(nodes: Iterable[Node]) -> list[Step]:
    return [step for step in (node.step for node in nodes) if step is not None]


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
    keeps = create_graph or retain_graph
    steps = _claim(link, consume=not keeps)
    backward = BackwardPass(create_graph=create_graph)
    try:
        executor = backward.executor(link.backend)
        device = link.backend.inner.device_of(tensor.primitive)
        dtype = link.backend.inner.dtype_of(tensor.primitive)
        ones = executor.float_ones(tuple(tensor.shape), device, dtype)
        backward.gradients.know(link)
        backward.gradients.add(link, ones)
        backward.run(steps)
    except BaseException:
        if not keeps:
            for step in steps:
                step.consumed = False
        raise
    if not keeps:
        for step in steps:
            step.release()
    backward.gradients.keep_leaves()
    return backward.gradients


def _claim(root: Node, *, consume: bool) -> list[Step]:
    """All steps that the root depends on, the last first; claimed at once if to be consumed."""
    with _claiming:
        found: dict[int, Step] = {}
        pending = _steps([root])
        while pending:
            step = pending.pop()
            if step.serial in found:
                continue
            if step.consumed:
                raise GraphConsumedError(
                    f"the graph reaches `{step.label}`, whose part an earlier backward pass has "
                    "consumed; use `backward(retain_graph=True)` there to go through it again."
                )
            found[step.serial] = step
            pending += _steps(parent for parent in step.parents if parent is not None)
        if consume:
            for step in found.values():
                step.consumed = True
    return [found[serial] for serial in sorted(found, reverse=True)]
