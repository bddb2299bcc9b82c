"""Operations of the autodiff backend, derived: a rule, a default body, or the inner operation.

A call with bare tensors and one tensor output gets generated text, like dispatch; calls with
structs, lists or several outputs are recorded by an interpreting twin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firebrick.core import Device
from firebrick.decorators.autodiff.kept import Unsaved, keep, unsaved
from firebrick.decorators.autodiff.node import AutodiffTensor, Node
from firebrick.decorators.autodiff.rule_plan import Layout, Place, RulePlan
from firebrick.decorators.autodiff.rule_step import Results, RuleStep
from firebrick.errors import KindError, MissingImplementationError
from firebrick.opset import (
    GradientRule,
    Leaf,
    Operation,
    bind_instance,
    kind_or_none,
    leaves,
    linker,
    own_member,
)
from firebrick.opset.dispatch_source import parameters_text
from firebrick.opset.nodes import TensorNode, tensor_nodes
from firebrick.opset.traversal import Source as Text
from firebrick.opset.traversal import UnusualValueError, compile_convert

if TYPE_CHECKING:
    from firebrick.core import Kind


def derive(
    operation: Operation, owner: Any, implementation: type[Any] | None
) -> Callable[..., Any]:
    """The operation on `AutodiffTensor`s of one autodiff backend.

    Args:
        operation: What to derive.
        owner: The autodiff backend instance.
        implementation: The op set's `on=Autodiff` class, if there is one.
    """
    own = None
    if implementation is not None:
        own = own_member(operation.owner, implementation, operation.name)
    if isinstance(own, GradientRule):
        if own.function is None:
            return derive_constant(operation, owner)
        return _tracked(operation, owner, own, own.function, implementation)
    if own is not None and implementation is not None:
        return getattr(bind_instance(implementation, owner), operation.name)
    if not operation.tensor_parameters or not _may_return_float(operation):
        return derive_constant(operation, owner)
    if operation.has_default and operation.is_builtin:
        return operation.function.__get__(owner)
    if operation.has_default and implementation is not None:
        return getattr(bind_instance(implementation, owner), operation.name)
    return derive_constant(operation, owner, refuse_tracked=True)


def _may_return_float(operation: Operation) -> bool:
    return any(node.kind == "float" for node in tensor_nodes(operation.returns))


def derive_constant(
    operation: Operation, owner: Any, *, refuse_tracked: bool = False
) -> Callable[..., Any]:
    """Runs the inner operation; its outputs are untracked."""
    call = linker().operation(operation, owner.inner)
    unwraps = {p.name: compile_convert(p.node, p.name) for p in operation.parameters}
    wrap = compile_convert(operation.returns, operation.label)
    names = [parameter.name for parameter in operation.parameters]

    def lowered(value: Any, node: Any) -> Any:
        if not isinstance(value, AutodiffTensor):
            return value
        if refuse_tracked and value.is_tracked:
            raise MissingImplementationError(missing_backward(operation))
        return value.primitive

    def lower(name: str, value: Any) -> Any:
        return value.inner() if isinstance(value, Device) else unwraps[name](value, lowered)

    def lift(out: Any) -> Any:
        return wrap(out, lambda value, node: _lifted(operation, owner, value, node))

    def constant(*positional: Any, **keywords: Any) -> Any:
        raw = [lower(name, value) for name, value in zip(names, positional, strict=False)]
        return lift(call(*raw, **{name: lower(name, v) for name, v in keywords.items()}))

    async def constant_later(*positional: Any, **keywords: Any) -> Any:
        raw = [lower(name, value) for name, value in zip(names, positional, strict=False)]
        return lift(await call(*raw, **{name: lower(name, v) for name, v in keywords.items()}))

    return constant_later if operation.is_async else constant


def missing_backward(operation: Operation) -> str:
    """What to say of a tracked call without a backward pass."""
    op_set = operation.owner.__name__
    return (
        f"`{operation.label}` was called with a tracked tensor, but it has neither an `Autodiff` "
        f"implementation nor a default body; add `class X({op_set}[AutodiffTensor], on=Autodiff)` "
        f"with `@gradient(...)` on `{operation.name}`, or with `{operation.name} = gradient(None)` "
        "if it has no gradient."
    )


def _lifted(operation: Operation, owner: Any, value: Any, node: Any) -> AutodiffTensor | Any:
    adopted = owner.inner.adopt(value)
    kind = kind_or_none(owner.inner, adopted)
    declared = node.kind if isinstance(node, TensorNode) else kind
    if kind != declared:
        found = f"a tensor of kind {kind}" if kind else f"a {type(adopted).__name__}"
        raise KindError(
            f"`{operation.label}`: its implementation on `{owner.inner}` returned {found} where a "
            f"tensor of kind {declared} is declared."
        )
    return value if kind is None else AutodiffTensor(adopted, None, kind, owner)


def _tracked(
    operation: Operation,
    owner: Any,
    rule: GradientRule,
    function: Callable[..., Any],
    implementation: Any,
) -> Callable[..., Any]:
    plan = RulePlan(
        operation,
        owner,
        function,
        rule.save,
        linker().operation(operation, owner.inner),
        (
            bind_instance(implementation, owner),
            bind_instance(implementation, owner, inner_backend=owner),
        ),
        recomputes=rule.cost == "memory" and owner.recomputes and not operation.is_async,
    )
    if operation.takes_only_bare_tensors and isinstance(operation.returns, TensorNode):
        return _bare_text(plan)
    return _record_later(plan) if operation.is_async else _record(plan)


def _bare_text(plan: RulePlan) -> Callable[..., Any]:
    """Generated text for bare tensors and one tensor output."""
    operation, owner = plan.operation, plan.owner
    tensors = operation.tensor_parameters
    layout = Layout(
        tuple(p.name for p in tensors),
        tuple(_kind_of(p.node) for p in tensors),
        {p.name: Place(index) for index, p in enumerate(tensors)},
    )
    declared = _kind_of(operation.returns)

    def adopt(value: Any) -> Any:
        return _lifted(operation, owner, value, operation.returns).primitive

    text = Text()
    text.names.update(
        _f_call=plan.call, _f_tensor=AutodiffTensor, _f_step=RuleStep, _f_plan=plan,
        _f_layout=layout, _f_owner=owner, _f_keep=keep, _f_unsaved=Unsaved, _f_adopt=adopt,
        _f_native=owner.inner.native, _f_kinds=owner.inner.kinds, _f_tag=owner.inner.tag,
    )  # fmt: skip
    awaited = "await " if operation.is_async else ""
    head = "async def" if operation.is_async else "def"
    text.add(0, f"{head} {operation.name}({parameters_text(operation, text)}):")
    for parameter in tensors:
        text.add(1, f"_p_{parameter.name} = {parameter.name}.primitive")
    values = {p.name: f"_p_{p.name}" for p in tensors}
    arguments = ", ".join(
        f"{p.name}={values.get(p.name, p.name)}" if p.keyword_only else values.get(p.name, p.name)
        for p in operation.parameters
    )
    text.add(1, f"_f_out = {awaited}_f_call({arguments})")
    wrong = f"type(_f_out) is not _f_native or _f_kinds.get(_f_tag(_f_out)) != {declared!r}"
    text.add(1, f"if {wrong}:")
    text.add(2, "_f_out = _f_adopt(_f_out)")
    floats = [p.name for p in tensors if _kind_of(p.node) == "float"]
    untracked = " and ".join(f"{name}.link is None" for name in floats) or "True"
    text.add(1, f"if {untracked if declared == 'float' else 'True'}:")
    text.add(2, f"return _f_tensor(_f_out, None, {declared!r}, _f_owner)")
    parents = "".join(f"{name}.link, " for name in floats)
    kept = "".join(f"{_kept_text(plan, owner, p.name)}, " for p in tensors)
    plain = "".join(f"{name}, " for name in plan.plain)
    results = "(_f_out,)" if plan.keeps_outputs else "None"
    text.add(1, "return _f_tensor(_f_out, _f_step(_f_plan, _f_layout, "
                f"({parents}), ({kept}), ({plain}), {results}, _f_out.shape, _f_out.dtype), "
                f"{declared!r}, _f_owner)")  # fmt: skip
    return text.compile(operation.name, f"autodiff of {operation.label}")


def _kept_text(plan: RulePlan, owner: Any, name: str) -> str:
    if not plan.keeps(name):
        return f"_f_unsaved(_p_{name}.shape, _p_{name}.dtype)"
    return f"_f_keep({name})" if owner.recomputes else f"_p_{name}"


def _kind_of(node: Any) -> Kind:
    return node.kind


class _Call:
    """One structured call, taken apart: leaves by path, skeletons, ordinary arguments."""

    def __init__(self, plan: RulePlan, arguments: dict[str, Any]) -> None:
        self.leaves: list[tuple[str, AutodiffTensor]] = []
        skeletons: dict[str, Any] = {}
        for parameter in plan.operation.tensor_parameters:
            value = arguments[parameter.name]
            start = len(self.leaves)
            for leaf in leaves(value, parameter.node, parameter.name):
                if isinstance(leaf, Leaf) and isinstance(leaf.value, AutodiffTensor):
                    self.leaves.append((leaf.path, leaf.value))
            counter = iter(range(start, len(self.leaves)))
            convert = compile_convert(parameter.node, parameter.name)
            skeletons[parameter.name] = convert(value, lambda v, _, c=counter: _placed(v, c))
        self.layout = Layout(
            tuple(path for path, _ in self.leaves),
            tuple(tensor.kind for _, tensor in self.leaves),
            skeletons,
        )
        self.plain = tuple(arguments[name] for name in plan.plain)
        raw = plan.arguments(self.layout, self.plain, lambda i: self.leaves[i][1].primitive)
        parameters = plan.operation.parameters
        self.positional = [raw[p.name] for p in parameters if not p.keyword_only]
        self.keywords = {p.name: raw[p.name] for p in parameters if p.keyword_only}

    @property
    def parents(self) -> tuple[Node | None, ...]:
        return tuple(t.link for _, t in self.leaves if t.kind == "float")


def _placed(value: Any, counter: Any) -> Any:
    return Place(next(counter)) if isinstance(value, AutodiffTensor) else value


def _record(plan: RulePlan) -> Callable[..., Any]:
    bind = _binder(plan)

    def recorded(*positional: Any, **keywords: Any) -> Any:
        call = _Call(plan, bind(positional, keywords))
        return _finish(plan, call, plan.call(*call.positional, **call.keywords))

    return recorded


def _record_later(plan: RulePlan) -> Callable[..., Any]:
    bind = _binder(plan)

    async def recorded(*positional: Any, **keywords: Any) -> Any:
        call = _Call(plan, bind(positional, keywords))
        return _finish(plan, call, await plan.call(*call.positional, **call.keywords))

    return recorded


def _binder(plan: RulePlan) -> Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]:
    parameters = plan.operation.parameters
    defaults = {p.name: p.default for p in parameters if not p.is_required}
    names = [parameter.name for parameter in parameters]

    def bind(positional: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        return {**defaults, **dict(zip(names, positional, strict=False)), **keywords}

    return bind


def _finish(plan: RulePlan, call: _Call, out: Any) -> Any:
    """Wraps the outputs, float ones as nodes of a new step if any input is tracked."""
    operation, owner = plan.operation, plan.owner
    found = plan.outputs(out)
    floats = [(path, value) for path, kind, value in found if kind == "float"]
    links: dict[str, Node] = {}
    if floats and any(parent is not None for parent in call.parents):
        keeping = [keep(t) if plan.keeps(path) else unsaved(t) for path, t in call.leaves]
        results: Results | None = None
        if plan.keeps_outputs:
            results = {path: (kind, value) for path, kind, value in found if plan.saves(path)}
        first = floats[0][1]
        step = RuleStep(
            plan, call.layout, call.parents, tuple(keeping), call.plain, results,
            first.shape, first.dtype,
        )  # fmt: skip
        nodes = step.split(floats)
        links = {path: node for (path, _), node in zip(floats, nodes, strict=True)}
    paths = iter([path for path, _, _ in found])

    def wrap(value: Any, node: Any) -> Any:
        tensor = _lifted(operation, owner, value, node)
        if isinstance(tensor, AutodiffTensor):
            tensor.link = links.get(next(paths))
        return tensor

    try:
        return compile_convert(operation.returns, operation.label)(out, wrap)
    except (UnusualValueError, TypeError, AttributeError, LookupError) as reason:
        raise KindError(
            f"`{operation.label}`: its implementation on `{owner.inner}` returned a "
            f"{type(out).__name__}, which has not the declared structure ({reason})."
        ) from reason
