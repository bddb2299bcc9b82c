"""Putting tensors on and off autodiff, marking leaves, and what the decorator passes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.autodiff.tensors import ints, leaf, raw

from firebrick import Device, Distribution, Tensor, float64
from firebrick.backend import FloatOps
from firebrick.decorators.autodiff import (
    Node,
    autodiff_of,
    detach,
    is_leaf,
    is_tracked,
    lift,
    lower,
    mark_leaf,
)
from firebrick.dispatch import backend_for
from firebrick.errors import AutodiffError, GraphConsumedError, NonLeafError
from firebrick.extension import BalancedCheckpointing, NoCheckpointing, dispatch


@pytest.fixture(scope="module")
def ndarray() -> Device:
    return Device.ndarray()


@pytest.fixture(scope="module")
def plain(ndarray: Device) -> Any:
    return Tensor(np.array([1.0, 2.0]), ndarray).into_dispatch()


def test_lifting_and_lowering_keep_the_values(plain: Any) -> None:
    lifted = lift(plain)
    assert lifted.is_autodiff
    assert not is_tracked(lifted)
    assert lower(lifted).primitive is plain.primitive


def test_lifting_and_lowering_what_is_there_already_change_nothing(plain: Any) -> None:
    lifted = lift(plain, BalancedCheckpointing)
    assert lift(lifted) is lifted
    assert lower(plain) is plain
    assert autodiff_of(plain.backend, NoCheckpointing).lift(lifted) is lifted


def test_lowering_a_tracked_tensor_gives_a_constant(ndarray: Device) -> None:
    x = leaf([2.0], ndarray).into_dispatch()
    lowered = lower(x)
    assert not is_tracked(lowered)
    assert not is_leaf(lowered)


def test_marking_needs_an_autodiff_device(plain: Any) -> None:
    with pytest.raises(
        AutodiffError, match=r"needs a tensor on an autodiff device.*\.autodiff\(\)"
    ):
        mark_leaf(plain)


def test_marking_needs_a_float(ndarray: Device) -> None:
    with pytest.raises(AutodiffError, match="needs a float tensor, and this one is of kind int"):
        mark_leaf(ints([1], ndarray).into_dispatch())


def test_a_derived_tensor_is_not_marked(ndarray: Device) -> None:
    derived = (leaf([1.0], ndarray) * 2.0).into_dispatch()
    with pytest.raises(NonLeafError, match=r"marks a leaf.*`\.detach\(\)` first"):
        mark_leaf(derived)


def test_a_marked_leaf_stays_the_leaf_it_is(ndarray: Device) -> None:
    x = leaf([1.0, 2.0], ndarray)
    again = x.require_grad()
    gradients = (again * x).backward()
    assert again.grad(gradients).tolist() == x.grad(gradients).tolist() == [2.0, 4.0]


def test_detaching_keeps_the_mark_of_a_leaf_and_nothing_of_a_derived_tensor(
    ndarray: Device, plain: Any
) -> None:
    x = leaf([1.0], ndarray)
    fresh = x.detach()
    assert fresh.is_require_grad
    assert x.grad((fresh * 3.0).backward()) is None
    assert not (x * 2.0).detach().is_tracked
    assert detach(plain) is plain


def test_the_flag_of_a_leaf_is_an_operation_of_the_backend(ndarray: Device) -> None:
    ops = dispatch(FloatOps)
    x = leaf([1.0], ndarray).into_dispatch()
    assert ops.float_set_require_grad(x, True).primitive is x.primitive
    assert ops.float_is_require_grad(x) is True
    off = ops.float_set_require_grad(x, False)
    assert not is_tracked(off)
    assert ops.float_is_require_grad(off) is False
    on = ops.float_set_require_grad(off, True)
    assert is_leaf(on)
    assert raw(Tensor.from_dispatch(on)).link is not x.primitive.link


def test_the_decorator_asks_the_decorated_backend(ndarray: Device) -> None:
    device = ndarray.autodiff()
    backend = backend_for(device)
    x, y = raw(leaf([1.0, 2.0], ndarray)), raw(leaf([1.0, 2.0], ndarray))
    assert str(backend) == "autodiff<ndarray>"
    assert backend.supports_dtype(device, float64)
    assert backend.shares_memory(x, x)
    assert not backend.shares_memory(x, y)
    assert backend.default_dtypes(device) == backend_for(ndarray).default_dtypes(ndarray)
    backend.sync(device)


def test_a_seed_on_the_autodiff_device_seeds_the_backend(ndarray: Device) -> None:
    device = ndarray.autodiff()

    def drawn() -> Any:
        return Tensor.random((4,), Distribution.uniform(0.0, 1.0), device).tolist()

    device.seed(7)
    first = drawn()
    device.seed(7)
    assert drawn() == first


def test_operations_on_the_class_are_their_declarations() -> None:
    cls: Any = type(autodiff_of(backend_for(Device.ndarray()), NoCheckpointing))
    assert cls.float_add is FloatOps.float_add


def test_the_way_to_another_device_is_named_when_it_is_consumed(ndarray: Device) -> None:
    moved = leaf([1.0], ndarray).to(Device.flex())
    moved.backward()
    with pytest.raises(GraphConsumedError, match="reaches `to`"):
        (moved * 2.0).backward()


def test_a_node_says_what_it_is(ndarray: Device) -> None:
    node = raw(leaf([[1.0, 2.0]], ndarray)).node
    assert isinstance(node, Node)
    assert repr(node) == f"<LeafNode {node.serial}, shape [1, 2]>"


def test_a_tensor_of_the_backend_says_what_it_is(ndarray: Device) -> None:
    x = raw(leaf([2.0], ndarray))
    assert repr(x) == "AutodiffTensor(tracked, float, [1], float64)"
    assert (x.shape, x.dtype, x.device.is_autodiff) == ((1,), float64, True)
    assert repr(raw(ints([1], ndarray))) == "AutodiffTensor(untracked, int, [1], int64)"
