"""Recording a call with structs, lists or several outputs: an interpreting twin of the text.

`derived_text.py` has the text for bare tensors and one tensor output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from firebrick.core import Device
from firebrick.decorators.autodiff.kept import keep, unsaved
from firebrick.decorators.autodiff.node import AutodiffTensor, Node
from firebrick.decorators.autodiff.rule_plan import Layout, Place, Returned, RulePlan
from firebrick.decorators.autodiff.rule_step import RuleStep
from firebrick.opset import Leaf, leaves
from firebrick.opset.traversal import Convert

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
    """One structured call: its tensors in order, and the arguments for the decorated backend."""

    def __init__(self, plan: RulePlan, values: Values) -> None:
        self._plan = plan
        self._values = values
        self._tensors: list[AutodiffTensor] = []
        self.positional: list[Any] = []
        self.keywords: dict[str, Any] = {}
        for parameter, value in zip(plan.operation.parameters, values, strict=True):
            convert = plan.converts.get(parameter.name)
            raw = lowered(value) if convert is None else convert(value, self._take)
            if parameter.keyword_only:
                self.keywords[parameter.name] = raw
            else:
                self.positional.append(raw)

    def _take(self, value: Any, _: Any) -> Any:
        if not isinstance(value, AutodiffTensor):
            return value
        self._tensors.append(value)
        return value.primitive

    def finish(self, out: Any) -> Any:
        """Wraps the outputs, float ones as nodes of a new step if any input is tracked."""
        plan = self._plan
        returned = plan.outputs(out)
        links: dict[str, Node] = {}
        tracked = any(tensor.link is not None for tensor in self._tensors)
        if tracked and any(kind == "float" for _, kind, _ in returned):
            links = {node.path: node for node in self._step(out, returned).outputs}
        found = iter(returned)

        def wrap(value: Any, _: Any) -> Any:
            if not plan.is_tensor(value):
                return value
            path, kind, tensor = next(found)
            return AutodiffTensor(tensor, links.get(path), kind, plan.owner)

        return plan.convert_output(out, wrap)

    def _step(self, out: Any, returned: list[Returned]) -> RuleStep:
        plan, tensors = self._plan, self._tensors
        by_name = dict(zip(plan.names, self._values, strict=True))
        layout = Layout(
            tuple(_paths(plan, by_name)),
            tuple(tensor.kind for tensor in tensors),
            _skeletons(plan.converts, by_name),
        )
        paths = zip(layout.paths, tensors, strict=True)
        kept = tuple(keep(t) if plan.keeps(path) else unsaved(t) for path, t in paths)
        parents = tuple(tensor.link for tensor in tensors if tensor.kind == "float")
        plain = tuple(lowered(by_name[name]) for name in plan.plain)
        results = {path: value for path, _, value in returned if plan.saves(path)}
        step = RuleStep(
            plan, layout, parents, kept, plain, results if plan.keeps_outputs else None, (), None
        )
        step.split(returned)
        if any(name not in results for name in plan.saved_outputs):
            step.skeleton = _skeleton(plan.convert_output, out, plan.is_tensor, count())
        return step


def _paths(plan: RulePlan, values: Mapping[str, Any]) -> Iterator[str]:
    """Paths of the tensors of a call, in order."""
    for parameter in plan.operation.tensor_parameters:
        for leaf in leaves(values[parameter.name], parameter.node, parameter.name):
            if isinstance(leaf, Leaf) and _is_tensor(leaf.value):
                yield leaf.path


def _skeletons(converts: Mapping[str, Convert], values: Mapping[str, Any]) -> dict[str, Any]:
    """The tensor-holding arguments with a `Place` for every tensor, numbered through."""
    places = count()
    return {n: _skeleton(convert, values[n], _is_tensor, places) for n, convert in converts.items()}


def _skeleton(
    convert: Convert, value: Any, is_tensor: Callable[[Any], bool], places: Iterator[int]
) -> Any:
    return convert(value, lambda v, _: Place(next(places)) if is_tensor(v) else v)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, AutodiffTensor)


def lowered(value: Any) -> Any:
    """An ordinary argument as the decorated backend takes it."""
    return value.inner() if isinstance(value, Device) else value
