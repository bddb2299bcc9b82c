"""Gradients made of zeros, to keep or to write parts into."""

from __future__ import annotations

from typing import Any

from firebrick.core import TensorSpec


def zeros(backend: Any, grad: Any, spec: TensorSpec) -> Any:
    """Zeros as `spec` says, where `grad` lives."""
    return backend.float_zeros(spec.shape, backend.device_of(grad), spec.dtype)
