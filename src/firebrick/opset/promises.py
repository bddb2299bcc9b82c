"""What annotated dimensions promise of the outputs of a call, and whether it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from firebrick.core import DispatchTensor
from firebrick.errors import MetadataMismatchError, ShapeError, TensorError
from firebrick.opset.binding import bind
from firebrick.opset.leaves import Leaf, leaves
from firebrick.opset.nodes import TensorNode, option_of_kind, tensor_nodes
from firebrick.opset.specs import bind_inputs, operands_by_scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.core import Kind
    from firebrick.opset.backend_root import BackendRoot
    from firebrick.opset.binding import Binding
    from firebrick.opset.signature import Operation


class Expected(NamedTuple):
    """What the inputs of a call say of its outputs.

    `shape` and `dtype` are those of a single output tensor, None where nothing is said. Dtypes
    are the backend's own, by kind.
    """

    shape: tuple[int, ...] | None = None
    dtype: Any = None
    binding: Binding | None = None
    dtypes: dict[Kind, Any] | None = None


NOTHING = Expected()


def expect(operation: Operation, arguments: Sequence[Any]) -> Expected:
    """Binds the dimensions of a call; `ShapeError` with the operation's name in front."""
    found = [
        leaf
        for parameter, value in zip(operation.parameters, arguments, strict=True)
        for leaf in leaves(value, parameter.node, parameter.name)
        if isinstance(leaf, Leaf) and isinstance(leaf.value, DispatchTensor)
    ]
    dtypes: dict[Kind, Any] = {}
    if operation.promises_dtype:
        for leaf in found:
            dtypes.setdefault(leaf.value.kind, leaf.value.primitive.dtype)
    node = operation.returns
    shape = None
    try:
        binding = bind_inputs(found)
        if isinstance(node, TensorNode) and node.dims is not None:
            shape = binding.shape(node.dims, "out")
    except TensorError as fact:
        raise type(fact)(f"`{operation.label}`: {fact}") from None
    dtype = dtypes.get(node.kind) if isinstance(node, TensorNode) and shape is not None else None
    return Expected(shape, dtype, binding, dtypes)


def has_promises(operation: Operation) -> bool:
    """Whether outputs have annotated dimensions."""
    return any(tensor.dims is not None for tensor in tensor_nodes(operation.returns))


def check_promises(
    operation: Operation, backend: BackendRoot, wrapped: Any, expected: Expected
) -> None:
    """`MetadataMismatchError` for outputs of other dimensions than annotated."""
    found = [leaf for leaf in leaves(wrapped, operation.returns, "out") if isinstance(leaf, Leaf)]
    tensors = [leaf for leaf in found if isinstance(leaf.value, DispatchTensor)]
    for leaf in tensors:
        if leaf.scope == "":
            _check_leaf(operation, backend, leaf, expected)
    start = f"`{operation.label}`: its implementation on `{backend}` returned a struct whose "
    for scope, operands in operands_by_scope(tensors).items():
        try:
            if scope:
                bind(operands)
        except ShapeError as fact:
            raise MetadataMismatchError(f"{start}dimensions disagree: {fact}") from None


def _check_leaf(operation: Operation, backend: BackendRoot, leaf: Leaf, expected: Expected) -> None:
    option = option_of_kind(leaf.node, leaf.value.kind)
    if option is None or option.dims is None or expected.binding is None:
        return
    shape = expected.binding.shape(option.dims, leaf.path)
    dtype = (expected.dtypes or {}).get(option.kind)
    primitive = leaf.value.primitive
    fits = shape is None or tuple(primitive.shape) == shape
    if fits and (shape is None or dtype is None or primitive.dtype == dtype):
        return
    declared, found = f"shape {list(shape or ())}", f"shape {list(primitive.shape)}"
    if dtype is not None:
        declared, found = f"{declared} and dtype {dtype}", f"{found} and dtype {primitive.dtype}"
    raise MetadataMismatchError(
        f"`{operation.label}` declares `{leaf.path}` with {declared} by its annotated dimensions, "
        f"but its implementation on `{backend}` returned {found}."
    )
