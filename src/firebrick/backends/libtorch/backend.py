"""The backend class: what torch's tensors are, and every built-in operation by family."""

from __future__ import annotations

from typing import Any

from firebrick.backend import Backend
from firebrick.backends.libtorch.activation import Activation
from firebrick.backends.libtorch.bits import Bits
from firebrick.backends.libtorch.comparison import Comparisons
from firebrick.backends.libtorch.creation import Creation
from firebrick.backends.libtorch.extremes import Extremes
from firebrick.backends.libtorch.float_arithmetic import FloatArithmetic
from firebrick.backends.libtorch.float_math import FloatMath
from firebrick.backends.libtorch.indexing import Indexing
from firebrick.backends.libtorch.int_arithmetic import IntArithmetic
from firebrick.backends.libtorch.layout import Layout
from firebrick.backends.libtorch.logic import Logic
from firebrick.backends.libtorch.masks import Masks
from firebrick.backends.libtorch.ordering import Ordering
from firebrick.backends.libtorch.random import Random
from firebrick.backends.libtorch.reduction import Reduction
from firebrick.backends.libtorch.slicing import Slicing


class LibTorch(
    Creation,
    Random,
    Layout,
    Slicing,
    Indexing,
    Masks,
    FloatArithmetic,
    FloatMath,
    IntArithmetic,
    Bits,
    Comparisons,
    Logic,
    Reduction,
    Extremes,
    Ordering,
    Activation,
    Backend[Any],
):
    """PyTorch: the primitive is `torch.Tensor`, and operations are torch's own.

    Tensors never require a gradient of torch's: firebrick differentiates by itself.
    """
