"""`@op`: one operation as one function on user tensors, with a one-method op set behind it."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType, new_class
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from firebrick.errors import ImplementationError, SelectorError, SignatureError
from firebrick.opset.bridge import from_dispatch, into_dispatch, user_tensor
from firebrick.opset.declaration import OpSet, backend_extension, implement_empty
from firebrick.opset.dispatched import dispatch
from firebrick.opset.forms import FusionForm
from firebrick.opset.gradient import gradient
from firebrick.opset.kinds import P
from firebrick.opset.metadata import check_dims, outputs_bound
from firebrick.opset.namespaces import Namespace, defining_namespace, with_origin
from firebrick.opset.selectors import checked_selector
from firebrick.opset.short_bodies import body_on_tensors, rule_on_tensors
from firebrick.opset.signature import Operation as OperationPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firebrick.opset.gradient import Cost, Grads
    from firebrick.opset.selectors import Selector

Ps = ParamSpec("Ps")
R = TypeVar("R")
F = TypeVar("F", bound="Callable[..., Any]")


class Operation(Generic[Ps, R]):
    """What `@op` makes of a function: the function, and a one-method op set behind it."""

    __name__: str

    def __init__(self, function: Callable[Ps, R], selectors: tuple[Selector, ...]) -> None:
        functools.update_wrapper(self, function)
        self.op_set: type[OpSet[Any]] = _op_set_of(function, selectors)
        (plan,) = self.op_set.__operations__.values()
        self._name = plan.name
        self._is_async = plan.is_async
        self._dispatched: Callable[..., Any] = getattr(dispatch(self.op_set), plan.name)

    @property
    def dispatched(self) -> Callable[..., Any]:
        """The operation on dispatched tensors."""
        return self._dispatched

    def __call__(self, /, *args: Ps.args, **kwargs: Ps.kwargs) -> R:
        """Runs the operation on user tensors; an async one is awaited."""
        positional = [into_dispatch(value) for value in args]
        keywords = {name: into_dispatch(value) for name, value in kwargs.items()}
        out = self._dispatched(*positional, **keywords)
        return cast("R", _later(out)) if self._is_async else from_dispatch(out)

    def __repr__(self) -> str:
        return f"<operation {self._name}>"

    @overload
    def impl(self, selector: Selector) -> Callable[[F], F]: ...
    @overload
    def impl(
        self,
        selector: Selector,
        *,
        kernel: Any,
        grid: str,
        block: tuple[int, int, int] = (16, 16, 1),
    ) -> None: ...
    def impl(
        self,
        selector: Selector,
        *,
        kernel: Any = None,
        grid: str | None = None,
        block: tuple[int, int, int] = (16, 16, 1),
    ) -> Callable[[F], F] | None:
        """Adds an implementation: a function on the backend's own tensors.

        Raises: `ImplementationError` for parameters that differ from the operation's, or a backend
        that is not listed; `DuplicateImplementationError` for a second one; `SelectorError` for a
        kernel, which needs `Cube`'s runtimes.
        """
        if kernel is not None or grid is not None:
            raise SelectorError(
                f"`{self._name}.impl(..., kernel=...)` needs a kernel runtime, which this version "
                f"does not have; got grid {grid!r} and block {block}."
            )
        checked_selector(selector)

        def register(function: F) -> F:
            self._implement(selector, function, staticmethod(function))
            return function

        return register

    def gradient(
        self, *, save: Sequence[str] = (), cost: Cost = "compute"
    ) -> Callable[[Callable[..., Grads]], Callable[..., Grads]]:
        """As `gradient`, on a function `(saved, grad, need)` of user tensors.

        Raises: `ImplementationError` where `Autodiff` is not listed, `GradientRuleError` for an
        unknown name, `DuplicateImplementationError` for a second rule.
        """

        def register(function: Callable[..., Grads]) -> Callable[..., Grads]:
            listed = self.op_set.__selectors__ or {}
            selector = next((known for known in listed if known.role == "autodiff"), None)
            if selector is None:
                raise ImplementationError(
                    f"`{self._name}` has a gradient, but `@op` does not list `Autodiff`."
                )
            rule = gradient(save=save, cost=cost)(rule_on_tensors(function, self._name))
            self._implement(selector, function, rule)
            return function

        return register

    def _implement(self, selector: Selector, function: Callable[..., Any], member: object) -> None:
        """Registers a class with one method, which originates where `function` does."""
        body = {**with_origin(function), self._name: member}
        name = f"{selector.__name__}{self.op_set.__name__}"
        new_class(name, (self.op_set,), {"on": selector}, lambda names: names.update(body))


async def _later(running: Any) -> Any:
    return from_dispatch(await running)


def op(*selectors: Selector) -> Callable[[Callable[Ps, R]], Operation[Ps, R]]:
    """One operation as one function on `Tensor`; the body is the default body.

    The function takes and returns tensors annotated `Float[Tensor, "..."]`, `Int` or `Bool`,
    structs of them, and ordinary values. Every listed backend runs the body until `impl` gives it
    another.

    Raises: `SignatureError`, `SelectorError` when the function is decorated.
    """

    def make(function: Callable[Ps, R]) -> Operation[Ps, R]:
        if not isinstance(function, FunctionType):
            raise SignatureError(f"`@op(...)` goes on a function; got {function!r}.")
        return Operation(function, selectors)

    return make


def _op_set_of(function: Any, selectors: tuple[Selector, ...]) -> type[OpSet[Any]]:
    """The declaration behind a function, open to the selectors, all running the body."""
    method_name = function.__name__.strip("_") or "op"  # an underscore would make it a helper
    name = "".join(part.capitalize() for part in method_name.split("_"))
    body = {**with_origin(function), "__qualname__": name, "__doc__": function.__doc__}
    generic: Any = OpSet[P]  # pyright: ignore[reportGeneralTypeIssues] - a base class, as in `class`
    made: Any = new_class(name, (generic,), {}, lambda names: names.update(body))
    op_set: type[OpSet[Any]] = made
    method = body_on_tensors(function, method_name)
    namespace = Namespace(inspect.unwrap(function).__globals__, defining_namespace().locals)
    plan = OperationPlan(op_set, method_name, method, namespace=namespace, tensor=user_tensor())
    plan.validate()
    check_dims(plan)
    if plan.has_default and not outputs_bound(plan):
        plan.form = FusionForm("default")
    setattr(op_set, method_name, method)
    op_set.__operations__[method_name] = plan
    backend_extension(*selectors)(op_set)
    for selector in op_set.__selectors__ or {}:
        if selector.role != "fusion":
            empty = implement_empty(op_set, selector)
            op_set.__implementations__.let_replace(empty)
    return op_set
