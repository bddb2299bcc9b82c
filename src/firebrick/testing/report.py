"""What `check` found: findings, and a plain text table with the cost of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FindingKind: TypeAlias = Literal[
    "missing",  # a listed selector without an implementation
    "forward",  # differs from the default body or from the NdArray result
    "gradient",  # first derivative differs from finite differences
    "second gradient",
    "metadata",  # shape, dtype, variant or field differs from what was declared
    "mutation",  # an input was changed
    "aliasing",  # an output shares memory with an input or another output
    "layout",  # strided, broadcast, zero-size, 0-d or size-1 inputs give another result
    "fusion",  # fused and direct results differ
    "checkpointing",  # gradients differ with and without
    "threads",
    "remote",
    "serialization",
    "error",  # a case raised
]


@dataclass(frozen=True)
class Finding:
    """One fault: `str()` is one line."""

    operation: str
    device: str
    kind: FindingKind
    message: str

    def __str__(self) -> str:
        return f"{self.operation} on {self.device}: {self.kind}: {' '.join(self.message.split())}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Median time of a call in microseconds; None where it was not measured."""

    plain_us: float | None = None
    tracked_us: float | None = None


class CheckReport:
    """What `check` found; `str()` is a table with the cost per call in microseconds."""

    def __init__(
        self,
        findings: Sequence[Finding],
        costs: Mapping[tuple[str, str], Cost],
        notes: Sequence[str] = (),
    ) -> None:
        self._findings = list(findings)
        self._costs = dict(costs)
        self._notes = list(notes)

    @property
    def findings(self) -> list[Finding]:
        """Every fault, by operation and device; at most one of a kind for each."""
        return list(self._findings)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self._findings

    @property
    def exercised(self) -> list[tuple[str, str]]:
        """Pairs (operation, device) that were run."""
        return list(self._costs)

    @property
    def notes(self) -> list[str]:
        """What could not be checked and is no fault."""
        return list(self._notes)

    def raise_if_failed(self) -> None:
        """`AssertionError` with the table."""
        if not self.ok:
            raise AssertionError(f"`check` found {_count(len(self._findings))}.\n{self}")

    def __str__(self) -> str:
        rows = [("operation", "device", "us", "us tracked", "found")]
        rows += [self._row(*pair) for pair in self._pairs()]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [_aligned(row, widths) for row in rows]
        lines += [str(finding) for finding in self._findings]
        lines += [f"note: {note}" for note in self._notes]
        return "\n".join([*lines, _count(len(self._findings))])

    def _pairs(self) -> list[tuple[str, str]]:
        found = [(finding.operation, finding.device) for finding in self._findings]
        return list(dict.fromkeys([*self._costs, *found]))

    def _row(self, operation: str, device: str) -> tuple[str, str, str, str, str]:
        cost = self._costs.get((operation, device), Cost())
        kinds = [f.kind for f in self._findings if (f.operation, f.device) == (operation, device)]
        times = _microseconds(cost.plain_us), _microseconds(cost.tracked_us)
        return operation, device, *times, ", ".join(kinds) or "-"


def _aligned(row: tuple[str, ...], widths: Sequence[int]) -> str:
    operation, device, plain, tracked, found = (
        text.rjust(width) if column in (2, 3) else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"{operation}  {device}  {plain}  {tracked}  {found}".rstrip()


def _microseconds(time_us: float | None) -> str:
    return "-" if time_us is None else f"{time_us:.1f}"


def _count(findings: int) -> str:
    return f"{findings or 'no'} finding{'' if findings == 1 else 's'}"
