"""What a launch is given, checked against the function's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firebrick.cube.interpreter.arithmetic import in_type
from firebrick.cube.interpreter.memory import HostArray, Number, storage_dtype
from firebrick.cube.ir.expression_rules import integer_range
from firebrick.cube.ir.types import BOOL
from firebrick.errors import KernelLaunchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.cube.ir.nodes import Buffer, Function, ScalarParameter


@dataclass(frozen=True, slots=True, eq=False)
class InterpreterBuffer:
    """The memory behind a tensor argument; two of them may share an array.

    `values` is one-dimensional; bfloat16 elements are given as their bits in a uint16 array.
    `strides` count elements.
    """

    values: HostArray
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, array: HostArray) -> InterpreterBuffer:
        """The memory of a contiguous array."""
        if not array.flags.c_contiguous:
            raise KernelLaunchError(
                f"a kernel takes contiguous arrays; got strides {list(array.strides)} of shape "
                f"{list(array.shape)}."
            )
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return cls(array.reshape(-1), array.shape, strides)


def check_buffers(function: Function, buffers: Sequence[InterpreterBuffer]) -> None:
    """Raises `KernelLaunchError` if the buffers do not fit the parameters."""
    _check_count(function, "buffers", len(function.buffers), len(buffers))
    for buffer in function.buffers:
        _check_buffer(function, buffer, buffers[buffer.position])


def _check_count(function: Function, what: str, wanted: int, given: int) -> None:
    if given != wanted:
        raise KernelLaunchError(f"`{function.name}` takes {wanted} {what}; got {given}.")


def _check_buffer(function: Function, buffer: Buffer, given: InterpreterBuffer) -> None:
    what = f"`{buffer.name}` of `{function.name}`"
    values, dtype = given.values, storage_dtype(buffer.type)
    if values.dtype != dtype or values.ndim != 1:
        raise KernelLaunchError(
            f"{what} takes a flat array of {dtype}; got {values.dtype} of shape "
            f"{list(values.shape)}."
        )
    if not len(given.shape) == len(given.strides) == buffer.rank:
        raise KernelLaunchError(
            f"{what} has rank {buffer.rank}; got shape {list(given.shape)} and strides "
            f"{list(given.strides)}."
        )
    if buffer.mutable and not values.flags.writeable:
        raise KernelLaunchError(f"{what} is written, and the array is read only.")


def check_scalars(function: Function, scalars: Sequence[Number]) -> list[Number]:
    """The scalars as their types hold them; `KernelLaunchError` if they do not fit."""
    _check_count(function, "scalars", len(function.scalars), len(scalars))
    parameters = sorted(function.scalars, key=lambda scalar: scalar.position)
    return [_scalar(function, parameter, scalars[parameter.position]) for parameter in parameters]


def _scalar(function: Function, parameter: ScalarParameter, given: Number) -> Number:
    type = parameter.type
    if type == BOOL or type.is_float:
        return bool(given) if type == BOOL else in_type(float(given), type)
    low, high = integer_range(type)
    if not low <= given <= high or given != int(given):
        raise KernelLaunchError(
            f"`{parameter.name}` of `{function.name}` is of type {type}, which does not hold "
            f"{given!r}."
        )
    return int(given)
