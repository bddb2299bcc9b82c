"""Generated text of derived operations: the declaration's signature, and nothing else to interpret.

Parameters keep their names; names that begin with `@` belong to the text, see `opset.Source`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from firebrick.decorators.autodiff.kept import Unsaved, keep
from firebrick.decorators.autodiff.node import AutodiffTensor
from firebrick.decorators.autodiff.rule_plan import Layout, Place, RulePlan, wrong_kind
from firebrick.decorators.autodiff.rule_step import RuleStep
from firebrick.errors import KindError
from firebrick.opset import Operation, Parameter, kind_or_none
from firebrick.opset.dispatch_source import compile_run, parameters_text
from firebrick.opset.nodes import DeviceNode, Node, TensorNode
from firebrick.opset.traversal import Source as Text
from firebrick.opset.traversal import compile_convert

if TYPE_CHECKING:
    from firebrick.core import Kind

Refuse = Callable[[], Exception]


def gathered_text(operation: Operation, run: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Binds a call's arguments as the declaration does; `run` takes them in its order."""
    text = Text()
    text.define(call=run)
    _head(operation, text)
    values = "".join(f"{p.name}, " for p in operation.parameters)
    text.add(1, f"return {_awaited(operation)}@call(({values}))")
    return _compiled(operation, text)


def constant_text(
    operation: Operation, owner: Any, call: Callable[..., Any], refuse: Refuse | None
) -> Any:
    """Runs `call` of the decorated backend; its outputs are untracked.

    `refuse` makes the error for a tracked input; None lets them pass.
    """

    def lower(value: Any, _: Node) -> Any:
        if not isinstance(value, AutodiffTensor):
            return value
        if refuse is not None and value.is_tracked:
            raise refuse()
        return value.primitive

    text = Text()
    text.define(call=call, lower=lower, refuse=refuse)
    _head(operation, text)
    held = [p.name for p in operation.tensor_parameters]
    bare = [p for p in operation.tensor_parameters if p.is_bare_tensor]
    _unwrap(operation, owner, text, bare)
    if refuse is not None and bare:
        tracked = " or ".join(f"{p.name}.link is not None" for p in bare)
        text.add(1, f"if {tracked}:")
        text.add(2, "raise @refuse()")

    def argument(parameter: Parameter) -> str:
        if parameter.is_bare_tensor:
            return f"@p_{parameter.name}"
        if parameter.name in held:
            convert = compile_convert(parameter.node, parameter.name)
            return f"{text.constant(convert, 'convert')}({parameter.name}, @lower)"
        return _plain(parameter)

    _call(operation, text, argument)
    if isinstance(operation.returns, TensorNode):
        kind = _adopt_output(operation, owner, text, operation.returns)
        text.add(1, f"return @tensor(@out, None, {kind!r}, @owner)")
    else:
        text.define(wrap=_wrapping(operation, owner))
        text.add(1, "return @wrap(@out)")
    return _compiled(operation, text)


def rule_text(plan: RulePlan) -> Any:
    """Runs and records an operation of bare tensors and one tensor output."""
    operation, owner = plan.operation, plan.owner
    tensors = operation.tensor_parameters
    names = [p.name for p in tensors]
    kinds: list[Kind] = [_kind_of(p.node) for p in tensors]
    text = Text()
    text.define(
        call=plan.call, step=RuleStep, plan=plan, keep=keep, unsaved=Unsaved,
        layout=Layout(
            tuple(names), tuple(kinds), {name: Place(index) for index, name in enumerate(names)}
        ),
    )  # fmt: skip
    _head(operation, text)
    _unwrap(operation, owner, text, tensors)
    _call(operation, text, lambda p: f"@p_{p.name}" if p.name in names else _plain(p))
    declared = _adopt_output(operation, owner, text, operation.returns)
    floats = [name for name, kind in zip(names, kinds, strict=True) if kind == "float"]
    untracked = " and ".join(f"{name}.link is None" for name in floats)
    text.add(1, f"if {untracked if untracked and declared == 'float' else 'True'}:")
    text.add(2, f"return @tensor(@out, None, {declared!r}, @owner)")
    parents = "".join(f"{name}.link, " for name in floats)
    kept = "".join(f"{_kept(plan, name)}, " for name in names)
    plain = [_plain(p) for p in operation.parameters if p.name in plan.plain]
    ordinary = "".join(f"{value}, " for value in plain)
    results = "{'out': @out}" if plan.keeps_outputs else "None"
    text.add(1, "return @tensor(@out, @step(@plan, @layout, "
                f"({parents}), ({kept}), ({ordinary}), {results}, @out.shape, @out.dtype), "
                f"{declared!r}, @owner)")  # fmt: skip
    return _compiled(operation, text)


def _head(operation: Operation, text: Text) -> None:
    head = "async def" if operation.is_async else "def"
    text.add(0, f"{head} @run({parameters_text(operation, text)}):")


def _compiled(operation: Operation, text: Text) -> Any:
    return compile_run(operation, text, f"autodiff of {operation.label}")


def _awaited(operation: Operation) -> str:
    return "await " if operation.is_async else ""


def _unwrap(operation: Operation, owner: Any, text: Text, parameters: Iterable[Parameter]) -> None:
    """Assigns the decorated backend's tensors to names in `@p_`."""
    if not parameters:
        return

    def misfit(*values: Any) -> KindError:
        names = [p.name for p in parameters]
        name, value = next(
            (n, v) for n, v in zip(names, values, strict=True) if not isinstance(v, AutodiffTensor)
        )
        return KindError(
            f"`{operation.label}` on `{owner}` takes an AutodiffTensor for `{name}`; got a "
            f"{type(value).__name__}. In a recorded backward pass a rule computes with "
            "`self.inner.backend`, never with the primitives themselves."
        )

    text.define(misfit=misfit, error=AttributeError)
    text.add(1, "try:")
    for parameter in parameters:
        text.add(2, f"@p_{parameter.name} = {parameter.name}.primitive")
    text.add(1, "except @error:")
    values = ", ".join(p.name for p in parameters)
    text.add(2, f"raise @misfit({values}) from None")


def _plain(parameter: Parameter) -> str:
    """An ordinary argument; the decorated backend takes a device without autodiff."""
    inner = ".inner()" if isinstance(parameter.node, DeviceNode) else ""
    return f"{parameter.name}{inner}"


def _call(operation: Operation, text: Text, argument: Callable[[Parameter], str]) -> None:
    arguments = ", ".join(
        f"{p.name}={argument(p)}" if p.keyword_only else argument(p) for p in operation.parameters
    )
    text.add(1, f"@out = {_awaited(operation)}@call({arguments})")


def _adopt_output(operation: Operation, owner: Any, text: Text, node: Any) -> Kind:
    """Makes sure that `@out` is a tensor of the declared kind, which is the answer."""
    inner = owner.inner
    declared = _kind_of(node)

    def adopt(value: Any) -> Any:
        adopted = inner.adopt(value)
        if kind_or_none(inner, adopted) != declared:
            raise KindError(wrong_kind(operation, inner, "out", adopted, declared))
        return adopted

    text.define(
        tensor=AutodiffTensor, owner=owner, adopt=adopt,
        native=inner.native, kinds=inner.kinds, tag=inner.tag,
    )  # fmt: skip
    wrong = f"@type(@out) is not @native or @kinds.get(@tag(@out)) != {declared!r}"
    text.add(1, f"if {wrong}:")
    text.add(2, "@out = @adopt(@out)")
    return declared


def _kept(plan: RulePlan, name: str) -> str:
    """An expression for what `kept.py` says of an input."""
    if not plan.keeps(name):
        return f"{name}.link or @unsaved(@p_{name}.shape, @p_{name}.dtype)"
    return f"@keep({name})" if plan.owner.recomputes else f"@p_{name}"


def _kind_of(node: Any) -> Kind:
    return node.kind


def _wrapping(operation: Operation, owner: Any) -> Callable[[Any], Any]:
    """Wraps outputs of any structure as untracked tensors."""
    inner = owner.inner
    convert = compile_convert(operation.returns, operation.label)

    def lift(value: Any, node: Node) -> Any:
        adopted = inner.adopt(value)
        kind = kind_or_none(inner, adopted)
        if isinstance(node, TensorNode) and kind != node.kind:
            raise KindError(wrong_kind(operation, inner, "out", adopted, node.kind))
        return value if kind is None else AutodiffTensor(adopted, None, kind, owner)

    return lambda out: convert(out, lift)
