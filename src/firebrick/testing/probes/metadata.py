"""What the declaration says of outputs against what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firebrick.opset import mismatch
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.placement import place
from firebrick.testing.subject import attempt, one_line, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firebrick.testing.case import Case


def probe_metadata(bench: Bench) -> Iterator[Fault]:
    """Shapes, dtypes, variants and fields are as declared, in every case."""
    if not bench.subject.describes_outputs:
        return
    for expected in bench.expected:
        arguments = place(expected.case, bench.device)
        declared = attempt(lambda arguments=arguments: bench.subject.declared_outputs(arguments))
        if declared.error is not None:
            yield Fault("metadata", f"with {expected.case}: the form {one_line(declared.error)}")
        else:
            yield from _compared(bench, expected.case, arguments, declared.value)


def _compared(
    bench: Bench, case: Case, arguments: dict[str, Any], declared: Any
) -> Iterator[Fault]:
    found = attempt(lambda: bench.subject.call(arguments))
    if found.error is not None:
        return  # told by another probe
    node = bench.subject.operation.returns
    # A form may return anything, so that comparing it may raise.
    outcome = attempt(lambda: mismatch(declared, found.value, node, spec_of))
    message = outcome.value if outcome.error is None else one_line(outcome.error)
    if message is not None:
        yield Fault("metadata", f"with {case}: {message}")
