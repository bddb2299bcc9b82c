"""What the outputs of one call will be: forms and dimensions, evaluated.

`output_specs` needs no tensors, only their specs; `mismatch` compares its answer with what a
backend returned.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from firebrick.core import DType, Shape, TensorSpec
from firebrick.errors import FusionFormError, ShapeError
from firebrick.opset.binding import bind
from firebrick.opset.leaves import Leaf, Misfit, describe_node, leaves
from firebrick.opset.metadata import outputs_bound
from firebrick.opset.nodes import (
    DictNode,
    ListNode,
    OptionalNode,
    PlainNode,
    StructNode,
    TensorNode,
    TupleNode,
    UnionNode,
    option_of_kind,
    struct_fields,
    tensor_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from firebrick.core import Kind
    from firebrick.opset.binding import Binding, Operand
    from firebrick.opset.nodes import Node
    from firebrick.opset.signature import Operation


def output_specs(operation: Operation, arguments: Mapping[str, Any]) -> Any:
    """The outputs of a call as a nest of `TensorSpec`s, structs of them for structs.

    Args:
        operation: One with a form that describes its outputs.
        arguments: By parameter name, with a `TensorSpec` in place of every tensor.

    Raises:
        FusionFormError: the form runs the default body, is synchronising, is missing, or gives
            something else than the outputs are declared to be.
        ShapeError, DTypeError: what the form itself finds wrong with the arguments.
    """
    form = operation.form
    if form is None or form.name == "dims":
        return _specs_of_dims(operation, arguments)
    if form.dtype is not None and form.shape is not None:
        shape = _pick(operation, form.shape, arguments, lambda spec: spec.shape)
        dtype = _pick(operation, form.dtype, arguments, lambda spec: spec.dtype)
        specs: Any = _spec(operation, shape, dtype)
    elif form.meta is not None:
        specs = _pick(operation, form.meta, arguments, lambda spec: spec)
    else:
        raise FusionFormError(f"`{operation.label}` does not describe its outputs beforehand.")
    _check_specs(operation, specs)
    return specs


def _spec(operation: Operation, shape: Any, dtype: Any) -> TensorSpec:
    if not isinstance(dtype, DType):
        raise FusionFormError(f"`dtype` of `{operation.label}` gives {dtype!r}, which is no dtype.")
    try:
        return TensorSpec(Shape(shape), dtype)
    except TypeError:
        raise FusionFormError(
            f"`shape` of `{operation.label}` gives {shape!r}, which is no shape."
        ) from None


def _check_specs(operation: Operation, specs: Any) -> None:
    """`FusionFormError` unless a form gives specs where tensors are declared."""
    for place in leaves(specs, operation.returns, "out"):
        if isinstance(place, Misfit):
            raise FusionFormError(
                f"the form of `{operation.label}` gives {place.value!r} where `{place.path}` is "
                f"declared {place.expected}."
            )
        spec = place.value
        kind = spec.dtype.kind if isinstance(spec, TensorSpec) else None
        if option_of_kind(place.node, kind) is None:
            raise FusionFormError(
                f"the form of `{operation.label}` gives {spec!r} where `{place.path}` is declared "
                f"{describe_node(place.node)}."
            )


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
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in inspect.signature(field).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = operand(name)
        else:
            positional.append(operand(name))
    return field(*positional, **keywords)


def _seen_through(value: Any, node: Node, view: Callable[[TensorSpec], Any]) -> Any:
    if value is None:
        return None
    match node:
        case TensorNode() | UnionNode() if isinstance(value, TensorSpec):
            return view(value)
        case OptionalNode(inner):
            return _seen_through(value, inner, view)
        case ListNode(inner) | TupleNode((inner,), variadic=True):
            return [_seen_through(item, inner, view) for item in value]
        case TupleNode(items):
            pairs = zip(value, items, strict=True)
            return tuple(_seen_through(item, child, view) for item, child in pairs)
        case DictNode(inner):
            return {key: _seen_through(item, inner, view) for key, item in value.items()}
        case _:
            return value


def bind_inputs(found: Sequence[Leaf]) -> Binding:
    """Binds the dimensions of all inputs, each struct in a scope of its own.

    `Leaf.value` is a tensor of any sort that knows shape and dtype. Returns the outermost scope.
    `ShapeError` for what does not fit.
    """
    scopes = operands_by_scope(found)
    outermost = scopes.pop("", [])
    for operands in scopes.values():
        bind(operands)
    return bind(outermost)


def operands_by_scope(found: Sequence[Leaf]) -> dict[str, list[Operand]]:
    """The tensors that have annotated dimensions, by the path of the struct around."""
    scopes: dict[str, list[Operand]] = {}
    for leaf in found:
        option = option_of_kind(leaf.node, kind_of(leaf.value))
        if option is not None and option.dims is not None:
            operand = (leaf.path, option.dims, tuple(leaf.value.shape))
            scopes.setdefault(leaf.scope, []).append(operand)
    return scopes


def kind_of(tensor: Any) -> Kind:
    """The kind of a spec, or of a tensor that knows its own."""
    return tensor.dtype.kind if isinstance(tensor, TensorSpec) else tensor.kind


def _specs_of_dims(operation: Operation, arguments: Mapping[str, Any]) -> Any:
    if not outputs_bound(operation):
        raise FusionFormError(f"`{operation.label}` does not describe its outputs beforehand.")
    found = [
        leaf
        for parameter in operation.tensor_parameters
        for leaf in leaves(arguments[parameter.name], parameter.node, parameter.name)
        if isinstance(leaf, Leaf) and isinstance(leaf.value, TensorSpec)
    ]
    binding = bind_inputs(found)
    dtypes: dict[str, DType] = {}
    for leaf in found:
        dtypes.setdefault(kind_of(leaf.value), leaf.value.dtype)

    def spec(node: Node, path: str) -> Any:
        if isinstance(node, TupleNode):
            return tuple(spec(item, f"{path}.{i}") for i, item in enumerate(node.items))
        (tensor,) = tensor_options(node)
        shape = None if tensor.dims is None else binding.shape(tensor.dims, path)
        if shape is None:
            raise ShapeError(f"the dimensions of `{path}` are not known from these inputs.")
        return TensorSpec(shape, dtypes[tensor.kind])

    return spec(operation.returns, "out")


def mismatch(
    declared: Any, found: Any, node: Node, look: Callable[[Any], TensorSpec], path: str = "out"
) -> str | None:
    """The first difference between declared and actual outputs as a sentence, or None.

    `look` gives the spec of an actual tensor. Variants, shapes, dtypes and ordinary fields of
    structs are compared.
    """
    if isinstance(declared, TensorSpec) and not isinstance(node, PlainNode):
        actual = look(found)
        if actual == declared:
            return None
        return f"`{path}` is declared as {declared} but the backend returned {actual}"
    if isinstance(node, OptionalNode) and declared is not None and found is not None:
        return mismatch(declared, found, node.inner, look, path)
    parts = _parts(declared, node)
    if parts is None:
        if declared is found or declared == found:
            return None
        return f"`{path}` is declared as {declared!r} but is {found!r}"
    if isinstance(node, StructNode | UnionNode) and type(declared) is not type(found):
        names = type(declared).__name__, type(found).__name__
        return f"`{path}` is declared as `{names[0]}` but is `{names[1]}`"
    others = _parts(found, node) or {}
    if list(parts) != list(others):
        return f"`{path}` is declared with {len(parts)} items, got {len(others)}"
    differences = (
        mismatch(item, others[name][0], child, look, f"{path}.{name}")
        for name, (item, child) in parts.items()
    )
    return next((difference for difference in differences if difference is not None), None)


def _parts(value: Any, node: Node) -> dict[str, tuple[Any, Node]] | None:
    """The direct parts of a structure by name; None for a value without any."""
    fields = struct_fields(value)
    if fields is not None and isinstance(node, StructNode | UnionNode):
        return {name: (getattr(value, name), child) for name, child in fields.items()}
    match node:
        case DictNode(inner):
            return {name: (item, inner) for name, item in value.items()}
        case ListNode(inner) | TupleNode((inner,), variadic=True):
            return {str(i): (item, inner) for i, item in enumerate(value)}
        case TupleNode(items):
            pairs = zip(value, items, strict=False)
            return {str(i): (item, child) for i, (item, child) in enumerate(pairs)}
        case _:
            return None
