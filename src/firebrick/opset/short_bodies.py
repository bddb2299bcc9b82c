"""Functions on user tensors as methods of an op set: default bodies and gradient rules.

Methods of op sets work on a backend's own tensors. Here they wrap these for the author's function
and unwrap what it returns.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from firebrick.core import DispatchTensor, TensorSpec
from firebrick.errors import BackendMismatchError, GradientError
from firebrick.opset.bridge import from_dispatch, into_dispatch, replace_leaves
from firebrick.opset.dispatcher import kind_or_none
from firebrick.opset.traversal import UnusualValueError, compile_convert

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

    from firebrick.opset.gradient import Grads
    from firebrick.opset.nodes import Node
    from firebrick.opset.signature import Operation
    from firebrick.opset.traversal import Convert


def method_like(call: Callable[..., Any], function: Any) -> FunctionType:
    """A method that runs `call(self, ...)` with the name and parameters of `function`."""

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return call(self, *args, **kwargs)

    async def method_later(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await call(self, *args, **kwargs)

    made: Any = method_later if inspect.iscoroutinefunction(function) else method
    functools.update_wrapper(made, function)
    signature = inspect.signature(function)
    first = next(iter(signature.parameters.values()), None)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if first is not None and first.kind is first.POSITIONAL_ONLY:
        kind = first.kind
    own = inspect.Parameter(_unused("self", signature), kind)
    made.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])
    return made


def _unused(name: str, signature: inspect.Signature) -> str:
    while name in signature.parameters:
        name = f"_{name}"
    return name


def body_on_tensors(function: Any, name: str) -> FunctionType:
    """A function on user tensors as the default body of the operation `name`."""
    return method_like(_Body(function, name), function)


class _Body:
    """A function as a default body: on a backend's own tensors, through user tensors."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self._name = name
        self._plan: _Plan | None = None

    def __call__(self, ops: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Wraps the arguments, runs the function, unwraps what it returns."""
        plan = self._plan
        if plan is None:
            plan = self._plan = _Plan(ops.__declaration__.__operations__[self._name])
        given = [plan.wrapped(i, value, ops.backend) for i, value in enumerate(args)]
        named = {n: plan.wrapped(plan.index[n], v, ops.backend) for n, v in kwargs.items()}
        out = self._function(*given, **named)
        return plan.later(out, ops.backend) if plan.is_async else plan.unwrapped(out, ops.backend)


class _Plan:
    """How the arguments and outputs of one operation are wrapped and unwrapped."""

    def __init__(self, operation: Operation) -> None:
        self.is_async = operation.is_async
        self.index = {parameter.name: i for i, parameter in enumerate(operation.parameters)}
        self._label = operation.label
        self._inputs = [compile_convert(p.node, p.name) for p in operation.parameters]
        self._output: Convert = compile_convert(operation.returns, operation.label)

    def wrapped(self, index: int, value: Any, backend: Any) -> Any:
        """An argument with the backend's tensors as user tensors."""
        return self._inputs[index](value, lambda leaf, _: _user_leaf(leaf, backend))

    def unwrapped(self, out: Any, backend: Any) -> Any:
        """A result with the backend's own tensors; another structure is left to dispatch."""
        raw = into_dispatch(out)

        def unwrap(leaf: Any, _: Node) -> Any:
            return self._primitive(leaf, backend)

        try:
            return self._output(raw, unwrap)
        except UnusualValueError:
            return raw

    async def later(self, out: Any, backend: Any) -> Any:
        """As `unwrapped`, of an async function."""
        return self.unwrapped(await out, backend)

    def _primitive(self, value: Any, backend: Any) -> Any:
        """The tensor of `backend` in a result; constants made on the plain device are lifted."""
        if not isinstance(value, DispatchTensor):
            return value
        if value.backend is not backend and backend.is_autodiff:
            value = backend.lift(value)
        if value.backend is not backend:
            raise BackendMismatchError(
                f"`{self._label}` returned a tensor on `{value.backend}`, its inputs are on "
                f"`{backend}`."
            )
        return value.primitive


def rule_on_tensors(function: Callable[..., Grads], name: str) -> Any:
    """A gradient rule on user tensors as one on a backend's own."""

    def rule(ops: Any, saved: Any, *rest: Any) -> Any:
        backend = ops.inner.backend
        *grads, need = rest
        given = [_user_leaf(grad, backend) for grad in grads]
        found = cast("Any", function(_SavedTensors(saved, backend), *given, need))  # unchecked
        if not isinstance(found, Mapping):
            return found  # which the backward pass refuses
        gradients = cast("Mapping[Any, Any]", found)
        return {path: _own(name, path, value, backend) for path, value in gradients.items()}

    return method_like(rule, function)


class _SavedTensors:
    """`Saved` with user tensors."""

    def __init__(self, saved: Any, backend: Any) -> None:
        self._saved = saved
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, path: str) -> Any:
        backend = self._backend

        def is_tensor(value: Any) -> bool:
            return kind_or_none(backend, value) is not None

        return replace_leaves(
            self._saved[path], is_tensor, lambda value: _user_leaf(value, backend)
        )

    def spec(self, path: str) -> TensorSpec:
        """Shape and dtype of any input tensor, saved or not."""
        return self._saved.spec(path)


def _user_leaf(value: Any, backend: Any) -> Any:
    """A tensor of the backend as a user tensor; anything else unchanged."""
    kind = kind_or_none(backend, value)
    return value if kind is None else from_dispatch(DispatchTensor(value, kind, backend))


def _own(name: str, path: str, value: Any, backend: Any) -> Any:
    raw = into_dispatch(value)
    if raw is None:
        return None
    if not isinstance(raw, DispatchTensor) or raw.backend is not backend:
        where = raw.backend if isinstance(raw, DispatchTensor) else type(value).__name__
        raise GradientError(
            f"the gradient of `{name}` for `{path}` is on `{where}`; gradients are tensors on "
            f"`{backend}`, made from `grad` and what is saved."
        )
    return raw.primitive
