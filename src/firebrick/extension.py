"""The names an extension author types; re-exports only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from firebrick.backend import AttentionOptions, Backend, ConvOptions
from firebrick.backends.cube import Cube, CubeTensor
from firebrick.backends.flex import Flex
from firebrick.backends.libtorch import LibTorch
from firebrick.backends.ndarray import NdArray
from firebrick.backends.remote import Remote, RemoteTensor
from firebrick.core import (
    BalancedCheckpointing,
    CheckpointStrategy,
    DispatchTensor,
    NoCheckpointing,
    Shape,
    TensorSpec,
)
from firebrick.decorators.autodiff import (
    Autodiff,
    AutodiffTensor,
    Backward,
    Checkpointer,
    Gradients,
    Node,
    NodeId,
    Ops,
    Saved,
    Tracked,
    Untracked,
    broadcast_shape,
)
from firebrick.decorators.fusion import Fusion, FusionTensor
from firebrick.dispatch import Explanation, explain, register_backend
from firebrick.opset import (
    Bool,
    BoolTensor,
    ExtensionType,
    Float,
    FloatTensor,
    Grads,
    InnerOpSet,
    Int,
    IntTensor,
    Need,
    NoDefault,
    P,
    Primitive,
    QuantizedTensor,
    ReportRow,
    backend_extension,
    dispatch,
    feature,
    from_dispatch,
    fusion,
    gradient,
    into_dispatch,
    op,
    scalar,
    views,
    when,
)
from firebrick.opset import OpSet as _OpSet
from firebrick.opset import ShortOperation as Operation

if TYPE_CHECKING:

    class OpSet(_OpSet[P], Generic[P]):
        """`opset.OpSet` with the full types of `on` and `backend`, which that layer cannot name."""

        def __init_subclass__(cls, *, on: type[Backend[P]] | None = None) -> None: ...
        @property
        def backend(self) -> Backend[P]:
            """The backend that runs this call, with the built-in operations."""
            ...
else:
    OpSet = _OpSet

__all__ = [
    "AttentionOptions",
    "Autodiff",
    "AutodiffTensor",
    "Backend",
    "Backward",
    "BalancedCheckpointing",
    "Bool",
    "BoolTensor",
    "CheckpointStrategy",
    "Checkpointer",
    "ConvOptions",
    "Cube",
    "CubeTensor",
    "DispatchTensor",
    "Explanation",
    "ExtensionType",
    "Flex",
    "Float",
    "FloatTensor",
    "Fusion",
    "FusionTensor",
    "Gradients",
    "Grads",
    "InnerOpSet",
    "Int",
    "IntTensor",
    "LibTorch",
    "NdArray",
    "Need",
    "NoCheckpointing",
    "NoDefault",
    "Node",
    "NodeId",
    "OpSet",
    "Operation",
    "Ops",
    "P",
    "Primitive",
    "QuantizedTensor",
    "Remote",
    "RemoteTensor",
    "ReportRow",
    "Saved",
    "Shape",
    "TensorSpec",
    "Tracked",
    "Untracked",
    "backend_extension",
    "broadcast_shape",
    "dispatch",
    "explain",
    "feature",
    "from_dispatch",
    "fusion",
    "gradient",
    "into_dispatch",
    "op",
    "register_backend",
    "scalar",
    "views",
    "when",
]
