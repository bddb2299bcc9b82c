"""A plugin for pytest: the fixture `firebrick_check`, which fails a test on any finding.

    def test_my_operations(firebrick_check):
        firebrick_check(MyOps)

pytest finds it by the entry point group `pytest11` of the installed package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from firebrick.testing.check import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firebrick.core import Device
    from firebrick.opset import OpSet, ShortOperation
    from firebrick.testing.given import GivenCases
    from firebrick.testing.report import CheckReport


class Check(Protocol):
    """`firebrick.testing.check`, but it raises `AssertionError` on any finding."""

    def __call__(
        self,
        target: type[OpSet[Any]] | ShortOperation[..., Any],
        *,
        devices: Sequence[Device] | None = None,
        cases: GivenCases | None = None,
        seed: int = 0,
    ) -> CheckReport:
        """The report, if there is no finding."""
        ...


@pytest.fixture(scope="session")
def firebrick_check() -> Check:
    """Checks an op set or an `@op` operation; the table of findings is the test's failure."""

    def run(
        target: type[OpSet[Any]] | ShortOperation[..., Any],
        *,
        devices: Sequence[Device] | None = None,
        cases: GivenCases | None = None,
        seed: int = 0,
    ) -> CheckReport:
        __tracebackhide__ = True
        report = check(target, devices=devices, cases=cases, seed=seed)
        report.raise_if_failed()
        return report

    return run
