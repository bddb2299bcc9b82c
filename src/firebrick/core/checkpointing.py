"""Names of the checkpointing strategies; what they do is the autodiff decorator's affair."""

from __future__ import annotations


class CheckpointStrategy:
    """Whether outputs of cheap operations are kept or recomputed; used as a class, not built."""


class NoCheckpointing(CheckpointStrategy):
    """Keeps what a backward pass asks for. The default."""


class BalancedCheckpointing(CheckpointStrategy):
    """Recomputes operations marked memory bound, keeps the others."""
