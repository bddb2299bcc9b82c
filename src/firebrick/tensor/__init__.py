"""What users hold: `Tensor`, one file per family of methods, and the array namespace."""

from __future__ import annotations

from firebrick.opset import install_tensor
from firebrick.tensor.tensor import Tensor

__all__ = ["Tensor"]

install_tensor(Tensor, Tensor.from_dispatch)
