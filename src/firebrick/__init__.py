"""A multi-backend tensor library that anyone can extend with one declaration per operation."""

from __future__ import annotations

from firebrick import errors
from firebrick.core import (
    BalancedCheckpointing,
    Device,
    Distribution,
    DType,
    NoCheckpointing,
    Shape,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from firebrick.decorators.autodiff import Gradients
from firebrick.errors import FirebrickError
from firebrick.tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "BalancedCheckpointing",
    "DType",
    "Device",
    "Distribution",
    "FirebrickError",
    "Gradients",
    "NoCheckpointing",
    "Shape",
    "Tensor",
    "__version__",
    "bfloat16",
    "bool_",
    "errors",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
