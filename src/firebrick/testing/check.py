"""`check`: every operation of an op set on every backend of this machine that it lists."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from firebrick.testing.bench import Bench
from firebrick.testing.costs import measure
from firebrick.testing.generation import Generator
from firebrick.testing.given import GivenCases, read_cases, require_known
from firebrick.testing.oracle import Expected, Oracle
from firebrick.testing.probes import PROBES
from firebrick.testing.report import CheckReport, Cost, Finding
from firebrick.testing.structure import CannotMakeError
from firebrick.testing.subject import Subject, one_line
from firebrick.testing.targets import Targets, op_set_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from firebrick.core import Device
    from firebrick.opset import Operation, OpSet, ShortOperation
    from firebrick.testing.case import Case

TWINS = 4
"""Cases like the first, with other values."""


def check(
    target: type[OpSet[Any]] | ShortOperation[..., Any],
    *,
    devices: Sequence[Device] | None = None,
    cases: GivenCases | None = None,
    seed: int = 0,
) -> CheckReport:
    """Exercises every operation on every backend of this machine that it lists.

    Args:
        target: An op set that is open to backends, or an `@op` operation.
        devices: Limits the devices; those of other backends than the listed ones are left out.
        cases: Arguments by operation, in place of generated ones, where they cannot be
            generated from the signature: user tensors, structs of user tensors and ordinary
            values. They are also run in other layouts (transposed and strided copies of the same
            values), never in other sizes.
        seed: Of the generated values; the same seed checks the same numbers.

    Raises:
        SelectorError: `target` is something else.
        SignatureError: `cases` names an operation that is not there, or has too many or too few
            arguments.
        BackendUnavailableError: one of `devices` is not here.
    """
    op_set = op_set_of(target)
    given = cases or {}
    require_known(given, op_set.__operations__, op_set.__name__)
    targets = Targets(op_set, devices)
    run = _Run(targets, given, seed)
    for operation in op_set.__operations__.values():
        run.operation(Subject(op_set, operation))
    return CheckReport(run.findings, run.costs, list(dict.fromkeys(run.notes)))


class _Run:
    """One check: what was found so far."""

    def __init__(self, targets: Targets, given: GivenCases, seed: int) -> None:
        self._targets = targets
        self._given = given
        self._seed = seed
        self.findings: list[Finding] = []
        self.costs: dict[tuple[str, str], Cost] = {}
        self.notes: list[str] = list(targets.notes)

    def operation(self, subject: Subject) -> None:
        """Checks one operation on every device that implements it."""
        self.findings += self._targets.missing(subject.name)
        devices = self._targets.implementing(subject.name)
        if not devices:
            return
        oracle = Oracle(subject, devices[0])
        cases = _Cases(subject.operation, self._given.get(subject.name, ()), oracle, self._seed)
        self.notes += [
            f"{subject.name}: nothing was run with {case}, which raises; give cases if need be"
            for case in cases.refused
        ]
        if not cases.expected:
            message = f"{cases.why}; give cases: `check(..., cases={{{subject.name!r}: [(...)]}})`"
            self.findings.append(Finding(subject.name, str(devices[0]), "error", message))
            return
        is_random = oracle.is_random(cases.expected[0].case)
        if is_random:
            self.notes.append(
                f"{subject.name}: results are random, so they were compared with those of the same "
                "seed only, and devices were seeded"
            )
        for device in devices:
            subject.seeded = (device,) if is_random else ()
            expected = list(cases.expected)
            bench = Bench(subject, device, oracle, expected, cases.twins, self._seed)
            bench.is_random = is_random
            self._on_device(bench)

    def _on_device(self, bench: Bench) -> None:
        name, device = bench.subject.name, str(bench.device)
        known: set[str] = set()
        for probe in PROBES:
            for fault in probe(bench):
                if fault.kind not in known:
                    known.add(fault.kind)
                    self.findings.append(Finding(name, device, fault.kind, fault.message))
            if not bench.plain:
                break  # the operation raises, whatever is tried
        self.costs[name, device] = measure(bench)
        self.notes += bench.notes


class _Cases:
    """The cases of one operation that its oracle takes; `why` tells if there are none."""

    def __init__(
        self, operation: Operation, given: Sequence[tuple[Any, ...]], oracle: Oracle, seed: int
    ) -> None:
        self._oracle = oracle
        self.why = ""
        self.refused: list[str] = []
        self.expected: list[Expected] = []
        self.twins: list[Case] = []
        if given:
            self.expected = list(self._taken(read_cases(operation, given)))
            taken = [expected.case for expected in self.expected]
            self.twins = list(islice(cycle(taken), TWINS)) if taken else []
            return
        try:
            self._generate(Generator(operation, seed))
        except CannotMakeError as reason:
            self.why = f"arguments cannot be made up: {reason}"

    def _generate(self, generator: Generator) -> None:
        base = generator.base(self._accepts)
        if base is None:
            return
        recipes = [base, *generator.variants(base, self._accepts)]
        self.refused = generator.refused
        self.expected = list(self._taken(generator.make(recipe) for recipe in recipes))
        others = (generator.make(base, seed=count) for count in range(1, TWINS + 1))
        self.twins = [expected.case for expected in self._taken(others)]

    def _accepts(self, case: Case) -> bool:
        return any(True for _ in self._taken([case]))

    def _taken(self, cases: Iterable[Case | None]) -> Iterator[Expected]:
        for case in cases:
            if case is None:
                continue
            found = self._oracle.expected(case)
            if isinstance(found, Expected):
                yield found
            else:
                self.why = f"every case raises, the last one ({case}) {one_line(found)}"
