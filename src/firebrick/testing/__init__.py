"""Finding faults in operations: `check`, gradient checks, and comparing results."""

from __future__ import annotations

from firebrick.testing.assert_close import assert_close
from firebrick.testing.check import check
from firebrick.testing.gradients import check_gradients
from firebrick.testing.report import CheckReport, Finding

__all__ = ["CheckReport", "Finding", "assert_close", "check", "check_gradients"]
