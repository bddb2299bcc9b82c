"""What `check` looks for, one concern per file; the order is that of `PROBES`.

Forward and sizes come first: a case that raises there is told once and left out afterwards.
Fused and remote devices have no backend yet, so nothing compares them with direct ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.testing.probes.aliasing import probe_aliasing
from firebrick.testing.probes.forward import probe_forward
from firebrick.testing.probes.gradient import probe_checkpointing, probe_gradient
from firebrick.testing.probes.layout import probe_layouts, probe_sizes
from firebrick.testing.probes.metadata import probe_metadata
from firebrick.testing.probes.mutation import probe_mutation
from firebrick.testing.probes.repetition import probe_repetition, probe_threads
from firebrick.testing.probes.second_gradient import probe_second_gradient
from firebrick.testing.probes.serialization import probe_serialization

if TYPE_CHECKING:
    from firebrick.testing.bench import Probe

__all__ = ["PROBES"]

PROBES: tuple[Probe, ...] = (
    probe_forward,
    probe_sizes,
    probe_metadata,
    probe_repetition,
    probe_layouts,
    probe_mutation,
    probe_aliasing,
    probe_threads,
    probe_gradient,
    probe_second_gradient,
    probe_checkpointing,
    probe_serialization,
)
