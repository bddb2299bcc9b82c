"""Recording a call with structs, lists or several outputs: an interpreting twin of the text.

`derived_text.py` has the text for bare tensors and one tensor output.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from firebrick.core import Device
from firebrick.decorators.autodiff.kept import keep, unsaved
from firebrick.decorators.autodiff.node import AutodiffTensor, Node
from firebrick.decorators.autodiff.rule_plan import Layout, Place, Returned, RulePlan
from firebrick.decorators.autodiff.rule_step import RuleStep
from firebrick.opset import Leaf, leaves

Values = tuple[Any, ...]
"""A call's arguments in declaration order."""


def record(plan: RulePlan) -> Callable[[Values], Any]:
    """Runs a call on the decorated backend and wraps what it returns."""

    def recorded(values: Values) -> Any:
        call = _Call(plan, values)
        return call.finish(plan.call(*call.positional, **call.keywords))

    return recorded


def record_later(plan: RulePlan) -> Callable[[Values], Any]:
    """As `record`, for an async operation."""

    async def recorded(values: Values) -> Any:
        call = _Call(plan, values)
        return call.finish(await plan.call(*call.positional, **call.keywords))

    return recorded


class _Call:
    """One structured call, taken apart: leaves by path, skeletons, ordinary arguments."""

    def __init__(self, plan: RulePlan, values: Values) -> None:
        self._plan = plan
        self._leaves: list[tuple[str, AutodiffTensor]] = []
        parameters = plan.operation.parameters
        by_name = {p.name: value for p, value in zip(parameters, values, strict=True)}
        places = count()
        skeletons: dict[str, Any] = {}
        for parameter in plan.operation.tensor_parameters:
            value = by_name[parameter.name]
            for leaf in leaves(value, parameter.node, parameter.name):
                if isinstance(leaf, Leaf) and isinstance(leaf.value, AutodiffTensor):
                    self._leaves.append((leaf.path, leaf.value))
            convert = plan.converts[parameter.name]
            skeletons[parameter.name] = convert(value, lambda v, _: _placed(v, places))
        self._layout = Layout(
            tuple(path for path, _ in self._leaves),
            tuple(tensor.kind for _, tensor in self._leaves),
            skeletons,
        )
        self._plain = tuple(lowered(by_name[name]) for name in plan.plain)
        self.positional, self.keywords = plan.arguments(
            self._layout, self._plain, lambda index: self._leaves[index][1].primitive
        )

    def finish(self, out: Any) -> Any:
        """Wraps the outputs, float ones as nodes of a new step if any input is tracked."""
        returned = self._plan.outputs(out)
        links: dict[str, Node] = {}
        tracked = any(tensor.is_tracked for _, tensor in self._leaves)
        if tracked and any(kind == "float" for _, kind, _ in returned):
            links = {node.path: node for node in self._step(out, returned).outputs}
        found = iter(returned)
        owner = self._plan.owner
        is_tensor = self._plan.is_tensor

        def wrap(value: Any, _: Any) -> Any:
            if not is_tensor(value):
                return value
            path, kind, tensor = next(found)
            return AutodiffTensor(tensor, links.get(path), kind, owner)

        return self._plan.convert_output(out, wrap)

    def _step(self, out: Any, returned: list[Returned]) -> RuleStep:
        plan = self._plan
        kept = tuple(keep(t) if plan.keeps(path) else unsaved(t) for path, t in self._leaves)
        parents = tuple(tensor.link for _, tensor in self._leaves if tensor.kind == "float")
        results = {path: value for path, _, value in returned if plan.saves(path)}
        step = RuleStep(
            plan, self._layout, parents, kept, self._plain,
            results if plan.keeps_outputs else None, (), None,
        )  # fmt: skip
        step.split(returned)
        if any(name not in results for name in plan.saved_outputs):
            places = count()
            step.skeleton = plan.convert_output(
                out, lambda v, _: Place(next(places)) if plan.is_tensor(v) else v
            )
        return step


def lowered(value: Any) -> Any:
    """An ordinary argument as the decorated backend takes it."""
    return value.inner() if isinstance(value, Device) else value


def _placed(value: Any, places: Any) -> Any:
    return Place(next(places)) if isinstance(value, AutodiffTensor) else value
