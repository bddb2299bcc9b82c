"""Parts of a tensor along one dimension, as rules cut and join them."""

from __future__ import annotations

from typing import Any

from firebrick.core import normalize_dim


def part(backend: Any, tensor: Any, dim: int, start: int, stop: int) -> Any:
    """From `start` to before `stop` along `dim`, for a float tensor."""
    return backend.float_slice(tensor, _slices(tensor, dim, start, stop))


def int_part(backend: Any, tensor: Any, dim: int, start: int, stop: int) -> Any:
    """From `start` to before `stop` along `dim`, for an int tensor."""
    return backend.int_slice(tensor, _slices(tensor, dim, start, stop))


def _slices(tensor: Any, dim: int, start: int, stop: int) -> list[slice]:
    return [*[slice(None)] * normalize_dim(dim, len(tensor.shape)), slice(start, stop)]
