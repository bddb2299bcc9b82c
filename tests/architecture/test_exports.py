"""What the public modules offer: every promised name, and no name that does not exist."""

from __future__ import annotations

import importlib
import inspect

import pytest

from firebrick import errors

PROMISED = {
    "firebrick": """
        BalancedCheckpointing DType Device Distribution FirebrickError Gradients NoCheckpointing
        Shape Tensor __version__ bfloat16 bool_ errors float16 float32 float64 int16 int32 int64
        int8 uint16 uint32 uint64 uint8
    """,
    "firebrick.extension": """
        Autodiff AutodiffTensor Backend Backward BalancedCheckpointing Bool BoolTensor
        CheckpointStrategy Checkpointer Cube CubeTensor DispatchTensor ExtensionType Flex Float
        FloatTensor Fusion FusionTensor Gradients Grads Int IntTensor LibTorch NdArray Need
        NoCheckpointing NoDefault Node NodeId OpSet Ops P Primitive QuantizedTensor Remote
        RemoteTensor Saved Shape TensorSpec Tracked Untracked backend_extension broadcast_shape
        dispatch explain feature from_dispatch fusion gradient into_dispatch op register_backend
        scalar views when
    """,
    "firebrick.testing": "CheckReport Finding assert_close check check_gradients",
}


@pytest.mark.parametrize("module", PROMISED)
def test_a_public_module_exports_what_is_promised(module: str) -> None:
    exported = set(importlib.import_module(module).__all__)
    assert set(PROMISED[module].split()) - exported == set()


@pytest.mark.parametrize("module", [*PROMISED, "firebrick.errors", "firebrick.core"])
def test_every_exported_name_exists_once(module: str) -> None:
    loaded = importlib.import_module(module)
    assert len(set(loaded.__all__)) == len(loaded.__all__)
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


def test_the_module_of_errors_exports_every_error_and_nothing_else() -> None:
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert classes == set(errors.__all__)


def test_every_error_stands_in_the_tree_of_the_docstring() -> None:
    assert errors.__doc__ is not None
    drawn = errors.__doc__.split()
    assert [name for name in errors.__all__ if name not in drawn] == []
