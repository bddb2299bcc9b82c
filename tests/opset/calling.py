"""Declaring and calling operations in tests: as users do, or from parts of any sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import new_class
from typing import Any, TypeAlias

import numpy as np

from firebrick import Device, Tensor
from firebrick.extension import OpSet, P, backend_extension, from_dispatch, into_dispatch

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


def run(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls an operation on user tensors, in any nesting."""
    return from_dispatch(method(*into_dispatch(args), **into_dispatch(kwargs)))


def floats(values: Sequence[Any] | float, device: Device) -> Tensor:
    """A float tensor."""
    return Tensor(np.asarray(values, dtype=np.float32), device)


def ints(values: Sequence[Any] | int, device: Device) -> Tensor:
    """An int tensor."""
    return Tensor(np.asarray(values, dtype=np.int32), device)


def bools(values: Sequence[Any] | bool, device: Device) -> Tensor:
    """A bool tensor."""
    return Tensor(np.asarray(values, dtype=np.bool_), device)


def ones(shape: Sequence[int], device: Device) -> Tensor:
    """A float tensor of a shape."""
    return Tensor(np.ones(shape, dtype=np.float32), device)


def declare(**members: Any) -> Any:
    """An op set called `Ops`, whose members checkers would not let stand in a class."""
    bases: Any = (OpSet[P],)  # pyright: ignore[reportGeneralTypeIssues] - as in a class line
    return new_class("Ops", bases, {}, lambda body: body.update(members))


def opened(*selectors: Any, **members: Any) -> Any:
    """As `declare`, open to backends."""
    return backend_extension(*selectors)(declare(**members))


def implement(op_set: Any, selector: Any, **members: Any) -> Any:
    """A class `Mine` that implements an op set, as `class Mine(Ops[...], on=selector)` would."""
    return new_class("Mine", (op_set,), {"on": selector}, lambda body: body.update(members))
