"""PyTorch as a backend. Importing this package does not import torch; making an instance does."""

from __future__ import annotations

from firebrick.backends.libtorch.backend import LibTorch

__all__ = ["LibTorch"]
