"""One operation on one device, as the probes see it: its cases, and ways to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from firebrick.core import Device, DispatchTensor
from firebrick.opset import into_dispatch
from firebrick.testing.nests import find_leaves
from firebrick.testing.placement import Layout, Precision, place

if TYPE_CHECKING:
    from firebrick.testing.case import Case
    from firebrick.testing.oracle import Expected, Oracle
    from firebrick.testing.report import FindingKind
    from firebrick.testing.subject import Outcome, Subject


@dataclass(frozen=True, slots=True)
class Fault:
    """What a probe found; operation and device are added by `check`."""

    kind: FindingKind
    message: str


@dataclass(slots=True)
class Bench:
    """Everything about one operation on one device.

    `expected` are the cases with their results, `twins` cases like the first with other values.
    The forward probe removes the cases that raise; what is left is for the other probes.
    """

    subject: Subject
    device: Device
    oracle: Oracle
    expected: list[Expected]
    twins: Sequence[Case]
    seed: int
    notes: list[str] = field(default_factory=list[str])
    is_random: bool = False
    """Whether the operation draws random numbers, which differ from backend to backend."""
    is_wrong: bool = False
    """Whether plain cases differ from the oracle, so that unusual sizes need not be compared."""
    is_mutating: bool = False
    """Whether inputs are written, so that gradients mean nothing."""
    has_wrong_gradient: bool = False

    @property
    def plain(self) -> list[Expected]:
        """The cases that the operation is for."""
        return [expected for expected in self.expected if expected.case.role == "plain"]

    def run(
        self,
        case: Case,
        *,
        layout: Layout = "contiguous",
        precision: Precision = "native",
        device: Device | None = None,
    ) -> Outcome:
        """The outcome of a case on fresh inputs."""
        where = device or self.device
        return self.subject.run(place(case, where, layout=layout, precision=precision))


Probe: TypeAlias = Callable[[Bench], Iterator[Fault]]


def dispatched(value: Any) -> list[tuple[str, DispatchTensor]]:
    """The dispatched tensors inside user values, with their paths."""
    return list(find_leaves(into_dispatch(value), DispatchTensor))
