"""What is said of outputs before a call: forms and dimensions, checked against signatures.

What they say for the arguments of a call is worked out in `specs.py`.
"""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from firebrick.errors import FusionFormError, SignatureError
from firebrick.opset.dims import ELLIPSIS, names_bound, names_needed, unbound_name
from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    always_holds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from firebrick.opset.dims import Dims
    from firebrick.opset.forms import FusionForm
    from firebrick.opset.nodes import Node
    from firebrick.opset.signature import Operation


def check_dims(operation: Operation) -> None:
    """`SignatureError` for names of dimensions that no input binds."""
    inputs = [d for p in operation.tensor_parameters for d in scoped_dims(p.node)]
    unknown = unbound_name(inputs, scoped_dims(operation.returns))
    if unknown is not None:
        bound = sorted({name for dims in inputs for name in names_bound(dims)})
        raise SignatureError(
            f"`{operation.label}` uses the dimension `{unknown}`, which no input binds; inputs "
            f"bind {', '.join(bound) or 'none'}."
        )


def scoped_dims(node: Node) -> list[Dims]:
    """Dimensions outside of structs, whose names are their own."""
    match node:
        case TensorNode(dims=dims):
            return [] if dims is None else [dims]
        case OptionalNode(inner) | ListNode(inner) | DictNode(inner):
            return scoped_dims(inner)
        case TupleNode(items) | UnionNode(items):
            return [dims for item in items for dims in scoped_dims(item)]
        case _:
            return []


def _certain_dims(node: Node) -> list[Dims]:
    """Dimensions of tensors that are there in every call."""
    match node:
        case TensorNode(dims=dims):
            return [] if dims is None else [dims]
        case TupleNode(items, variadic=False):
            return [dims for item in items for dims in _certain_dims(item)]
        case _:
            return []


def outputs_bound(operation: Operation) -> bool:
    """Whether annotated dimensions and dtypes of the inputs give all output specs, in any call."""
    nodes = [parameter.node for parameter in operation.tensor_parameters]
    certain = {name for node in nodes for dims in _certain_dims(node) for name in names_bound(dims)}
    possible = [dims for node in nodes for dims in scoped_dims(node)]
    if sum(ELLIPSIS in names_bound(dims) for dims in possible) != 1:
        certain.discard(ELLIPSIS)

    def is_bound(node: Node) -> bool:
        match node:
            case TensorNode(kind, dims) if dims is not None:
                has_dtype = any(always_holds(given, kind) for given in nodes)
                is_whole = all(term.kind != "any" for term in dims.terms)
                return has_dtype and is_whole and names_needed(dims) <= certain
            case TupleNode(items, variadic=False):
                return all(is_bound(item) for item in items)
            case _:
                return False

    return not operation.is_async and is_bound(operation.returns)


def is_lazy(node: Node) -> bool:
    """Whether an output can be described before it exists: tensors, structs, tuples of them."""
    match node:
        case TensorNode() | StructNode():
            return True
        case UnionNode(options):
            return all(isinstance(option, StructNode) for option in options)
        case TupleNode(items, variadic=False):
            return all(is_lazy(item) for item in items)
        case _:
            return False


def check_form(operation: Operation, *, required: bool) -> None:
    """`FusionFormError` unless the operation has one form that fits its signature."""
    form = operation.form
    if form is None:
        if required and not outputs_bound(operation):
            raise FusionFormError(
                f"`{operation.label}` has no `@fusion(...)` form, which the selector `Fusion` "
                "needs; add dtype and shape, meta, default=True or sync=True, or annotate the "
                "output with dimensions that the inputs bind."
            )
        return
    if form.name == "default" and not operation.has_default:
        raise FusionFormError(
            f"`@fusion(default=True)` on `{operation.label}` needs a default body; the body "
            "raises NoDefault."
        )
    if form.name == "dims" and not outputs_bound(operation):
        raise FusionFormError(
            f"`@fusion(id=...)` on `{operation.label}` has no dtype and shape, and the inputs do "
            "not bind annotated dimensions of the output; add a form."
        )
    if form.name in ("fields", "meta"):
        _check_lazy(operation, form)
        _check_operands(operation, form)


def _check_lazy(operation: Operation, form: FusionForm) -> None:
    if operation.is_async or not is_lazy(operation.returns):
        what = "is async" if operation.is_async else "returns something that is no tensor"
        raise FusionFormError(
            f"`{operation.label}` {what}, so it cannot be lazy: put plain values into an "
            "ExtensionType, or use `@fusion(sync=True)`."
        )
    if form.name == "fields" and not isinstance(operation.returns, TensorNode):
        raise FusionFormError(
            f"dtype and shape describe a single tensor, and `{operation.label}` returns more; "
            "use `@fusion(meta=...)`."
        )


def _check_operands(operation: Operation, form: FusionForm) -> None:
    nodes = {parameter.name: parameter.node for parameter in operation.parameters}
    for field in ("dtype", "shape", "meta"):
        value = getattr(form, field)
        if value is None:
            continue
        where = f"`@fusion({field}=...)` on `{operation.label}`"
        for operand in (value,) if isinstance(value, str) else _operands(value, where):
            if operand not in nodes:
                raise FusionFormError(f"{where} names `{operand}`, {_no_input(operand, nodes)}")
        if isinstance(value, str) and not isinstance(nodes[value], TensorNode | PlainNode):
            raise FusionFormError(
                f"{where} copies `{value}`, which is not one tensor; give a callable instead."
            )


def _operands(function: Any, where: str) -> Iterable[str]:
    """The operands that a callable asks for by its parameter names."""
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        raise FusionFormError(
            f"{where} is {function!r}, whose parameter names cannot be read; use a lambda."
        ) from None


def _no_input(operand: str, nodes: Iterable[str]) -> str:
    close = difflib.get_close_matches(operand, list(nodes), n=1)
    hint = f" Did you mean `{close[0]}`?" if close else ""
    return f"which is no input; inputs are {', '.join(nodes)}.{hint}"
