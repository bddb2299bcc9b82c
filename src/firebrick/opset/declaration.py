"""`OpSet`, the class that declares a family of operations and that implementations derive from."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NewType, TypeVar, cast, get_origin

from firebrick.core import NoCheckpointing
from firebrick.errors import (
    FusionFormError,
    GradientRuleError,
    ImplementationError,
    SelectorError,
    SignatureError,
)
from firebrick.opset.backend_root import BackendRoot
from firebrick.opset.forms import Decorated, undecorated
from firebrick.opset.gradient import GradientRule
from firebrick.opset.implementation import check_implementation, check_listed
from firebrick.opset.inner import InnerOpSet
from firebrick.opset.kinds import P
from firebrick.opset.metadata import check_dims, check_form
from firebrick.opset.namespaces import Namespace, defining_namespace, origin_of
from firebrick.opset.registrations import Implementations
from firebrick.opset.report import report_rows, show_rows
from firebrick.opset.selectors import checked_selector, read_selectors
from firebrick.opset.signature import RESERVED, Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FunctionType

    from firebrick.core import CheckpointStrategy
    from firebrick.opset.report import ReportRow
    from firebrick.opset.selectors import Conditional, Selector

S = TypeVar("S", bound="OpSet[Any]")


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
    # Dunder names, since names with one underscore belong to the author's helpers.
    __backend__: Any = None
    __inner_backend__: Any = None

    def __init_subclass__(
        cls, *, on: type[Any] | None = None, builtin: bool = False, **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if issubclass(cls, BackendRoot):
            return  # a backend implements the built-in op sets by inheriting them
        declared = [base for base in cls.__mro__[1:] if vars(base).get("__declaration__") is base]
        if builtin or not declared:
            _declare(cls, on, builtin=builtin)
            return
        declaration: type[OpSet[Any]] = cls.__declaration__
        if on is None:
            raise ImplementationError(
                f"`{cls.__name__}` derives from op set `{declaration.__name__}` without `on=`; "
                f"write `class {cls.__name__}({declaration.__name__}[...], on=SomeBackend)`, or "
                "declare an op set of its own from `OpSet[P]`."
            )
        if len(declared) > 1 and not declaration.__builtin__:
            names = " and ".join(f"`{base.__name__}`" for base in declared)
            raise ImplementationError(
                f"`{cls.__name__}` derives from {names}; an implementation has one op set, so "
                "write a class for each."
            )
        selector = checked_selector(on)
        check_listed(declaration, cls, selector)
        check_implementation(declaration, cls, selector, defining_namespace())
        registrations = cls.__implementations__
        registrations.register(declaration.__name__, cls, selector, origin_of(cls))

    @property
    def backend(self) -> Any:
        """The backend that runs this call, with the built-in operations."""
        return self.__backend__

    @property
    def inner(self) -> InnerOpSet:
        """One decorator further down. `DispatchError` on a backend that is not a decorator."""
        inner = self.__inner_backend__
        return InnerOpSet(self.__declaration__, self.__backend__.inner if inner is None else inner)

    @property
    def checkpointing(self) -> type[CheckpointStrategy]:
        """The strategy of this call; `NoCheckpointing` off the autodiff path."""
        return getattr(self.__backend__, "checkpointing", NoCheckpointing)

    @classmethod
    def default_on(cls, *selectors: Selector) -> None:
        """Writes empty implementations: these backends run the default bodies."""
        for selector in selectors:
            implement_empty(cls.__declaration__, checked_selector(selector))

    @classmethod
    def report(cls, *, strict: bool = False) -> list[ReportRow]:
        """Prints and returns which implementation each operation has on each listed selector.

        `strict=True` raises `MissingImplementationError` when a row is `missing`.
        """
        declaration: type[OpSet[Any]] = cls.__declaration__
        rows = report_rows(declaration)
        show_rows(declaration.__name__, rows, strict=strict)
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
        ) from reason
    instance.__backend__ = backend
    instance.__inner_backend__ = inner_backend
    return instance


def implement_empty(declaration: type[OpSet[Any]], selector: Selector) -> type[Any]:
    """Registers a class without methods, so that the default bodies run."""
    name = f"{selector.__name__}{declaration.__name__}"
    module: str = defining_namespace().globals.get("__name__", declaration.__module__)
    made: Any = type(name, (declaration,), {"__module__": module}, on=selector)
    return made


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
    namespace = defining_namespace()
    for base in cls.__mro__[1:]:
        _inherit(cls, base, namespace)
    for name, value in list(vars(cls).items()):
        _read_member(cls, name, value, namespace)
    if not builtin:
        for operation in cls.__operations__.values():
            operation.validate()
            check_dims(operation)
            check_form(operation, required=False)


def _inherit(cls: type[OpSet[Any]], base: type[Any], namespace: Namespace) -> None:
    """Adds the operations of a base: of a family, if families make one, or of a mixin."""
    if base in (object, Generic, OpSet):
        return
    if not issubclass(base, OpSet):
        for name, value in vars(base).items():
            if name not in cls.__operations__:
                _read_member(cls, name, value, namespace)
        return
    family = cast("type[OpSet[Any]]", base)
    for name, known in family.__operations__.items():
        if name not in cls.__operations__:
            cls.__operations__[name] = Operation(
                cls,
                name,
                known.function,
                form=known.form,
                views=known.views,
                namespace=known.namespace,
            )


def _read_member(cls: type[OpSet[Any]], name: str, value: object, namespace: Namespace) -> None:
    """Adds an operation, if a member is one; `DefinitionError` for what looks like one."""
    decorated = undecorated(value)
    if name.startswith("_"):
        if isinstance(value, Decorated):
            raise FusionFormError(
                f"`{cls.__name__}.{name}` is a helper, as its underscore says; `@fusion` and "
                "`@views` go on operations."
            )
    elif name in RESERVED:
        raise SignatureError(
            f"`{cls.__name__}.{name}`: the name `{name}` belongs to every op set; rename it."
        )
    elif decorated is not None:
        function = cast("FunctionType", decorated.function)  # checkers see a descriptor
        setattr(cls, name, function)
        cls.__operations__[name] = Operation(
            cls,
            name,
            function,
            form=decorated.form,
            views=decorated.views,
            namespace=Namespace(inspect.unwrap(function).__globals__, namespace.locals),
        )
    elif isinstance(value, GradientRule):
        raise GradientRuleError(
            f"`{cls.__name__}.{name}` is a gradient rule in a declaration; put it into a class "
            f"`...({cls.__name__}[AutodiffTensor], on=Autodiff)`."
        )
    elif _is_behavior(value):
        raise SignatureError(
            f"`{cls.__name__}.{name}` is a {type(value).__name__}; operations are plain methods, "
            "helpers start with an underscore."
        )


def _is_behavior(value: object) -> bool:
    """Whether a member looks like an operation, and is no type or alias of a type."""
    if isinstance(value, staticmethod | classmethod | property):
        return True
    is_type = isinstance(value, type | NewType) or get_origin(value) is not None
    return callable(value) and not is_type


def backend_extension(*selectors: Selector) -> Callable[[type[S]], type[S]]:
    """Opens an op set to backends: their classes, each optionally inside `when(...)`.

    Raises: `SelectorError` for a string, an unknown name, a runtime name (`wgpu`, `cuda` are
    runtimes of `Cube`), a selector listed twice, or no execution selector; `SignatureError` for
    an operation without tensor inputs unless it has a `Device` parameter, which routes it, or
    exactly one execution selector and no `Autodiff` is listed; `FusionFormError` where `Fusion`
    is listed and a form is missing.
    """
    listed = read_selectors(selectors)

    def open_op_set(op_set: type[S]) -> type[S]:
        declared = _checked_declaration(op_set)
        if declared.__selectors__ is not None:
            raise SelectorError(
                f"`{declared.__name__}` is open to backends already; list all selectors in one "
                "`@backend_extension(...)`."
            )
        needs_form = any(s.role == "fusion" and c.holds() for s, c in listed.items())
        for operation in declared.__operations__.values():
            check_form(operation, required=needs_form)
            _check_route(operation, listed)
        declared.__selectors__ = listed
        return op_set

    return open_op_set


def _checked_declaration(op_set: object) -> type[OpSet[Any]]:
    if not (isinstance(op_set, type) and issubclass(op_set, OpSet)):
        raise SelectorError(f"`@backend_extension` goes on an op set; got {op_set!r}.")
    declared = cast("type[OpSet[Any]]", op_set)
    if op_set is OpSet or declared.__builtin__:
        raise SelectorError(
            f"`@backend_extension` goes on an op set of yours; `{declared.__name__}` is built in."
        )
    if declared.__declaration__ is not declared:
        raise SelectorError(
            f"`@backend_extension` goes on a declaration; `{declared.__name__}` implements "
            f"`{declared.__declaration__.__name__}`."
        )
    return declared


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
