"""The backend of the capture device, derived from the declarations.

An operation becomes a description of its outputs by its `@fusion` form, and an entry of the open
graph. What has no form that describes outputs keeps its default body, whose operations are
recorded instead; without such a body it reads values, and there are none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, cast

from firebrick.backend import BUILTIN_OP_SETS, Backend
from firebrick.core import Device, DType, TensorSpec, bool_, float32, int32
from firebrick.decorators.capture.graph import Record, open_graph
from firebrick.decorators.capture.tensor import CaptureTensor
from firebrick.errors import DispatchError, TensorError
from firebrick.opset import Operation, output_specs

_FROM_HOST = frozenset({"float_from_data", "int_from_data", "bool_from_data"})


class Capture(Backend[CaptureTensor]):
    """Records operations inside `capture_scope` and executes none. Primitive `CaptureTensor`."""

    name = "capture"
    native = CaptureTensor
    kinds = MappingProxyType({dtype: dtype.kind for dtype in DType.by_name.values()})

    @classmethod
    def devices(cls) -> list[Device]:
        """The one capture device."""
        return [Device.of(cls.name)]

    def device_of(self, tensor: CaptureTensor) -> Device:
        """The one capture device."""
        return Device.of(self.name)

    def dtype_of(self, tensor: CaptureTensor) -> DType:
        """As described."""
        return tensor.dtype

    def default_dtypes(self, device: Device) -> dict[str, DType]:
        """Those of the default backend, so that a graph fits it."""
        return {"float": float32, "int": int32, "bool": bool_}

    def supports_dtype(self, device: Device, dtype: DType) -> bool:
        """Every dtype can be described."""
        return True

    def shares_memory(self, first: CaptureTensor, second: CaptureTensor) -> bool:
        """Whether both stand for the same values: there is no memory."""
        return first == second

    def seed(self, device: Device, seed: int) -> None:
        """Nothing to do: no random numbers are drawn here."""

    def sync(self, device: Device) -> None:
        """Nothing to wait for."""


class Recorded:
    """An operation as an attribute of `Capture`; becomes a method of the instance at first use."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self.__doc__ = operation.function.__doc__

    def __get__(self, backend: Capture | None, owner: type[Capture]) -> Any:
        if backend is None:
            return self
        operation = self._operation
        describes = _describes_outputs(operation)
        method = _recording(operation) if describes else _refusing(operation)
        backend.__dict__[operation.name] = method
        return method


def _describes_outputs(operation: Operation) -> bool:
    return operation.form is not None and operation.form.name in ("fields", "meta", "dims")


def _recording(operation: Operation) -> Callable[..., Any]:
    """Describes the outputs of a call and records it."""
    signature = inspect.signature(operation.function)
    is_initial = operation.name in _FROM_HOST

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(None, *args, **kwargs)
        bound.apply_defaults()
        arguments = dict(list(bound.arguments.items())[1:])
        try:
            specs = output_specs(operation, arguments)
        except TensorError as fact:
            raise type(fact)(f"`{operation.name}`: {fact}") from None
        outputs: list[CaptureTensor] = []
        result = _named(specs, outputs)
        graph = open_graph()
        if graph is not None and is_initial:
            graph.add_initial(result, arguments["data"])
        elif graph is not None:
            kept = {name: _frozen(value) for name, value in arguments.items()}
            graph.add(Record(operation.id, kept, tuple(outputs)))
        return result

    return call


def _refusing(operation: Operation) -> Callable[..., Any]:
    """Refuses to read values."""

    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise DispatchError(
            f"a capture device records operations and executes none, so `{operation.name}` has no "
            "values to read; run the program on another device for its values."
        )

    return call


def _named(specs: Any, outputs: list[CaptureTensor]) -> Any:
    """A nest of specs with a new tensor for each, which is added to `outputs`."""
    if isinstance(specs, TensorSpec):
        tensor = CaptureTensor(specs.shape, specs.dtype)
        outputs.append(tensor)
        return tensor
    return tuple(_named(spec, outputs) for spec in specs)


def _frozen(value: Any) -> Any:
    """An argument as it was at the call: lists, which can change later, become tuples."""
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in cast("Sequence[object]", value))  # of any items
    return value


for _op_set in BUILTIN_OP_SETS:
    for _name, _operation in _op_set.__operations__.items():
        if _describes_outputs(_operation) or not _operation.has_default:
            setattr(Capture, _name, Recorded(_operation))
