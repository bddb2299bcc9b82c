"""A recorded call whose backward pass is a `@gradient` rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from firebrick.decorators.autodiff.kept import Source
from firebrick.decorators.autodiff.node import Node, OutputNode, Step, next_serial
from firebrick.decorators.autodiff.rule_plan import Layout, Returned, RulePlan, filled
from firebrick.decorators.autodiff.rule_result import RuleResult
from firebrick.decorators.autodiff.saved import Saved
from firebrick.opset import Need

if TYPE_CHECKING:
    from firebrick.core import Kind
    from firebrick.decorators.autodiff.backward_pass import BackwardPass


class Output(NamedTuple):
    """One output tensor of a call with several: a node if it is a float, else a serial of 0."""

    path: str
    kind: Kind
    serial: int
    shape: tuple[int, ...]
    dtype: Any


class RuleStep(Step):
    """One call with what its rule needs.

    `kept` has an entry per tensor input (`kept.py` says of what types), `plain` the ordinary
    arguments; `results` are the saved outputs by path, None where nothing is saved. `skeleton` is
    the structure of the outputs, with a `Place` for every tensor, if the rule asks for a structure.
    """

    __slots__ = ("_outputs", "kept", "layout", "plain", "plan", "results", "skeleton")

    def __init__(
        self,
        plan: RulePlan,
        layout: Layout,
        parents: tuple[Node | None, ...],
        kept: tuple[Any, ...],
        plain: tuple[Any, ...],
        results: Mapping[str, Any] | None,
        shape: tuple[int, ...],
        dtype: Any,
    ) -> None:
        self.serial = next_serial()
        self.backend = plan.owner
        self.shape = shape
        self.dtype = dtype
        self.parents = parents
        self.consumed = False
        self.holders = 0
        self.plan = plan
        self.layout = layout
        self.kept = kept
        self.plain = plain
        self.results = results
        self.skeleton: Any = None
        self._outputs: tuple[Output, ...] | None = None

    @property
    def recomputes(self) -> bool:
        """Whether the outputs can be computed again."""
        return self.plan.recomputes

    @property
    def label(self) -> str:
        """The operation's public name."""
        return self.plan.operation.label

    @property
    def outputs(self) -> tuple[Node, ...]:
        """The nodes of the float outputs."""
        if self._outputs is None:
            return (self,)
        return tuple(
            OutputNode(self, path, serial, shape, dtype)
            for path, kind, serial, shape, dtype in self._outputs
            if kind == "float"
        )

    def split(self, returned: list[Returned]) -> None:
        """Gives the step these outputs, each float one with a node."""
        self._outputs = tuple(
            Output(path, kind, next_serial() if kind == "float" else 0, value.shape, value.dtype)
            for path, kind, value in returned
        )

    def release(self) -> None:
        """Drops parents and everything kept."""
        self.parents = ()
        self.kept = ()
        self.plain = ()
        self.results = None
        self.skeleton = None

    def sources(self) -> tuple[Node, ...]:
        """Nodes whose values recomputing needs."""
        return tuple(kept.node for kept in self.kept if isinstance(kept, Source))

    def recompute(self, backward: BackwardPass) -> Mapping[str, Any]:
        """Runs the forward call again on the decorated backend."""
        positional, keywords = self.plan.arguments(
            self.layout, self.plain, lambda index: backward.primitive(self.kept[index])
        )
        out = self.plan.call(*positional, **keywords)
        return {path: value for path, _, value in self.plan.outputs(out)}

    def run(self, backward: BackwardPass) -> None:
        """Calls the rule, checks what it returns and adds it up."""
        parents, recorded = self.parents, backward.create_graph
        floats, absent = self.layout.floats, self._absent()
        wanted = {path: parents[position] is not None for path, position in floats.items()}
        need = Need({**wanted, **dict.fromkeys(absent, False)} if absent else wanted)
        grads = self._gradients(backward)
        answer = self.plan.run(Saved(self, backward), grads, need, recorded=recorded)
        result = RuleResult(self, answer, recorded=recorded)
        result.check_names(wanted, absent)
        for path, position in floats.items():
            parent = parents[position]
            if parent is not None and result[path] is not None:
                backward.gradients.add(parent, result.fitted(path))

    def _absent(self) -> list[str]:
        """Paths that the declaration knows and this call has no float at: optional ones, ..."""
        return [path for path in self.plan.possible if not self.layout.holds_float(path)]

    def _gradients(self, backward: BackwardPass) -> list[Any]:
        """The gradient of every float output, zeros where nothing arrived; not writable."""
        executor, inner = backward.executor(self.backend), self.backend.inner
        found = [(node, backward.gradients.pop(node)) for node in self.outputs]
        known = next(value for _, value in found if value is not None)
        device = inner.device_of(known.primitive if backward.create_graph else known)
        return [
            executor.float_zeros(tuple(node.shape), device, inner.dtype_of(node))
            if value is None
            else executor.read_only(value)
            for node, value in found
        ]

    # What `Saved` asks.

    def paths(self) -> tuple[str, ...]:
        """Paths of all tensor inputs."""
        return self.layout.paths

    def input(self, path: str) -> Any:
        """What is kept for a tensor input; None if there is no such input."""
        index = self.layout.index.get(path)
        return None if index is None else self.kept[index]

    def ordinary(self, path: str) -> Any:
        """An ordinary argument, or an ordinary field of a struct; `LookupError` if none."""
        head, *fields = path.split(".")
        if self.layout.holds(path):
            raise LookupError(path)
        if head in self.plan.plain:
            return _part(self.plain[self.plan.plain.index(head)], fields)
        return _part(self.layout.arguments[head], fields)

    def saved(self, path: str, backward: BackwardPass) -> Any:
        """A saved input or output, or a structure of them; `LookupError` if not saved."""
        if not self.plan.saves(path):
            raise LookupError(path)
        head, *fields = path.split(".")
        if head == "out":
            return self._saved_output(path, fields, backward)
        layout = self.layout
        index = layout.index.get(path)
        if index is not None:
            return self._input_value(index, backward)
        if any(path.startswith(f"{tensor}.") for tensor in layout.paths):
            raise LookupError(path)

        def value(index: int) -> Any:
            beside = not self.plan.saves(layout.paths[index])
            return None if beside else self._input_value(index, backward)

        return _part(self.plan.argument(layout, head, value), fields)

    def _input_value(self, index: int, backward: BackwardPass) -> Any:
        position = self.layout.floats.get(self.layout.paths[index])
        link = None if position is None else self.parents[position]
        return backward.value(self.kept[index], self.backend, self.layout.kinds[index], link)

    def _saved_output(self, path: str, fields: list[str], backward: BackwardPass) -> Any:
        """A float output is its own node's value; kept, or computed again."""
        outputs = self._outputs
        tensors = ["out"] if outputs is None else [output.path for output in outputs]
        if any(path.startswith(f"{tensor}.") for tensor in tensors):
            raise LookupError(path)
        results = backward.outputs(self) if self.results is None else self.results
        if outputs is None:
            return backward.value(results["out"], self.backend, "float", self)
        nodes = {node.path: node for node in self.outputs}

        def value(output: Output) -> Any:
            if output.path not in results or not self.plan.saves(output.path):
                return None
            link = nodes.get(output.path)
            return backward.value(results[output.path], self.backend, output.kind, link)

        for output in outputs:
            if output.path == path:
                return value(output)
        convert = self.plan.convert_output
        return _part(filled(convert, self.skeleton, lambda i: value(outputs[i])), fields)


def _part(value: Any, names: list[str]) -> Any:
    """What stands at a path below `value`; `LookupError` if nothing does."""
    for name in names:
        value = _item(value, name)
    return value


def _item(value: Any, name: str) -> Any:
    """A field of a struct, an item of a dict or of a sequence."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)[name]
    if name.isdigit() and hasattr(value, "__getitem__"):
        return value[int(name)]
    if not hasattr(value, name):
        raise LookupError(name)
    return getattr(value, name)
