"""`OpSet`, the class that declares a family of operations and that implementations derive from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from firebrick.core import NoCheckpointing
from firebrick.errors import ImplementationError, SelectorError, SignatureError
from firebrick.opset.annotations import Namespace, defining_namespace
from firebrick.opset.backend_root import BackendRoot
from firebrick.opset.forms import Decorated, undecorated
from firebrick.opset.implementation import Implementations, check_implementation, first_line
from firebrick.opset.kinds import P
from firebrick.opset.linkage import linker
from firebrick.opset.metadata import check_dims, check_form
from firebrick.opset.report import ReportRow, report_rows, show_rows
from firebrick.opset.selectors import Conditional, Selector, checked_selector, read_selectors
from firebrick.opset.signature import RESERVED, Operation

if TYPE_CHECKING:
    from firebrick.core import CheckpointStrategy

S = TypeVar("S", bound="OpSet[Any]")


class InnerOpSet:
    """The same op set on the backend that `self.backend` decorates; its tensors are that one's."""

    __slots__ = ("_backend", "_op_set")

    def __init__(self, op_set: type[OpSet[Any]], backend: Any) -> None:
        self._op_set = op_set
        self._backend = backend

    @property
    def backend(self) -> Any:
        """The decorated backend, with the built-in operations."""
        return self._backend

    @property
    def inner(self) -> InnerOpSet:
        """One decorator further down. `DispatchError` on a backend that is not a decorator."""
        return InnerOpSet(self._op_set, self._backend.inner)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        known = self._op_set.__operations__.get(operation)
        if known is None:
            raise AttributeError(
                f"`{self._op_set.__name__}` has no operation `{operation}`; it has "
                f"{', '.join(self._op_set.__operations__)}."
            )
        return linker().operation(known, self._backend)


class OpSet(Generic[P]):
    """A family of operations on the tensor type `P`.

    Every public method is an operation; names with a leading underscore are helpers. Inputs and
    outputs: tensors (`FloatTensor[P]`, ...), `ExtensionType` structs and unions of them,
    `Optional`, `list`, `tuple` and `dict[str, ...]` of those; besides, inputs of any other type.

    `class X(Ops[T], on=SomeBackend)` implements the op set for that backend. A method that it
    does not define keeps the default body.

    Raises, when the class is defined: `SignatureError`, `FusionFormError`, and for an
    implementation `ImplementationError` or `DuplicateImplementationError`.
    """

    __operations__: ClassVar[dict[str, Operation]] = {}
    __selectors__: ClassVar[dict[Selector, Conditional] | None] = None
    __implementations__: ClassVar[Implementations]
    __builtin__: ClassVar[bool] = False
    __declaration__: ClassVar[type[OpSet[Any]]]
    _backend: Any = None
    _inner_backend: Any = None

    def __init_subclass__(
        cls, *, on: type[Any] | None = None, builtin: bool = False, **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if issubclass(cls, BackendRoot):
            return  # a backend implements the built-in op sets by inheriting them
        if OpSet in cls.__bases__ or builtin:
            _declare(cls, on, builtin=builtin)
            return
        declaration = cls.__declaration__
        if on is None:
            raise ImplementationError(
                f"`{cls.__name__}` derives from op set `{declaration.__name__}` without `on=`; write "
                f"`class {cls.__name__}({declaration.__name__}[...], on=SomeBackend)`, or declare an "
                "op set of its own from `OpSet[P]`."
            )
        selector = checked_selector(on)
        check_implementation(declaration, cls, selector, defining_namespace())
        cls.__implementations__.register(declaration, cls, selector, first_line())

    @property
    def backend(self) -> Any:
        """The backend that runs this call, with the built-in operations."""
        return self._backend

    @property
    def inner(self) -> InnerOpSet:
        """One decorator further down. `DispatchError` on a backend that is not a decorator."""
        inner = self._inner_backend
        return InnerOpSet(self.__declaration__, self._backend.inner if inner is None else inner)

    @property
    def checkpointing(self) -> type[CheckpointStrategy]:
        """The strategy of this call; `NoCheckpointing` off the autodiff path."""
        return getattr(self._backend, "checkpointing", NoCheckpointing)

    @classmethod
    def default_on(cls, *selectors: type[Any]) -> None:
        """Writes empty implementations: these backends run the default bodies."""
        for selector in selectors:
            implement_empty(cls.__declaration__, checked_selector(selector), replaceable=False)

    @classmethod
    def report(cls, *, strict: bool = False) -> list[ReportRow]:
        """Prints and returns which implementation each operation has on each listed selector.

        `strict=True` raises `MissingImplementationError` when a row is `missing`.
        """
        rows = report_rows(cls.__declaration__)
        show_rows(cls.__name__, rows, strict=strict)
        return rows


def bind_instance(implementation: type[S], backend: Any, inner_backend: Any = None) -> S:
    """An instance of an implementation for one backend instance.

    `inner_backend` stands for the decorated one where a backward pass is itself recorded.
    """
    try:
        instance = implementation()
    except TypeError as reason:
        raise ImplementationError(
            f"`{implementation.__name__}` cannot be made without arguments ({reason}); an "
            "implementation has no `__init__` parameters."
        ) from None
    instance._backend = backend
    instance._inner_backend = inner_backend
    return instance


def implement_empty(declaration: type[OpSet[Any]], selector: Selector, *, replaceable: bool) -> None:
    """Registers a class without methods, so that the default bodies run."""
    name = f"{selector.__name__}{declaration.__name__}"
    empty = type(name, (declaration,), {"__module__": declaration.__module__}, on=selector)
    if replaceable:
        declaration.__implementations__.replaceable.add(cast("type[Any]", empty))


def _declare(cls: type[OpSet[Any]], on: type[Any] | None, *, builtin: bool) -> None:
    if on is not None:
        raise ImplementationError(
            f"`{cls.__name__}` derives from `OpSet` itself, so `on=` has nothing to implement; "
            "derive from the op set that declares the operations."
        )
    if cast("tuple[Any, ...]", getattr(cls, "__parameters__", ())) != (P,):
        raise SignatureError(
            f"op set `{cls.__name__}` is generic in the tensor type and nothing else; write "
            f"`class {cls.__name__}(OpSet[P])`."
        )
    cls.__declaration__ = cls
    cls.__builtin__ = builtin
    cls.__selectors__ = {} if builtin else None
    cls.__implementations__ = Implementations()
    cls.__operations__ = {}
    if builtin:  # a family may be put together from families
        for family in (base for base in cls.__mro__[1:] if issubclass(base, OpSet)):
            for name, known in family.__operations__.items():
                merged = Operation(cls, known.function, known.form, known.views, known.namespace)
                cls.__operations__.setdefault(name, merged)
    namespace = defining_namespace()
    for name, value in list(vars(cls).items()):
        decorated = undecorated(value)
        if decorated is not None:
            setattr(cls, name, decorated.function)
        if not name.startswith("_"):
            _add_operation(cls, name, value, decorated, namespace)
    if not builtin:
        for operation in cls.__operations__.values():
            operation.validate()
            check_dims(operation)
            check_form(operation, required=False)


def _add_operation(
    cls: type[OpSet[Any]], name: str, value: Any, decorated: Decorated | None, namespace: Namespace
) -> None:
    if name in RESERVED:
        raise SignatureError(
            f"`{cls.__name__}.{name}`: the name `{name}` belongs to every op set; rename it."
        )
    if decorated is not None:
        function = decorated.function
        own = Namespace(function.__globals__, namespace.locals)
        operation = Operation(cls, function, decorated.form, decorated.views, own)
        cls.__operations__[name] = operation
    elif isinstance(value, staticmethod | classmethod | property):
        raise SignatureError(
            f"`{cls.__name__}.{name}` is a {type(value).__name__}; operations are plain methods, "
            "helpers start with an underscore."
        )


def backend_extension(*selectors: Any) -> Callable[[type[S]], type[S]]:
    """Opens an op set to backends: their classes, each optionally inside `when(...)`.

    Raises: `SelectorError` for a string, an unknown name, a runtime name (`wgpu`, `cuda` are
    runtimes of `Cube`), a selector listed twice, or no execution selector; `SignatureError` for
    an operation without tensor inputs unless it has a `Device` parameter, which routes it, or
    exactly one execution selector and no `Autodiff` is listed; `FusionFormError` where `Fusion`
    is listed and a form is missing.
    """
    listed = read_selectors(selectors)

    def open_op_set(op_set: type[S]) -> type[S]:
        if not (inspect.isclass(op_set) and issubclass(op_set, OpSet)):
            raise SelectorError(f"`@backend_extension` goes on an op set; got {op_set!r}.")
        if op_set.__declaration__ is not op_set or op_set.__builtin__:
            raise SelectorError(
                f"`@backend_extension` goes on a declaration; `{op_set.__name__}` implements "
                f"`{op_set.__declaration__.__name__}`."
            )
        needs_form = any(s.role == "fusion" and c.holds() for s, c in listed.items())
        for operation in op_set.__operations__.values():
            check_form(operation, required=needs_form)
            _check_route(operation, listed)
        op_set.__selectors__ = listed
        return op_set

    return open_op_set


def _check_route(operation: Operation, listed: Iterable[Selector]) -> None:
    if operation.tensor_parameters or operation.device_parameter is not None:
        return
    if any(selector.role == "autodiff" for selector in listed):
        raise SignatureError(
            f"`{operation.label}` takes no tensors and no `Device`, so it cannot be combined with "
            "`Autodiff`; give it a `Device` parameter or an op set of its own."
        )
    executing = [selector.__name__ for selector in listed if selector.role == "execution"]
    if len(executing) != 1:
        raise SignatureError(
            f"`{operation.label}` takes no tensors, so nothing chooses between "
            f"{', '.join(executing)}; list exactly one, or add a `Device` parameter."
        )


