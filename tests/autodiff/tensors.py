"""Marked leaves, and calls of operations on what users hold."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from gc import collect, disable, enable
from typing import Any

import numpy as np

from firebrick import Device, Tensor, float64
from firebrick.core import DispatchTensor
from firebrick.decorators.autodiff import AutodiffTensor
from firebrick.opset import from_dispatch, into_dispatch


def leaf(values: Any, device: Device) -> Tensor:
    """A marked leaf in float64, so that results can be compared exactly."""
    array = np.asarray(values, np.float64)
    return Tensor(array, device.autodiff(), dtype=float64).require_grad()


def ints(values: Any, device: Device) -> Tensor:
    """An untracked int tensor on the same side."""
    return Tensor(np.asarray(values, np.int64), device.autodiff())


def run(method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """An operation of `dispatch(...)` on user tensors, wherever they stand."""
    return from_dispatch(method(*into_dispatch(arguments), **into_dispatch(named)))


def raw(tensor: Tensor) -> AutodiffTensor:
    """What an implementation on the autodiff backend receives for a tensor."""
    return tensor.into_dispatch().primitive


def shown(tensor: AutodiffTensor) -> Tensor:
    """What the caller gets of a float that such an implementation returned."""
    return from_dispatch(DispatchTensor(tensor, "float", tensor.owner))


@contextmanager
def without_collector() -> Generator[None]:
    """Only reference counts free anything in here."""
    collect()
    disable()
    try:
        yield
    finally:
        enable()
