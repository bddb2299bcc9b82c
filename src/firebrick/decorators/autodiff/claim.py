"""Which backward pass may go through which steps: claims, made and given back under one lock.

The lock is held for no longer than it takes to walk a graph, never while a rule runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType

from firebrick.decorators.autodiff.node import Node, Step
from firebrick.errors import GraphConsumedError

# Reentrant: the garbage collector may run a finalizer that starts a backward pass of its own.
_claiming = threading.RLock()


class Claim:
    """The steps behind one node, held for one pass; a context that gives them, the last first.

    A consuming pass marks its steps at once, so that any other is refused from then on; if it
    fails, they are as they were. What a consumed step keeps goes when its last holder is done.
    """

    __slots__ = ("_consume", "_root", "_steps")

    def __init__(self, root: Node, *, consume: bool) -> None:
        self._root = root
        self._consume = consume
        self._steps: list[Step] = []

    def __enter__(self) -> list[Step]:
        with _claiming:
            self._steps = _reached(self._root)
            for step in self._steps:
                step.holders += 1
                step.consumed = self._consume
        return self._steps

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        failed = kind is not None and self._consume
        with _claiming:
            for step in self._steps:
                step.holders -= 1
                if failed:
                    step.consumed = False
            done = [step for step in self._steps if step.consumed and not step.holders]
        for step in done:
            step.release()


def steps_of(nodes: Iterable[Node]) -> list[Step]:
    """The calls that made these values; leaves have none."""
    return [step for step in (node.step for node in nodes) if step is not None]


def _reached(root: Node) -> list[Step]:
    """All steps that the root depends on, the last first; `GraphConsumedError` for a used one."""
    found: dict[int, Step] = {}
    pending = steps_of([root])
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
        pending += steps_of(parent for parent in step.parents if parent is not None)
    return [found[serial] for serial in sorted(found, reverse=True)]
