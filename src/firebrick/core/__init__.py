"""Values that every layer names, without behaviour: dtypes, shapes, specs, devices."""

from __future__ import annotations

from firebrick.core.checkpointing import (
    BalancedCheckpointing,
    CheckpointStrategy,
    NoCheckpointing,
)
from firebrick.core.device import Device, DeviceResolver, install_resolver, resolver
from firebrick.core.dispatch_tensor import DispatchTensor
from firebrick.core.distribution import Distribution
from firebrick.core.dtype import (
    KINDS,
    DType,
    Kind,
    Scalar,
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    from_numpy_dtype,
    int8,
    int16,
    int32,
    int64,
    to_numpy_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from firebrick.core.shape import Shape, broadcast_shapes, normalize_dim
from firebrick.core.spec import TensorSpec

__all__ = [
    "KINDS",
    "BalancedCheckpointing",
    "CheckpointStrategy",
    "DType",
    "Device",
    "DeviceResolver",
    "DispatchTensor",
    "Distribution",
    "Kind",
    "NoCheckpointing",
    "Scalar",
    "Shape",
    "TensorSpec",
    "bfloat16",
    "bool_",
    "broadcast_shapes",
    "dtype",
    "float16",
    "float32",
    "float64",
    "from_numpy_dtype",
    "install_resolver",
    "int8",
    "int16",
    "int32",
    "int64",
    "normalize_dim",
    "resolver",
    "to_numpy_dtype",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
