"""The autodiff decorator: graph, backward pass, checkpointing, and what authors of one need."""

from __future__ import annotations

from firebrick.core import BalancedCheckpointing, CheckpointStrategy, NoCheckpointing
from firebrick.decorators.autodiff.backend import Autodiff, autodiff_of
from firebrick.decorators.autodiff.backward_pass import run_backward
from firebrick.decorators.autodiff.contexts import (
    detach,
    is_leaf,
    is_tracked,
    lift,
    lower,
    mark_leaf,
    record_transfer,
)
from firebrick.decorators.autodiff.derive import derive, derive_constant
from firebrick.decorators.autodiff.gradients import Gradients
from firebrick.decorators.autodiff.long_step import Checkpointer, Ops
from firebrick.decorators.autodiff.node import AutodiffTensor, Node, NodeId
from firebrick.decorators.autodiff.prepare import Backward, Tracked, Untracked
from firebrick.decorators.autodiff.reduce_broadcast import broadcast_shape
from firebrick.decorators.autodiff.saved import Saved

__all__ = [
    "Autodiff",
    "AutodiffTensor",
    "Backward",
    "BalancedCheckpointing",
    "CheckpointStrategy",
    "Checkpointer",
    "Gradients",
    "NoCheckpointing",
    "Node",
    "NodeId",
    "Ops",
    "Saved",
    "Tracked",
    "Untracked",
    "autodiff_of",
    "broadcast_shape",
    "derive",
    "derive_constant",
    "detach",
    "is_leaf",
    "is_tracked",
    "lift",
    "lower",
    "mark_leaf",
    "record_transfer",
    "run_backward",
]
