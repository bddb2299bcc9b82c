"""What a declaration says of an operation beside its signature: `@fusion`, `@views`, `scalar`.

Decorators here only record; `metadata.py` checks the record against the signature and uses it.
A decorated function stays wrapped in `Decorated` until its class is made, which unwraps it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from firebrick.errors import FusionFormError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.core import DType, Scalar

F = TypeVar("F", bound=Callable[..., Any])
FormName = Literal["fields", "meta", "default", "sync", "dims"]


@dataclass(frozen=True, slots=True)
class FusionForm:
    """How the outputs are known before the operation runs; `id` is None for the default one."""

    name: FormName
    dtype: str | Callable[..., Any] | None = None
    shape: str | Callable[..., Any] | None = None
    meta: Callable[..., Any] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Decorated:
    """A function of a declaration with what its decorators said."""

    function: FunctionType
    form: FusionForm | None = None
    views: tuple[str, ...] = ()


def undecorated(value: Any) -> Decorated | None:
    """`value` as a declaration's function, decorated or not; None if it is something else."""
    if isinstance(value, Decorated):
        return value
    return Decorated(value) if isinstance(value, FunctionType) else None


@overload
def fusion(
    *,
    dtype: str | Callable[..., DType],
    shape: str | Callable[..., Sequence[int]],
    id: str | None = None,
) -> Callable[[F], F]: ...
@overload
def fusion(*, meta: Callable[..., Any], id: str | None = None) -> Callable[[F], F]: ...
@overload
def fusion(*, default: Literal[True]) -> Callable[[F], F]: ...
@overload
def fusion(*, sync: Literal[True]) -> Callable[[F], F]: ...
@overload
def fusion(*, id: str) -> Callable[[F], F]: ...
def fusion(**given: Any) -> Callable[[F], F]:
    """What is known of the outputs before the operation runs; exactly one form.

    A string names the operand to copy. Parameter names of the callables pick operands: in
    `dtype` a tensor is its `DType`, in `shape` its `Shape`, in `meta` its `TensorSpec`; an
    extension argument is its metadata, an ordinary argument its value. `id` alone is for
    outputs whose annotated dimensions are bound by the inputs. `sync` is for operations that
    cannot be lazy: inputs are drained, outputs re-enter the stream.

    Raises: `FusionFormError` for anything but exactly one form.
    """
    form = _form(given)

    def record(function: F) -> F:
        decorated = undecorated(function)
        if decorated is None:
            raise FusionFormError(f"`@fusion(...)` goes on an operation; got {function!r}.")
        if decorated.form is not None:
            raise FusionFormError(
                f"`{decorated.function.__name__}` has two `@fusion(...)` forms; keep one."
            )
        return cast("F", replace(decorated, form=form))  # unwrapped when the class is made

    return record


_FIELDS: dict[frozenset[str], FormName] = {
    frozenset({"dtype", "shape"}): "fields",
    frozenset({"meta"}): "meta",
    frozenset({"default"}): "default",
    frozenset({"sync"}): "sync",
    frozenset(): "dims",
}


def _form(given: dict[str, Any]) -> FusionForm:
    operation_id = given.get("id")
    fields = frozenset(given) - {"id"}
    name = _FIELDS.get(fields)
    if not given or name is None or (name in ("default", "sync") and "id" in given):
        raise FusionFormError(
            f"`@fusion` was given {', '.join(sorted(given)) or 'nothing'}; give exactly one of: "
            "dtype and shape; meta; default=True; sync=True; or id alone for annotated dimensions."
        )
    for field in sorted(fields):
        value = given[field]
        right = value is True if name in ("default", "sync") else callable(value)
        if not right and not (name == "fields" and isinstance(value, str)):
            accepted = "True" if name in ("default", "sync") else "a callable"
            accepted += " or an operand's name" if name == "fields" else ""
            raise FusionFormError(f"`@fusion({field}=...)` takes {accepted}; got {value!r}.")
    if not isinstance(operation_id, str | None):
        raise FusionFormError(f"`@fusion(id=...)` takes a string; got {operation_id!r}.")
    return FusionForm(name, given.get("dtype"), given.get("shape"), given.get("meta"), operation_id)


def views(*inputs: str) -> Callable[[F], F]:
    """Outputs of the operation may share memory with these inputs.

    Raises: `SignatureError` when no input is named; unknown names are found with the class.
    """
    if not inputs or not all(isinstance(name, str) for name in cast("tuple[object, ...]", inputs)):
        raise SignatureError(
            f"`@views` takes names of inputs, such as `@views('x')`; got {inputs}."
        )

    def record(function: F) -> F:
        decorated = undecorated(function)
        if decorated is None:
            raise SignatureError(f"`@views(...)` goes on an operation; got {function!r}.")
        return cast("F", replace(decorated, views=inputs))  # unwrapped when the class is made

    return record


@dataclass(frozen=True, slots=True)
class scalar:  # noqa: N801 - reads as an annotation: `Annotated[Strategy, scalar(...)]`
    """`Annotated[Strategy, scalar(lambda s: s.code)]`: how optimizers see an argument."""

    encode: Callable[[Any], Scalar]
