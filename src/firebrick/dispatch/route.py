"""The routing rules: who executes a call. Every routing error is made here.

1. The tensor leaves of all arguments count, in declaration order, depth first.
2. The routing tensor is the first float leaf; without one, the first leaf. Without any leaf a
   `Device` parameter routes, or the one execution selector of an operation that takes no tensors.
3. All leaves belong to the backend of the routing tensor, and live on its device.
4. Autodiff contexts of all leaves merge: plain and tracked give tracked, two strategies an error.
5. Context on and a float among the inputs: the `Autodiff` implementation. No float: the concrete
   one, its outputs untracked. `Autodiff` not listed: an error.
6. The backend is listed with a condition that holds, and somebody implemented it.
7. Every output carries the merged context.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firebrick.core import Device, DispatchTensor
from firebrick.decorators.autodiff import Autodiff, autodiff_of
from firebrick.dispatch.registry import backend_for, instance_of
from firebrick.dispatch.resolution import check_listed, missing_body, resolve
from firebrick.errors import (
    BackendMismatchError,
    CheckpointingMismatchError,
    DeviceError,
    KindError,
    NoTensorInputError,
)
from firebrick.opset import Misfit, NoDefault, describe_node, describe_value, is_user_tensor, leaves
from firebrick.opset.nodes import option_of_kind, takes_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firebrick.opset import Dispatcher, Entry, Leaf, Operation
    from firebrick.opset.nodes import Node


@dataclass(frozen=True, slots=True)
class Route:
    """Where a call goes: the backend with its context, and whether a float is among the inputs."""

    backend: Any
    float_input: bool


def route(dispatcher: Dispatcher, arguments: Mapping[str, Any]) -> Any:
    """Executes a call by the rules."""
    operation = dispatcher.operation
    found = find_route(operation, arguments)
    entry = entry_of(dispatcher, found)
    lifted = tuple(
        _lifted(dispatcher, index, value, found.backend)
        for index, value in enumerate(arguments.values())
    )
    if operation.is_async:
        return _awaited(operation, dispatcher.run(entry, found.backend, lifted), found.backend)
    try:
        return dispatcher.run(entry, found.backend, lifted)
    except NoDefault as reason:
        raise missing_body(operation, found.backend, reason) from reason


async def _awaited(operation: Operation, running: Any, backend: Any) -> Any:
    try:
        return await running
    except NoDefault as reason:
        raise missing_body(operation, backend, reason) from reason


def entry_of(dispatcher: Dispatcher, found: Route) -> Entry:
    """The implementation that a route leads to; the errors of rules 5 and 6."""

    def resolved() -> Callable[..., Any]:
        return resolve(dispatcher.operation, found.backend, float_input=found.float_input)

    return dispatcher.entry(found.backend, resolved, float_input=found.float_input)


def find_route(operation: Operation, arguments: Mapping[str, Any]) -> Route:
    """Rules 1 to 4."""
    found = collect(operation, arguments)
    if not found:
        return _route_without_tensors(operation, arguments)
    floats = [leaf for leaf in found if leaf.value.kind == "float"]
    routing = floats[0] if floats else found[0]
    base = execution_backend(routing.value.backend)
    for leaf in found:
        _check_backend(operation, leaf, routing, base)
    return Route(_merge(operation, found, base), bool(floats))


def collect(operation: Operation, arguments: Mapping[str, Any]) -> list[Leaf]:
    """Rule 1: the tensor leaves; `KindError` for values that are not what is declared."""
    tensors: list[Leaf] = []
    for parameter in operation.parameters:
        for place in leaves(arguments[parameter.name], parameter.node, parameter.name):
            if isinstance(place, Misfit):
                raise KindError(
                    f"`{operation.label}`: `{place.path}` is declared {place.expected}; got "
                    f"{_describe(place.value)}."
                )
            if _is_tensor(operation, place):
                tensors.append(place)
        if parameter.refuses_tensors:
            _check_ordinary(operation, parameter.name, arguments[parameter.name])
    return tensors


def _check_ordinary(operation: Operation, name: str, value: Any) -> None:
    """A tensor in an ordinary argument would pass unseen, and its gradient would be lost."""
    if isinstance(value, DispatchTensor) or is_user_tensor(value):
        raise KindError(
            f"`{operation.label}`: `{name}` is declared an ordinary argument; got "
            f"{_describe(value)}. Declare it `FloatTensor[P]`, or pass a number such as "
            "`x.item()`."
        )


def _is_tensor(operation: Operation, place: Leaf) -> bool:
    """Whether a leaf holds a tensor, and not an ordinary value that it may hold instead."""
    value = place.value
    if isinstance(value, DispatchTensor):
        if option_of_kind(place.node, value.kind) is not None:
            return True
    elif takes_plain(place.node) and not is_user_tensor(value):
        return False
    raise KindError(
        f"`{operation.label}`: `{place.path}` is declared {describe_node(place.node)}; got "
        f"{_describe(value)}."
    )


def _describe(value: object) -> str:
    if isinstance(value, DispatchTensor):
        return f"a tensor of kind {value.kind}"
    if is_user_tensor(value):
        return "a user `Tensor`; convert it with `.into_dispatch()` or `into_dispatch(...)`"
    return describe_value(value)


def _route_without_tensors(operation: Operation, arguments: Mapping[str, Any]) -> Route:
    """Rule 2 without a tensor."""
    parameter = operation.device_parameter
    if parameter is not None:
        device = arguments[parameter.name]
        if not isinstance(device, Device):
            raise KindError(
                f"`{operation.label}`: `{parameter.name}` takes a Device; got {_describe(device)}."
            )
        return Route(backend_for(device), float_input=False)
    if operation.tensor_parameters:
        names = ", ".join(f"`{p.name}`" for p in operation.tensor_parameters)
        raise NoTensorInputError(
            f"`{operation.label}` was called without any tensor, so nothing chooses a backend; at "
            f"least one of {names} must hold a tensor."
        )
    listed = operation.owner.__selectors__ or {}
    (selector,) = (known for known in listed if known.role == "execution")
    check_listed(operation, selector)
    return Route(instance_of(selector.name), float_input=False)


def execution_backend(backend: Any) -> Any:
    """The backend under the autodiff decorator, if there is one."""
    return backend.inner if isinstance(backend, Autodiff) else backend


def _check_backend(operation: Operation, leaf: Leaf, routing: Leaf, base: Any) -> None:
    """Rule 3."""
    found = execution_backend(leaf.value.backend)
    if found is not base:
        raise BackendMismatchError(
            f"`{operation.label}`: `{routing.path}` is on backend `{base}`, `{leaf.path}` on "
            f"`{found}`; a call needs tensors of one backend, move one with `.to(device)`."
        )
    if base.has_many_devices:
        here, there = leaf.value.device, routing.value.device
        if here != there:
            raise DeviceError(
                f"`{operation.label}`: `{routing.path}` is on device `{there.inner()}`, "
                f"`{leaf.path}` on `{here.inner()}`; move one with `.to(device)`."
            )


def _merge(operation: Operation, found: list[Leaf], base: Any) -> Any:
    """Rule 4."""
    tracked = [leaf for leaf in found if leaf.value.is_autodiff]
    if not tracked:
        return base
    first = tracked[0]
    strategy = first.value.backend.checkpointing
    for leaf in tracked:
        other = leaf.value.backend.checkpointing
        if other is not strategy:
            raise CheckpointingMismatchError(
                f"`{operation.label}`: `{first.path}` has strategy {strategy.__name__}, "
                f"`{leaf.path}` has {other.__name__}; tensors of one call share a strategy."
            )
    return autodiff_of(base, strategy)


def _lifted(dispatcher: Dispatcher, index: int, value: Any, backend: Any) -> Any:
    """An argument with its plain tensors put into the merged context, as constants."""
    if not isinstance(backend, Autodiff):
        return value

    def lift(leaf: Any, node: Node) -> Any:
        return backend.lift(leaf) if isinstance(leaf, DispatchTensor) else leaf

    return dispatcher.convert_argument(index, value, lift)
