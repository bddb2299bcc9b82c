"""Gradient rules of the built-in operations, by family; imported when a first one is looked up.

An operation without a rule is differentiated through its default body.
"""

from __future__ import annotations

from firebrick.backend import ActivationOps, FloatOps
from firebrick.decorators.autodiff.backend import Autodiff
from firebrick.decorators.autodiff.node import AutodiffTensor
from firebrick.decorators.autodiff.rules.activation import ActivationFamilyRules
from firebrick.decorators.autodiff.rules.arithmetic import ArithmeticRules
from firebrick.decorators.autodiff.rules.conversion import ConversionRules
from firebrick.decorators.autodiff.rules.elementary import ElementaryRules
from firebrick.decorators.autodiff.rules.indexing import IndexingRules
from firebrick.decorators.autodiff.rules.layout import LayoutRules
from firebrick.decorators.autodiff.rules.linalg import LinalgRules
from firebrick.decorators.autodiff.rules.reduction import ReductionRules
from firebrick.decorators.autodiff.rules.updates import UpdateRules

__all__ = ["ActivationRules", "FloatRules"]


class FloatRules(
    ArithmeticRules[AutodiffTensor],
    ElementaryRules[AutodiffTensor],
    LinalgRules[AutodiffTensor],
    LayoutRules[AutodiffTensor],
    IndexingRules[AutodiffTensor],
    UpdateRules[AutodiffTensor],
    ReductionRules[AutodiffTensor],
    ConversionRules[AutodiffTensor],
    FloatOps[AutodiffTensor],
    on=Autodiff,
):
    """Rules of `FloatOps`."""


class ActivationRules(
    ActivationFamilyRules[AutodiffTensor], ActivationOps[AutodiffTensor], on=Autodiff
):
    """Rules of `ActivationOps`."""
