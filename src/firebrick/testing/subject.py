"""An operation that is checked, called as a user calls it."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from firebrick.core import Device, DispatchTensor, TensorSpec
from firebrick.errors import KindError, MetadataMismatchError
from firebrick.opset import (
    GradientRule,
    Operation,
    OpSet,
    Selector,
    bind_instance,
    dispatch,
    from_dispatch,
    into_dispatch,
    output_specs,
    outputs_bound,
    own_member,
)
from firebrick.testing.comparison import snapshot
from firebrick.testing.nests import replace_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

SEED = 0
"""Of random numbers, where an operation draws some."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: a value, or the error that it raised."""

    value: Any = None
    error: Exception | None = None


def attempt(call: Callable[[], Any]) -> Outcome:
    """The outcome of a call; NumPy's warnings about infinities and NaN are off."""
    try:
        with np.errstate(all="ignore"):
            return Outcome(value=call())
    except SystemExit as error:
        return Outcome(error=RuntimeError(f"the operation ended the process: exit({error.code!r})"))
    except Exception as error:  # whatever an operation raises is the finding
        return Outcome(error=error)


def one_line(error: Exception) -> str:
    """Type and first line of what was raised."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def is_metadata_error(error: Exception) -> bool:
    """Whether dispatch refused an output: another kind, structure, shape or dtype."""
    return isinstance(error, KindError | MetadataMismatchError)


def spec_of(tensor: Any) -> TensorSpec:
    """Shape and dtype of a user's or a dispatched tensor."""
    return TensorSpec(tensor.shape, tensor.dtype)


class Subject:
    """One operation of an op set.

    `seeded` are devices that are seeded before each call: an operation that draws random numbers
    then draws the same ones.
    """

    def __init__(self, op_set: type[OpSet[Any]], operation: Operation) -> None:
        self.op_set = op_set
        self.operation = operation
        self.name = operation.name
        self.seeded: tuple[Device, ...] = ()

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """The operation on user values; awaited if it is async."""
        self._seed()
        values = into_dispatch(dict(arguments))
        function = getattr(dispatch(self.op_set), self.name)
        positional, keywords = self._split(values)
        return from_dispatch(_finished(function(*positional, **keywords)))

    def run(self, arguments: Mapping[str, Any]) -> Outcome:
        """As `call`, with the values of the outputs read and copied to the host."""
        return attempt(lambda: snapshot(self.call(arguments)))

    def default_body(self, arguments: Mapping[str, Any], backend: Any) -> Any:
        """The default body on a backend's own tensors, whoever implements the operation there."""
        if self.seeded:
            backend.seed(Device.ndarray(), SEED)
        instance = bind_instance(self.op_set, backend)
        positional, keywords = self._split(arguments)
        return _finished(self.operation.function(instance, *positional, **keywords))

    def _seed(self) -> None:
        for device in self.seeded:
            device.seed(SEED)

    @cached_property
    def describes_outputs(self) -> bool:
        """Whether outputs are declared: dtype and shape, meta, or bound dimensions."""
        form = self.operation.form
        if form is None or form.name == "dims":
            return outputs_bound(self.operation)
        return form.name in ("fields", "meta")

    def declared_outputs(self, arguments: Mapping[str, Any]) -> Any:
        """What the declaration says of the outputs for these user values."""
        values = into_dispatch(dict(arguments))
        return output_specs(self.operation, replace_leaves(values, DispatchTensor, spec_of))

    def _split(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        parameters = self.operation.parameters
        positional = [values[p.name] for p in parameters if not p.keyword_only]
        return positional, {p.name: values[p.name] for p in parameters if p.keyword_only}

    @cached_property
    def is_tracked(self) -> bool:
        """Whether calls on an autodiff device are differentiated: listed, and implemented."""
        selector = self._autodiff
        if selector is None:
            return False
        found = self.op_set.__implementations__.find(selector)
        if found is None:
            return False
        own = own_member(self.op_set, found, self.name)
        return own is not None or self.operation.has_default

    @cached_property
    def has_gradient(self) -> bool:
        """Whether `is_tracked`, and not declared to be without a gradient."""
        if not self.is_tracked or self._autodiff is None:
            return False
        implementation = self.op_set.__implementations__.find(self._autodiff)
        own = implementation and own_member(self.op_set, implementation, self.name)
        return not (isinstance(own, GradientRule) and own.function is None)

    @cached_property
    def _autodiff(self) -> Selector | None:
        listed = self.op_set.__selectors__ or {}
        found = [s for s, condition in listed.items() if s.role == "autodiff" and condition.holds()]
        return found[0] if found else None


def _finished(result: Any) -> Any:
    """The result itself, or what it gives when it is awaited."""
    return _awaited(result) if inspect.iscoroutine(result) else result


def _awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    import asyncio  # costs 20 ms, and few operations are async

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as other:  # a notebook runs a loop in this thread
        return other.submit(asyncio.run, coroutine).result()
