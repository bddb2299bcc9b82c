"""What the outputs of a call will be: forms checked against signatures, then evaluated.

`output_specs` needs no tensors, only their specs; `mismatch` compares its answer with what a
backend returned.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from firebrick.core import DType, Shape, TensorSpec
from firebrick.errors import FusionFormError, SignatureError
from firebrick.opset.dims import (
    ELLIPSIS,
    Binding,
    Dims,
    bind,
    expression_names,
    names_bound,
    names_needed,
)
from firebrick.opset.nodes import (
    DeviceNode,
    DictNode,
    ListNode,
    Node,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    holds_tensors,
    tensor_nodes,
)
from firebrick.opset.signature import Operation
from firebrick.opset.traversal import Leaf, leaves


def check_dims(operation: Operation) -> None:
    """`SignatureError` for names of dimensions that no input binds."""
    bound: set[str] = set()
    for parameter in operation.tensor_parameters:
        for dims in _direct_dims(parameter.node):
            bound |= names_bound(dims)
    used = {n for p in operation.tensor_parameters for d in _direct_dims(p.node)
            for n in expression_names(d)}  # fmt: skip
    used |= {n for d in _direct_dims(operation.returns) for n in names_needed(d)}
    unknown = sorted(used - bound - {ELLIPSIS})
    if unknown:
        raise SignatureError(
            f"`{operation.label}` uses the dimension `{unknown[0]}`, which no input binds; inputs "
            f"bind {', '.join(sorted(bound)) or 'none'}."
        )


def _direct_dims(node: Node) -> list[Dims]:
    """Dimensions outside of structs, whose names are their own."""
    match node:
        case TensorNode(dims=dims):
            return [] if dims is None else [dims]
        case OptionalNode(inner) | ListNode(inner) | DictNode(inner):
            return _direct_dims(inner)
        case TupleNode(items) | UnionNode(items):
            return [dims for item in items for dims in _direct_dims(item)]
        case _:
            return []


def outputs_bound(operation: Operation) -> bool:
    """Whether annotated dimensions and dtypes of the inputs give all output specs."""
    dims = [d for p in operation.tensor_parameters for d in _direct_dims(p.node)]
    ellipses = sum(ELLIPSIS in names_bound(d) for d in dims)
    kinds = {n.kind for p in operation.tensor_parameters for n in tensor_nodes(p.node)}

    def is_bound(node: Node) -> bool:
        match node:
            case TensorNode(kind, dims) if dims is not None:
                return kind in kinds and (ELLIPSIS not in names_needed(dims) or ellipses == 1)
            case TupleNode(items, variadic=False):
                return all(is_bound(item) for item in items)
            case _:
                return False

    return is_bound(operation.returns) and not operation.is_async


def is_lazy(node: Node) -> bool:
    """Whether an output can be described before it exists: tensors, structs, tuples of them."""
    match node:
        case TensorNode():
            return True
        case StructNode():
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
    match form.name:
        case "sync":
            return
        case "default":
            if not operation.has_default:
                raise FusionFormError(
                    f"`@fusion(default=True)` on `{operation.label}` needs a default body; the "
                    "body raises NoDefault."
                )
        case "dims":
            if not outputs_bound(operation):
                raise FusionFormError(
                    f"`@fusion(id=...)` on `{operation.label}` has no dtype and shape, and the "
                    "inputs do not bind annotated dimensions of the output; add a form."
                )
        case _:
            _check_lazy(operation)
            _check_operands(operation)


def _check_lazy(operation: Operation) -> None:
    if operation.is_async or not is_lazy(operation.returns):
        what = "is async" if operation.is_async else "returns something that is no tensor"
        raise FusionFormError(
            f"`{operation.label}` {what}, so it cannot be lazy: put plain values into an "
            "ExtensionType, or use `@fusion(sync=True)`."
        )
    single = isinstance(operation.returns, TensorNode)
    if operation.form is not None and operation.form.name == "fields" and not single:
        raise FusionFormError(
            f"dtype and shape describe a single tensor, and `{operation.label}` returns more; "
            "use `@fusion(meta=...)`."
        )


def _check_operands(operation: Operation) -> None:
    form = operation.form
    names = [parameter.name for parameter in operation.parameters]
    fields = () if form is None else ("dtype", "shape", "meta")
    for field in fields:
        value = getattr(form, field)
        if value is None:
            continue
        operands = (value,) if isinstance(value, str) else inspect.signature(value).parameters
        for operand in operands:
            if operand not in names:
                close = difflib.get_close_matches(operand, names, n=1)
                hint = f"; did you mean `{close[0]}`?" if close else ""
                raise FusionFormError(
                    f"`@fusion({field}=...)` on `{operation.label}` names `{operand}`, which is no "
                    f"input{hint} Inputs are {', '.join(names)}."
                )


def output_specs(operation: Operation, arguments: Mapping[str, Any]) -> Any:
    """The outputs of a call as a nest of `TensorSpec`s, structs of them for structs.

    Args:
        operation: One with a form that describes its outputs.
        arguments: By parameter name, with a `TensorSpec` in place of every tensor.

    Raises:
        FusionFormError: the form runs the default body, is synchronising, or is missing.
        ShapeError, DTypeError: what the form itself finds wrong with the arguments.
    """
    form = operation.form
    if form is None or form.name == "dims":
        return _specs_of_dims(operation, arguments)
    if form.name == "fields" and form.dtype is not None and form.shape is not None:
        shape = _pick(operation, form.shape, arguments, lambda spec: spec.shape)
        dtype = _pick(operation, form.dtype, arguments, lambda spec: spec.dtype)
        return TensorSpec(Shape(shape), dtype)
    if form.meta is not None:
        return _pick(operation, form.meta, arguments, lambda spec: spec)
    raise FusionFormError(f"`{operation.label}` does not describe its outputs beforehand.")


def _pick(
    operation: Operation,
    field: str | Callable[..., Any],
    arguments: Mapping[str, Any],
    view: Callable[[TensorSpec], Any],
) -> Any:
    nodes = {parameter.name: parameter.node for parameter in operation.parameters}

    def operand(name: str) -> Any:
        return _seen_through(arguments[name], nodes[name], view)

    if isinstance(field, str):
        return operand(field)
    return field(*(operand(name) for name in inspect.signature(field).parameters))


def _seen_through(value: Any, node: Node, view: Callable[[TensorSpec], Any]) -> Any:
    if isinstance(value, TensorSpec):
        return view(value)
    match node:
        case ListNode(inner) | TupleNode((inner,), variadic=True) if holds_tensors(node):
            return [_seen_through(item, inner, view) for item in value]
        case TupleNode(items):
            pairs = zip(value, items, strict=True)
            return tuple(_seen_through(item, child, view) for item, child in pairs)
        case DictNode(inner):
            return {key: _seen_through(item, inner, view) for key, item in value.items()}
        case OptionalNode(inner) if value is not None:
            return _seen_through(value, inner, view)
        case _:
            return value


def bind_inputs(operation: Operation, found: list[Leaf]) -> Binding:
    """Binds the dimensions of all inputs, each struct in a scope of its own.

    `Leaf.value` has a `.shape`. Returns the outermost scope. `ShapeError` for what does not fit.
    """
    scopes: dict[str, list[tuple[str, Dims, tuple[int, ...]]]] = {"": []}
    for leaf in found:
        dims = getattr(leaf.node, "dims", None)
        if dims is not None:
            operand = (leaf.path, dims, tuple(leaf.value.shape))
            scopes.setdefault(leaf.scope, []).append(operand)
    bindings = {scope: bind(operands) for scope, operands in scopes.items()}
    return bindings[""]


def _specs_of_dims(operation: Operation, arguments: Mapping[str, Any]) -> Any:
    if not outputs_bound(operation):
        raise FusionFormError(f"`{operation.label}` does not describe its outputs beforehand.")
    found = [
        leaf
        for parameter in operation.tensor_parameters
        for leaf in leaves(arguments[parameter.name], parameter.node, parameter.name)
        if isinstance(leaf, Leaf)
    ]
    binding = bind_inputs(operation, found)
    dtypes: dict[str, DType] = {}
    for leaf in found:
        dtypes.setdefault(leaf.value.dtype.kind, leaf.value.dtype)

    def spec(node: Node) -> Any:
        match node:
            case TensorNode(kind, dims) if dims is not None:
                return TensorSpec(binding.shape(dims), dtypes[kind])
            case TupleNode(items):
                return tuple(spec(item) for item in items)
            case _:
                raise FusionFormError(f"`{operation.label}` has an output without dimensions.")

    return spec(operation.returns)


def mismatch(
    declared: Any, found: Any, node: Node, look: Callable[[Any], TensorSpec], path: str = "out"
) -> str | None:
    """The first difference between declared and actual outputs as a sentence, or None.

    `look` gives the spec of an actual tensor. Variants, shapes, dtypes and ordinary fields of
    structs are compared.
    """
    if isinstance(declared, TensorSpec):
        actual = look(found)
        if actual == declared:
            return None
        return f"`{path}` is declared as {declared} but the backend returned {actual}"
    match node:
        case TupleNode(items):
            if len(declared) != len(found):
                return f"`{path}` is declared with {len(declared)} items, got {len(found)}"
            parts = [(str(i), declared[i], found[i], child) for i, child in enumerate(items)]
        case StructNode() | UnionNode():
            if type(declared) is not type(found):
                names = type(declared).__name__, type(found).__name__
                return f"`{path}` is declared as `{names[0]}` but is `{names[1]}`"
            parts = [
                (name, getattr(declared, name), getattr(found, name), child)
                for name, child in type(found).__nodes__().items()
            ]
        case PlainNode() | DeviceNode():
            if declared is found or declared == found:
                return None
            return f"`{path}` is declared as {declared!r} but is {found!r}"
        case _:
            return f"`{path}` is declared as {declared!r}, which is no spec"
    differences = (mismatch(d, f, child, look, f"{path}.{name}") for name, d, f, child in parts)
    return next((difference for difference in differences if difference is not None), None)
