"""A recorded call whose backward pass is a `@gradient` rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from firebrick.decorators.autodiff.kept import Source
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, OutputNode, Step, next_serial
from firebrick.decorators.autodiff.reduce_broadcast import broadcast_shape
from firebrick.decorators.autodiff.rule_plan import Layout, Place, RulePlan
from firebrick.decorators.autodiff.saved import Saved
from firebrick.errors import GradientError, ShapeError
from firebrick.opset import Need

if TYPE_CHECKING:
    from firebrick.core import Kind
    from firebrick.decorators.autodiff.backward_pass import BackwardPass

Results: TypeAlias = "Mapping[str, tuple[Kind, Any]]"


class RuleStep(Step):
    """One call with what its rule needs.

    `kept` has an entry per tensor input (`kept.py` says of what types), `plain` the ordinary
    arguments; `results` are the saved outputs: a 1-tuple where the operation returns one tensor,
    else kind and value by path; None where nothing is saved.
    """

    __slots__ = ("_split", "kept", "layout", "plain", "plan", "results")

    def __init__(
        self,
        plan: RulePlan,
        layout: Layout,
        parents: tuple[Node | None, ...],
        kept: tuple[Any, ...],
        plain: tuple[Any, ...],
        results: tuple[Any] | Results | None,
        shape: tuple[int, ...],
        dtype: Any,
    ) -> None:
        self.serial = next_serial()
        self.backend = plan.owner
        self.shape = shape
        self.dtype = dtype
        self.parents = parents
        self.consumed = False
        self.plan = plan
        self.layout = layout
        self.kept = kept
        self.plain = plain
        self.results = results
        self._split: tuple[tuple[str, int, tuple[int, ...], Any], ...] | None = None

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
        if self._split is None:
            return (self,)
        return tuple(
            OutputNode(self, slot, serial, shape, dtype)
            for slot, (_, serial, shape, dtype) in enumerate(self._split)
        )

    def split(self, outputs: list[tuple[str, Any]]) -> tuple[Node, ...]:
        """Gives the step these float outputs, by path and value, and returns their nodes."""
        self._split = tuple((p, next_serial(), v.shape, v.dtype) for p, v in outputs)
        return self.outputs

    def release(self) -> None:
        """Drops parents and everything kept."""
        self.parents = ()
        self.kept = ()
        self.results = None

    def sources(self) -> tuple[Node, ...]:
        """Nodes whose values recomputing needs."""
        return tuple(kept.node for kept in self.kept if isinstance(kept, Source))

    def recompute(self, backward: BackwardPass) -> tuple[Any, ...]:
        """Runs the forward call again on the decorated backend."""
        arguments = self.plan.arguments(
            self.layout, self.plain, lambda index: backward.primitive(self.kept[index])
        )
        parameters = self.plan.operation.parameters
        positional = [arguments[p.name] for p in parameters if not p.keyword_only]
        keywords = {p.name: arguments[p.name] for p in parameters if p.keyword_only}
        out = self.plan.call(*positional, **keywords)
        return tuple(value for _, kind, value in self.plan.outputs(out) if kind == "float")

    def run(self, backward: BackwardPass) -> None:
        """Calls the rule, checks what it returns and registers it."""
        executor = backward.executor(self.backend)
        grads = self._gradients(backward, executor)
        layout = self.layout
        parents = dict(zip((layout.paths[i] for i in layout.floats), self.parents, strict=True))
        need = Need({path: parent is not None for path, parent in parents.items()})
        instance = self.plan.instances[backward.create_graph]
        result = self.plan.function(instance, Saved(self, backward), *grads, need)
        self._check_names(result, parents)
        for path, parent in parents.items():
            if parent is not None and result[path] is not None:
                backward.gradients.add(parent, self._fitted(executor, path, result[path]))

    def _gradients(self, backward: BackwardPass, executor: Any) -> list[Any]:
        """The gradient of every float output, zeros where nothing arrived."""
        found = [(node, backward.gradients.pop(node)) for node in self.outputs]
        known = next(value for _, value in found if value is not None)
        inner = self.backend.inner
        device = inner.device_of(known.primitive if backward.create_graph else known)

        def zeros(node: Node) -> Any:
            return executor.float_zeros(tuple(node.shape), device, inner.dtype_of(node))

        return [zeros(node) if value is None else value for node, value in found]

    def _check_names(self, result: Any, parents: Mapping[str, Node | None]) -> None:
        accepted = ", ".join(f"`{path}`" for path in parents)
        if not isinstance(result, Mapping):
            raise GradientError(
                f"the gradient of `{self.label}` returned a {type(result).__name__}; it returns a "
                f"dict from input names to gradients: {accepted}."
            )
        unknown = sorted(set(map(str, result)) - set(self.layout.index))
        if unknown:
            raise GradientError(
                f"the gradient of `{self.label}` returned one for {unknown[0]!r}, which is no "
                f"tensor input; accepted are {accepted}."
            )
        missing = [p for p, parent in parents.items() if parent is not None and p not in result]
        if missing:
            raise GradientError(
                f"the gradient of `{self.label}` left out `{missing[0]}`, which `need` names; "
                "return a gradient for it, or None for zero."
            )

    def _fitted(self, executor: Any, path: str, value: Any) -> Any:
        """A gradient in its input's shape, broadcast dimensions summed back."""
        recorded = executor is self.backend
        raw = value.primitive if recorded and isinstance(value, AutodiffTensor) else value
        if recorded != isinstance(value, AutodiffTensor) or not hasattr(raw, "shape"):
            raise GradientError(
                f"the gradient of `{self.label}` returned a {type(value).__name__} for `{path}`; "
                "gradients are tensors of `self.inner.backend`."
            )
        kept = self.kept[self.layout.index[path]]
        wanted, shape = tuple(kept.shape), tuple(raw.shape)
        if raw.dtype != kept.dtype:
            raise GradientError(
                f"the gradient of `{self.label}` for `{path}` has dtype {raw.dtype}, the input has "
                f"{kept.dtype}; cast it with `float_cast`."
            )
        if shape == wanted:
            return value
        if any(shape == tuple(node.shape) for node in self.outputs):
            try:
                return broadcast_shape(executor, value, wanted)
            except ShapeError as fact:
                raise GradientError(
                    f"the gradient of `{self.label}` for `{path}` does not fit: {fact}"
                ) from None
        raise GradientError(
            f"the gradient of `{self.label}` for `{path}` has shape {list(shape)}, the input has "
            f"{list(wanted)}; return the input's shape, or the output's where the input was "
            "broadcast to it."
        )

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
        if head in self.plan.plain:
            found = self.plain[self.plan.plain.index(head)]
        else:
            found = self.layout.arguments[head]
        for field in fields:
            found = _part(found, field)
        if type(found) is Place:
            raise LookupError(path)
        return found

    def saved(self, path: str, backward: BackwardPass) -> Any:
        """A saved input or output, or a structure of them; `LookupError` if not saved."""
        if not self.plan.saves(path):
            raise LookupError(path)
        head, *fields = path.split(".")
        if head == "out":
            return self._saved_output(path, backward)
        index = self.layout.index.get(path)
        if index is not None:
            return self._input_value(index, backward)
        arguments = self.plan.arguments(
            self.layout, self.plain, lambda index: self._input_value(index, backward)
        )
        found = arguments[head]
        for field in fields:
            found = _part(found, field)
        return found

    def _input_value(self, index: int, backward: BackwardPass) -> Any:
        kind = self.layout.kinds[index]
        link = self.parents[self.layout.floats.index(index)] if kind == "float" else None
        return backward.value(self.kept[index], self.backend, kind, link)

    def _saved_output(self, path: str, backward: BackwardPass) -> Any:
        """A float output is its own node's value; kept, or computed again."""
        paths = ["out"] if self._split is None else [output[0] for output in self._split]
        nodes = dict(zip(paths, self.outputs, strict=True))
        if self.results is None:
            if path not in nodes:
                raise LookupError(path)
            value = backward.outputs(self)[paths.index(path)]
            return backward.value(value, self.backend, "float", nodes[path])
        kind, value = self._kept_output(path)
        return backward.value(value, self.backend, kind, nodes.get(path))

    def _kept_output(self, path: str) -> tuple[Kind, Any]:
        if isinstance(self.results, tuple):
            return "float", self.results[0]
        return (self.results or {})[path]


def _part(value: Any, name: str) -> Any:
    """A field of a struct, an item of a dict or of a sequence; `LookupError` if there is none."""
    if hasattr(value, "keys"):
        return value[name]
    if hasattr(value, "__getitem__") and name.isdigit():
        return value[int(name)]
    if not hasattr(value, name):
        raise LookupError(name)
    return getattr(value, name)
