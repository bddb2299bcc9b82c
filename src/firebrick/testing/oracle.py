"""What the result of a case should be: computed in float64, away from the device under test.

The default body on NdArray if there is one, else the implementation on NdArray, else that on the
first device that is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from firebrick.core import Device, DispatchTensor, resolver
from firebrick.errors import (
    BackendNotSupportedError,
    KindError,
    MissingImplementationError,
    TensorError,
)
from firebrick.opset import Leaf, NoDefault, P, into_dispatch, kind_or_none, leaves
from firebrick.opset.nodes import tensor_nodes
from firebrick.testing.checked_backend import checked_backend
from firebrick.testing.comparison import HostValues, exactly, find_difference, snapshot
from firebrick.testing.nests import find_leaves, replace_leaves
from firebrick.testing.placement import Precision, place
from firebrick.testing.subject import Outcome, Subject, attempt
from firebrick.testing.tolerances import ANCHOR_FACTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firebrick.testing.case import Case

Source: TypeAlias = "tuple[str, Callable[[Case, Precision], Any]]"
_ELSEWHERE = (NoDefault, MissingImplementationError, BackendNotSupportedError)
"""What a source raises that has no implementation at all, so that the next one is asked."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A case with its result; `slack` says how much precision the dtype itself costs, by path."""

    case: Case
    source: str
    value: Any
    slack: dict[str, float]
    dtypes: dict[str, Any]


class Oracle:
    """The oracle of one operation."""

    def __init__(self, subject: Subject, first: Device) -> None:
        self._subject = subject
        self._first = first

    def expected(self, case: Case) -> Expected | Exception:
        """What the case should give; what the oracle or the form raises where it is no case."""
        refusal = self._refusal(case)
        if refusal is not None:
            return refusal
        name, exact = self._evaluate(case, "float64")
        if exact.error is not None:
            return exact.error
        _, coarse = self._evaluate(case, "native")
        slack, dtypes = _precision(exact.value, coarse)
        return Expected(case, name, exact.value, slack, dtypes)

    def is_random(self, case: Case) -> bool:
        """Whether results differ from call to call, but not after the same seed."""
        if self._repeats(case):
            return False
        self._subject.seeded = (Device.ndarray(), self._first)
        try:
            return self._repeats(case)
        finally:
            self._subject.seeded = ()

    def _repeats(self, case: Case) -> bool:
        first, again = self.value(case), self.value(case)
        return find_difference(again.value, first.value, exactly, "out") is None

    def _refusal(self, case: Case) -> Exception | None:
        """What the form of the operation says against the case."""
        if not self._subject.describes_outputs:
            return None
        arguments = place(case, Device.ndarray())
        outcome = attempt(lambda: self._subject.declared_outputs(arguments))
        return outcome.error if isinstance(outcome.error, TensorError) else None

    def value(self, case: Case) -> Outcome:
        """The result in float64."""
        return self._evaluate(case, "float64")[1]

    def _evaluate(self, case: Case, precision: Precision) -> tuple[str, Outcome]:
        tried: list[tuple[str, Outcome]] = []
        for name, source in self._sources():
            outcome = attempt(lambda source=source: snapshot(source(case, precision)))
            tried.append((name, outcome))
            if not isinstance(outcome.error, _ELSEWHERE):
                break
        return tried[-1]

    def _sources(self) -> Iterator[Source]:
        if self._subject.operation.has_default:
            yield "the default body", self._by_default_body
        reference = Device.ndarray()
        yield "the NdArray result", lambda case, precision: self._on(reference, case, precision)
        first = self._first
        yield f"{first} in float64", lambda case, precision: self._on(first, case, precision)

    def _by_default_body(self, case: Case, precision: Precision) -> Any:
        device = Device.ndarray()
        arguments = into_dispatch(place(case, device, precision=precision))
        primitives = replace_leaves(arguments, DispatchTensor, lambda tensor: tensor.primitive)
        # A body on user tensors makes constants on its device, which has one backend.
        takes_users = self._subject.operation.tensor is not P
        backend = resolver().open(device) if takes_users else checked_backend()
        found = self._subject.default_body(primitives, backend)
        self._require_kinds(found, backend)
        return found

    def _require_kinds(self, found: Any, backend: Any) -> None:
        """`KindError` unless the outputs are of the declared kinds, as dispatch would raise it."""
        operation = self._subject.operation
        for leaf in leaves(found, operation.returns, "out"):
            if not isinstance(leaf, Leaf):
                raise KindError(f"`{leaf.path}` is not {leaf.expected} in the default body.")
            kind = kind_or_none(backend, backend.adopt(leaf.value))
            if kind is not None and kind not in {node.kind for node in tensor_nodes(leaf.node)}:
                raise KindError(f"`{leaf.path}` is of kind {kind} in the default body.")

    def _on(self, device: Device, case: Case, precision: Precision) -> Any:
        return self._subject.call(place(case, device, precision=precision))


def _precision(exact: Any, coarse: Outcome) -> tuple[dict[str, float], dict[str, Any]]:
    """How far the result in the native dtypes is from the exact one, and what dtypes it has."""
    rough = dict(find_leaves(coarse.value, HostValues, "out"))
    slack: dict[str, float] = {}
    for path, fine in find_leaves(exact, HostValues, "out"):
        other = rough.get(path)
        if other is None or other.array.shape != fine.array.shape or fine.array.dtype.kind != "f":
            continue
        with np.errstate(all="ignore"):
            distance = np.abs(fine.array - other.array.astype(np.float64))
        finite = distance[np.isfinite(distance)]
        slack[path] = ANCHOR_FACTOR * float(finite.max(initial=0.0))
    return slack, {path: values.dtype for path, values in rough.items()}
