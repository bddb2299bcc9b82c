"""The fusion decorator's names: the selector that an op set lists, and its tensor type.

Listing `Fusion` makes every operation state its metadata, which is checked when it is declared.
Nothing executes lazily yet: `Device.fused` devices need a kernel runtime.
"""

from __future__ import annotations

from dataclasses import dataclass

from firebrick.backend import Backend
from firebrick.core import Device, DType, Shape


@dataclass(frozen=True, slots=True)
class FusionTensor:
    """A tensor that may not be computed yet."""

    id: int
    shape: Shape
    dtype: DType
    device: Device


class Fusion(Backend[FusionTensor]):
    """Decorator: queues operations and runs them, grouped, when a value is needed.

    Implementations are derived from `@fusion(...)`; a hand-written class wins.
    """

    name = "fusion"
    role = "fusion"
