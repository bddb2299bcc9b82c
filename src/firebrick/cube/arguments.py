"""Arguments of a launch: checked against the parameters, and sorted into what they decide.

Element types, ranks and compile-time values choose the compiled variant; memory, sizes and numbers
go to the device.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from firebrick.core import DType, Shape
from firebrick.cube.frontend.functions import TensorBinding
from firebrick.cube.frontend.numbers import int_range
from firebrick.cube.frontend.parameters import (
    ComptimeParameter,
    KernelParameter,
    NumberParameter,
    StructParameter,
    TensorParameter,
)
from firebrick.cube.ir.types import I32, I64, Type
from firebrick.cube.lang.numbers import Float, Int
from firebrick.cube.runtime.base import Memory, Runtime, TensorArgument, type_of
from firebrick.errors import KernelLaunchError, KernelTypeError

if TYPE_CHECKING:
    import inspect

MAX_INDEX_32 = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one launch, in the order of the parameters."""

    tensors: tuple[TensorArgument, ...]
    bindings: dict[str, TensorBinding]
    aliased: frozenset[str]
    """Read-only parameters that share memory with one that is written."""
    numbers: tuple[bool | int | float, ...]
    comptime: dict[str, Any]
    types: dict[TypeVar, Type]
    runtime: Runtime

    @property
    def index_type(self) -> Type:
        """`i64` where an element lies beyond what 32 bits count."""
        longest = max((tensor.length for tensor in self.tensors), default=0)
        return I32 if longest <= MAX_INDEX_32 else I64

    def key(self) -> Any:
        """What chooses the variant, besides geometry."""
        tensors = tuple((b.type.scalar, b.rank) for b in self.bindings.values())
        values = tuple((v.__class__, v) for v in self.comptime.values())
        return tensors, self.aliased, values, self.index_type.scalar


def bind(
    name: str,
    signature: inspect.Signature,
    parameters: tuple[KernelParameter, ...],
    arguments: tuple[Any, ...],
) -> Bound:
    """Checks arguments against parameters.

    Raises: `KernelLaunchError` for a wrong number or kind of arguments, `KernelTypeError` for
    element types that do not fit.
    """
    try:
        given = signature.bind(*arguments)
    except TypeError as reason:
        wanted = ", ".join(signature.parameters)
        raise KernelLaunchError(
            f"`{name}` takes the arguments ({wanted}); got {len(arguments)}: {reason}."
        ) from None
    given.apply_defaults()
    binder = _Binder(name)
    for parameter in parameters:
        binder.add(parameter, given.arguments[parameter.name])
    return binder.finish()


class _Binder:
    """Collects the arguments of one launch."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tensors: list[tuple[TensorParameter, TensorArgument, DType]] = []
        self._numbers: list[tuple[NumberParameter, Any]] = []
        self._comptime: dict[str, Any] = {}

    def add(self, parameter: KernelParameter, value: Any) -> None:
        """One argument; structs are taken apart."""
        match parameter:
            case TensorParameter():
                self._tensors.append((parameter, *self._tensor(parameter, value)))
            case NumberParameter():
                self._numbers.append((parameter, value))
            case ComptimeParameter(name):
                self._check_comptime(name, value)
                self._comptime[name] = value
            case StructParameter(name, struct, fields):
                if not isinstance(value, struct):
                    self._refuse(name, f"takes a `{struct.__name__}`", value)
                for field, inner in zip(fields, dataclasses.fields(struct), strict=True):
                    self.add(field, getattr(value, inner.name))

    def _refuse(self, name: str, takes: str, value: Any) -> None:
        kind = type(value).__name__
        hint = (
            "; copy it to the device first: `runtime.tensor(array)`"
            if isinstance(value, np.ndarray)
            else ""
        )
        raise KernelLaunchError(f"`{self._name}`: `{name}` {takes}; got a {kind}{hint}.")

    def _tensor(self, parameter: TensorParameter, value: Any) -> tuple[TensorArgument, DType]:
        memory = getattr(value, "handle", None)
        if not isinstance(memory, Memory):
            self._refuse(parameter.name, "takes a tensor on a kernel runtime", value)
        assert isinstance(memory, Memory)
        dtype: DType = value.dtype
        length = memory.size_bytes // dtype.itemsize
        return TensorArgument(memory, Shape(value.shape), tuple(value.strides), length), dtype

    def _check_comptime(self, name: str, value: Any) -> None:
        try:
            hash(value)
        except TypeError:
            raise KernelLaunchError(
                f"`{self._name}`: `{name}` is a compile-time value, which must be hashable; a "
                f"{type(value).__name__} is not."
            ) from None

    def finish(self) -> Bound:
        """Everything together: type variables, runtime, aliases, numbers."""
        runtime = self._runtime()
        types = self._types()
        written = {id(a.memory.raw) for p, a, _ in self._tensors if p.mutable}
        aliased = frozenset(
            p.name for p, a, _ in self._tensors if not p.mutable and id(a.memory.raw) in written
        )
        bindings = {
            p.name: TensorBinding(type_of(dtype), len(argument.shape))
            for p, argument, dtype in self._tensors
        }
        tensors = tuple(argument for _, argument, _ in self._tensors)
        bound = Bound(tensors, bindings, aliased, (), self._comptime, types, runtime)
        numbers = tuple(self._number(p, value, bound) for p, value in self._numbers)
        return dataclasses.replace(bound, numbers=numbers)

    def _runtime(self) -> Runtime:
        if not self._tensors:
            raise KernelLaunchError(
                f"`{self._name}` has no tensor argument, so nothing tells where it runs."
            )
        first, argument, _ = self._tensors[0]
        runtime = argument.memory.runtime
        for parameter, other, _ in self._tensors[1:]:
            if other.memory.runtime is not runtime:
                raise KernelLaunchError(
                    f"`{self._name}`: `{first.name}` is on runtime `{runtime.name}`, "
                    f"`{parameter.name}` on `{other.memory.runtime.name}`; one launch has one."
                )
        return runtime

    def _types(self) -> dict[TypeVar, Type]:
        types: dict[TypeVar, Type] = {}
        origins: dict[TypeVar, tuple[str, DType]] = {}
        for parameter, _, dtype in self._tensors:
            element = parameter.element
            if isinstance(element, TypeVar):
                origin, known = origins.setdefault(element, (parameter.name, dtype))
                if known is not dtype:
                    raise KernelTypeError(
                        f"`{self._name}`: `{element.__name__}` is {known} in `{origin}` and "
                        f"{dtype} in `{parameter.name}`; a type variable is one type."
                    )
                types[element] = type_of(dtype)
            elif _scalar(element) != type_of(dtype).scalar:
                raise KernelTypeError(
                    f"`{self._name}`: the elements of `{parameter.name}` are declared "
                    f"{_scalar(element)}; got a tensor of {dtype}."
                )
        for variable, (name, dtype) in origins.items():
            self._check_bound(variable, name, dtype)
        return types

    def _check_bound(self, variable: TypeVar, name: str, dtype: DType) -> None:
        bound = variable.__bound__
        wanted = "float" if bound is Float else "int" if bound is Int else None
        if wanted is not None and dtype.kind != wanted:
            raise KernelTypeError(
                f"`{self._name}`: `{name}` is a tensor of {dtype}, but `{variable.__name__}` is "
                f"bound to cube.{bound.__name__ if bound is not None else ''}."
            )

    def _number(self, parameter: NumberParameter, value: Any, bound: Bound) -> Any:
        kind = parameter.type
        if isinstance(kind, TypeVar):
            if kind not in bound.types:
                raise KernelTypeError(
                    f"`{self._name}`: no tensor argument tells what `{kind.__name__}` of "
                    f"`{parameter.name}` is."
                )
            type = bound.types[kind]
        elif kind in (int, float, bool):
            type = {int: bound.index_type, float: Type("f32"), bool: Type("bool")}[kind]
        else:
            type = Type(kind.scalar)
        return self._fitting(parameter.name, value, type)

    def _fitting(self, name: str, value: Any, type: Type) -> Any:
        if isinstance(value, np.generic):
            value = cast("np.generic", value).item()  # of whatever dtype the user has
        if type.kind == "bool":
            if not isinstance(value, bool):
                self._refuse(name, "takes a bool", value)
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(name, f"takes a number of type {type}", value)
        if type.is_float:
            return float(value)
        if isinstance(value, float):
            self._refuse(name, f"takes an integer of type {type}", value)
        low, high = int_range(type)
        if not low <= value <= high:
            raise KernelLaunchError(
                f"`{self._name}`: `{name}` is {value}, outside of {type}, which holds {low} to "
                f"{high}."
            )
        return value


def _scalar(element: Any) -> str:
    return "bool" if element is bool else element.scalar


def cubes_for(elements: int, units: int) -> int:
    """How many cubes of `units` cover that many elements."""
    return math.ceil(elements / units)
