"""`@op`: one operation as one function on user tensors, with a one-method op set behind it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, new_class
from typing import Any, Generic, ParamSpec, TypeVar

from firebrick.core import DispatchTensor, TensorSpec
from firebrick.errors import (
    BackendMismatchError,
    GradientError,
    ImplementationError,
    SelectorError,
    SignatureError,
)
from firebrick.opset.annotations import Namespace, defining_namespace
from firebrick.opset.bridge import from_dispatch, into_dispatch, user_tensor
from firebrick.opset.declaration import OpSet, backend_extension, implement_empty
from firebrick.opset.dispatched import dispatch
from firebrick.opset.dispatcher import kind_or_none
from firebrick.opset.forms import FusionForm
from firebrick.opset.gradient import Cost, Grads, gradient
from firebrick.opset.kinds import P
from firebrick.opset.metadata import check_dims, outputs_bound
from firebrick.opset.nodes import Node
from firebrick.opset.selectors import Selector, checked_selector
from firebrick.opset.signature import Operation as OperationPlan
from firebrick.opset.traversal import compile_convert, convert_struct

Ps = ParamSpec("Ps")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Operation(Generic[Ps, R]):
    """What `@op` makes of a function: the function, and a one-method op set behind it."""

    def __init__(self, function: Callable[Ps, R], selectors: tuple[Any, ...]) -> None:
        functools.update_wrapper(self, function)
        self._name = function.__name__
        self.op_set: type[OpSet[Any]] = _op_set_of(function, selectors)
        self._dispatched = getattr(dispatch(self.op_set), self._name)

    def __call__(self, *args: Ps.args, **kwargs: Ps.kwargs) -> R:
        """Runs the operation on user tensors."""
        positional = [into_dispatch(value) for value in args]
        keywords = {name: into_dispatch(value) for name, value in kwargs.items()}
        return from_dispatch(self._dispatched(*positional, **keywords))

    def __repr__(self) -> str:
        return f"<operation {self._name}>"

    def impl(
        self,
        selector: Selector,
        *,
        kernel: Any = None,
        grid: str | None = None,
        block: tuple[int, int, int] = (16, 16, 1),
    ) -> Callable[[F], F]:
        """Adds an implementation: a function on the backend's own tensors.

        Raises: `ImplementationError` for parameters that differ from the operation's,
        `SelectorError` for a backend that is not listed, or a kernel, which needs `Cube`'s runtimes.
        """
        if kernel is not None or grid is not None:
            raise SelectorError(
                f"`{self._name}.impl(..., kernel=...)` needs a kernel runtime, which this version "
                f"does not have; got grid {grid!r} and block {block}."
            )
        checked_selector(selector)

        def register(function: F) -> F:
            method = _as_method(function)
            method.__name__ = self._name
            _implement(self.op_set, selector, self._name, method)
            return function

        return register

    def gradient(
        self, *, save: Sequence[str] = (), cost: Cost = "compute"
    ) -> Callable[[Callable[..., Grads]], Callable[..., Grads]]:
        """As `gradient`, on a function `(saved, grad, need)` of user tensors."""

        def register(function: Callable[..., Grads]) -> Callable[..., Grads]:
            listed = self.op_set.__selectors__ or {}
            selector = next((known for known in listed if known.role == "autodiff"), None)
            if selector is None:
                raise ImplementationError(
                    f"`{self._name}` has a gradient, but `@op` does not list `Autodiff`."
                )
            rule = gradient(save=save, cost=cost)(_on_tensors(function, self._name))
            _implement(self.op_set, selector, self._name, rule)
            return function

        return register


def op(*selectors: Any) -> Callable[[Callable[Ps, R]], Operation[Ps, R]]:
    """One operation as one function on `Tensor`; the body is the default body.

    The function takes and returns tensors annotated `Float[Tensor, "..."]`, `Int` or `Bool`, structs
    of them, and ordinary values. Every listed backend runs the body until `impl` gives it another.

    Raises: `SignatureError`, `SelectorError` when the function is decorated.
    """

    def make(function: Callable[Ps, R]) -> Operation[Ps, R]:
        if not inspect.isfunction(function):
            raise SignatureError(f"`@op(...)` goes on a function; got {function!r}.")
        return Operation(function, selectors)

    return make


def _op_set_of(function: Any, selectors: tuple[Any, ...]) -> type[OpSet[Any]]:
    """The declaration behind a function, open to the selectors, all running the body."""
    name = "".join(part.capitalize() for part in function.__name__.split("_")) or "Op"
    body = {"__module__": function.__module__, "__doc__": function.__doc__}
    made: Any = new_class(name, (OpSet[P],), {}, lambda namespace: namespace.update(body))
    op_set: type[OpSet[Any]] = made
    method = _with_self(_Body(function), function)
    frame = defining_namespace()
    namespace = Namespace(function.__globals__, frame.locals)
    plan = OperationPlan(op_set, method, None, (), namespace, user_tensor())
    plan.validate()
    check_dims(plan)
    if not outputs_bound(plan):
        plan.form = FusionForm("default")
    setattr(op_set, plan.name, method)
    op_set.__operations__[plan.name] = plan
    backend_extension(*selectors)(op_set)
    for selector in op_set.__selectors__ or {}:
        if selector.role != "fusion":
            implement_empty(op_set, selector, replaceable=True)
    return op_set


def _with_self(call: Callable[..., Any], function: Any) -> FunctionType:
    """A method that runs `call(self, ...)` with the name and parameters of `function`."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(self, *args, **kwargs)

    async def method_later(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await call(self, *args, **kwargs)

    made: Any = method_later if inspect.iscoroutinefunction(function) else method
    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [own, *signature.parameters.values()]
    first = parameters[1].kind if len(parameters) > 1 else None
    if first is not inspect.Parameter.POSITIONAL_ONLY:
        parameters[0] = own.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    made.__signature__ = signature.replace(parameters=parameters)
    made.__name__ = function.__name__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    made.__wrapped_code__ = function.__code__
    return made


class _Body:
    """The function as a default body: on a backend's own tensors, through user tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, ops: OpSet[Any], *args: Any, **kwargs: Any) -> Any:
        """Wraps the arguments, runs the function, unwraps what it returns."""
        plan = ops.__declaration__.__operations__[self._function.__name__]
        wraps = {p.name: _wrapping(p.node, ops.backend) for p in plan.parameters}
        positional = [p for p in plan.parameters if not p.keyword_only]
        given = [wraps[p.name](value) for p, value in zip(positional, args, strict=False)]
        named = {name: wraps[name](value) for name, value in kwargs.items()}
        out = self._function(*given, **named)
        return _later(plan, ops, out) if plan.is_async else _unwrapped(plan, ops, out)


def _wrapping(node: Node, backend: Any) -> Callable[[Any], Any]:
    convert = compile_convert(node, "argument")

    def wrap(value: Any, _: Node) -> Any:
        kind = kind_or_none(backend, value)
        return value if kind is None else from_dispatch(DispatchTensor(value, kind, backend))

    return lambda value: convert(value, wrap)


async def _later(plan: OperationPlan, ops: OpSet[Any], out: Any) -> Any:
    return _unwrapped(plan, ops, await out)


def _unwrapped(plan: OperationPlan, ops: OpSet[Any], out: Any) -> Any:
    def unwrap(value: Any, _: Node) -> Any:
        return _primitive(plan, ops.backend, value)

    return compile_convert(plan.returns, plan.name)(into_dispatch(out), unwrap)


def _primitive(plan: OperationPlan, backend: Any, value: Any) -> Any:
    """The tensor of `backend` inside a result; constants made on the plain device are lifted."""
    if not isinstance(value, DispatchTensor):
        return value
    if value.backend is not backend and getattr(backend, "is_autodiff", False):
        value = backend.lift(value)
    if value.backend is not backend:
        raise BackendMismatchError(
            f"`{plan.name}` returned a tensor on `{value.backend}`, its inputs are on `{backend}`."
        )
    return value.primitive


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
        return _user(self._saved[path], self._backend)

    def spec(self, path: str) -> TensorSpec:
        """Shape and dtype of any input tensor, saved or not."""
        return self._saved.spec(path)


def _user(value: Any, backend: Any) -> Any:
    """A value with the backend's tensors in it as user tensors."""
    if hasattr(type(value), "__nodes__"):
        return convert_struct(value, lambda item, _: _user(item, backend))
    if isinstance(value, list | tuple):
        return type(value)(_user(item, backend) for item in value)
    kind = kind_or_none(backend, value)
    return value if kind is None else from_dispatch(DispatchTensor(value, kind, backend))


def _on_tensors(function: Callable[..., Grads], name: str) -> Any:
    """A gradient rule on user tensors as one on a backend's own."""

    def rule(ops: OpSet[Any], saved: Any, *rest: Any) -> Any:
        backend = ops.inner.backend
        *grads, need = rest
        given = [_user(grad, backend) for grad in grads]
        found = function(_SavedTensors(saved, backend), *given, need)
        if not isinstance(found, Mapping):
            return found
        return {path: _own(name, path, value, backend) for path, value in found.items()}

    return _with_self(rule, function)


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


def _as_method(function: Callable[..., Any]) -> Any:
    return _with_self(lambda _, *args, **kwargs: function(*args, **kwargs), function)


def _implement(op_set: type[OpSet[Any]], selector: Selector, name: str, member: Any) -> None:
    """Registers a class with one method."""
    body = {"__module__": op_set.__module__, name: member}
    new_class(
        f"{selector.__name__}{op_set.__name__}",
        (op_set,),
        {"on": selector},
        lambda namespace: namespace.update(body),
    )
