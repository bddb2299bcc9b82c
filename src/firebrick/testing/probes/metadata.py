"""What the declaration says of outputs against what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firebrick.core import DispatchTensor, TensorSpec
from firebrick.opset import into_dispatch, mismatch, output_specs, outputs_bound
from firebrick.testing.bench import Bench, Fault
from firebrick.testing.nests import replace_leaves
from firebrick.testing.placement import place
from firebrick.testing.subject import attempt, one_line


def probe_metadata(bench: Bench) -> Iterator[Fault]:
    """Shapes, dtypes, variants and fields are as declared, in every case."""
    if not _describes_outputs(bench):
        return
    operation = bench.subject.operation
    for expected in bench.expected:
        arguments = place(expected.case, bench.device)
        specs = replace_leaves(into_dispatch(arguments), DispatchTensor, _spec)
        declared = attempt(lambda specs=specs: output_specs(operation, specs))
        if declared.error is not None:
            yield Fault("metadata", f"with {expected.case}: the form {one_line(declared.error)}")
            continue
        found = attempt(lambda arguments=arguments: bench.subject.call(arguments))
        if found.error is not None:
            continue  # the layout probe tells of sizes that raise
        difference = attempt(
            lambda declared=declared, found=found: mismatch(
                declared.value, found.value, operation.returns, _spec
            )
        )
        message = difference.value if difference.error is None else one_line(difference.error)
        if message is not None:
            yield Fault("metadata", f"with {expected.case}: {message}")


def _describes_outputs(bench: Bench) -> bool:
    """Whether there is anything to compare with: dtype and shape, meta, or bound dimensions."""
    operation = bench.subject.operation
    if operation.form is None or operation.form.name == "dims":
        return outputs_bound(operation)
    return operation.form.name in ("fields", "meta")


def _spec(tensor: Any) -> TensorSpec:
    return TensorSpec(tensor.shape, tensor.dtype)
