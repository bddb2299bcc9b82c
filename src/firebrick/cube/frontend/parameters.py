"""Parameters of kernels and functions, read from their annotations."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from firebrick.cube.lang.containers import COMPTIME, MUT, Tensor
from firebrick.cube.lang.numbers import Float, Int, Numeric

if typing.TYPE_CHECKING:
    from firebrick.cube.frontend.source import Source

ScalarSpec: TypeAlias = "type[Any] | TypeVar"
"""A concrete number type, a type variable bound by another argument, or int, float, bool."""


@dataclass(frozen=True, slots=True)
class TensorParameter:
    """`Tensor[F]` or `Mut[Tensor[F]]`."""

    name: str
    element: Any
    mutable: bool


@dataclass(frozen=True, slots=True)
class NumberParameter:
    """A number given at launch."""

    name: str
    type: Any


@dataclass(frozen=True, slots=True)
class ComptimeParameter:
    """A host value fixed when compiling."""

    name: str


@dataclass(frozen=True, slots=True)
class StructParameter:
    """A dataclass whose fields are parameters themselves."""

    name: str
    struct: type[Any]
    fields: tuple[KernelParameter, ...]


KernelParameter: TypeAlias = (
    "TensorParameter | NumberParameter | ComptimeParameter | StructParameter"
)


def read_parameters(source: Source, local_names: dict[str, Any]) -> tuple[KernelParameter, ...]:
    """The parameters of a kernel.

    `KernelSyntaxError` for one without an annotation or with one that is no kernel type.
    """
    function = source.function
    for argument in [*source.tree.args.posonlyargs, *source.tree.args.args]:
        if argument.annotation is None:
            source.refuse(
                argument, f"parameter `{argument.arg}` of a kernel has no annotation; add one."
            )
    hints = _hints(source, function, local_names)
    return tuple(
        _parameter(source, name, hints[name], mutable=False)
        for name in inspect.signature(function).parameters
    )


def _hints(source: Source, function: Any, local_names: dict[str, Any]) -> dict[str, Any]:
    closure = inspect.getclosurevars(function).nonlocals
    try:
        return typing.get_type_hints(
            function, localns={**local_names, **closure}, include_extras=True
        )
    except Exception as reason:  # whatever evaluating a user's annotation raises is the finding
        return source.refuse(source.tree, f"an annotation cannot be evaluated: {reason}.")


def _parameter(source: Source, name: str, annotation: Any, *, mutable: bool) -> KernelParameter:
    if get_origin(annotation) is Annotated:
        inner, marks = annotation.__origin__, annotation.__metadata__
        if COMPTIME in marks:
            return ComptimeParameter(name)
        return _parameter(source, name, inner, mutable=mutable or MUT in marks)
    origin = get_origin(annotation)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Tensor):
        (element,) = get_args(annotation)
        _check_element(source, name, element)
        return TensorParameter(name, element, mutable)
    if mutable:
        source.refuse(source.tree, f"`{name}` is `Mut`, which goes around `cube.Tensor[...]` only.")
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        hints = typing.get_type_hints(annotation, include_extras=True)
        fields = tuple(
            _parameter(source, f"{name}.{field.name}", hints[field.name], mutable=False)
            for field in dataclasses.fields(annotation)
        )
        return StructParameter(name, annotation, fields)
    if annotation in (int, float, bool) or _is_number(annotation):
        return NumberParameter(name, annotation)
    return source.refuse(
        source.tree,
        f"parameter `{name}` is annotated {_name(annotation)}; accepted are `cube.Tensor[...]`, "
        "`cube.Mut[cube.Tensor[...]]`, number types, `int`, `float`, `bool`, dataclasses of "
        "those, and `cube.Comptime[...]` for every other type.",
    )


def _check_element(source: Source, name: str, element: Any) -> None:
    if not (_is_number(element) or element is bool):
        source.refuse(
            source.tree,
            f"the elements of `{name}` are {_name(element)}; accepted are `cube.f32` and its like, "
            "or a TypeVar bound to `cube.Float`, `cube.Int` or `cube.Numeric`.",
        )


def _is_number(annotation: Any) -> bool:
    if isinstance(annotation, TypeVar):
        bound = annotation.__bound__
        return isinstance(bound, type) and issubclass(bound, Numeric)
    concrete = isinstance(annotation, type) and issubclass(annotation, Numeric)
    return concrete and annotation not in (Numeric, Float, Int)


def _name(annotation: Any) -> str:
    return f"`{getattr(annotation, '__name__', annotation)}`"


def flatten(parameters: tuple[KernelParameter, ...]) -> list[KernelParameter]:
    """Parameters with structs replaced by their fields, in order."""
    flat: list[KernelParameter] = []
    for parameter in parameters:
        if isinstance(parameter, StructParameter):
            flat += flatten(parameter.fields)
        else:
            flat.append(parameter)
    return flat
