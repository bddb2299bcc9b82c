"""Autodiff contexts and moves, as a user of `Tensor` sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firebrick import BalancedCheckpointing, Device, NoCheckpointing, Tensor, float64
from firebrick.errors import AutodiffError, GradientError, NotTrackedError

# The step of central differences in float64 and the error it allows.
STEP = 1e-6
TOLERANCE = 1e-6


def leaf(values: Any, device: Device) -> Tensor:
    return Tensor(values, device.autodiff(), dtype=float64).require_grad()


COMPOSED: dict[str, Callable[[Tensor], Tensor]] = {
    "floor division": lambda x: (x // 0.7) * x,
    "remainder": lambda x: (x % 0.7) * x,
    "a number minus": lambda x: 2.0 - x * x,
    "a number divided": lambda x: 3.0 / x,
    "a number to a power": lambda x: 2.0**x,
    "variance": lambda x: x.var() * x.sum(),
    "several dimensions": lambda x: x.mean((0, 1)) * x.max((0, 1)),
    "a vector product": lambda x: x[0] @ x @ x[1],
    "rows and columns": lambda x: x[Tensor([0, 1], x.device), Tensor([1, 0], x.device)] * x[0],
    "negative rows": lambda x: x[Tensor([-1, -1, 0], x.device)] ** 2,
    "a mask": lambda x: x[x > 1.0] ** 2,
    "a mask of rows": lambda x: x[Tensor([True, False], x.device)] ** 2,
    "a reversed slice": lambda x: x[:, ::-1] * x,
    "an assigned block": lambda x: x.slice_assign((0, slice(None, None, -1)), x[1] * x[0]) ** 2,
    "joined and stacked": lambda x: Tensor.cat([x, x * x]) * Tensor.stack([x, x]).reshape(4, 2),
    "repeated": lambda x: x.repeat(2, 2) * x.repeat(1, 2, 2).reshape(4, 4),
    "windows": lambda x: x.unfold(1, 1, 1) ** 3,
    "sorted": lambda x: x.sort(0) * x.cumsum(1),
    "clamped": lambda x: x.clamp(0.6, 2.2) * x,
}


@pytest.mark.parametrize("name", COMPOSED)
def test_gradients_flow_through_composed_methods(name: str, flex: Device) -> None:
    function, values = COMPOSED[name], np.array([[0.5, 1.9], [2.5, 1.1]])
    x = leaf(values, flex)
    found = x.grad(function(x).sum().backward()).numpy()
    for place in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[place] = STEP
        high, low = (
            function(Tensor(v, flex, dtype=float64)).sum().item()
            for v in (values + step, values - step)
        )
        assert abs(found[place] - (high - low) / (2 * STEP)) < TOLERANCE


def test_a_plain_tensor_has_no_context(flex: Device) -> None:
    x = Tensor([1.0], flex)
    assert (x.is_autodiff, x.is_tracked, x.is_require_grad) == (False, False, False)
    assert x.checkpointing is None
    assert x.inner() is x
    assert x.detach().tolist() == [1.0]


def test_require_grad_names_the_way_to_an_autodiff_device(flex: Device) -> None:
    with pytest.raises(AutodiffError, match=r"`require_grad` needs .* `\.autodiff\(\)`"):
        Tensor([1.0], flex).require_grad()


@pytest.mark.parametrize("value", [1, True])
def test_only_floats_require_gradients(value: Any, tracked: Device) -> None:
    with pytest.raises(AutodiffError, match="`require_grad` needs a float tensor"):
        Tensor([value], tracked).require_grad()


def test_backward_of_a_plain_tensor_names_require_grad(flex: Device) -> None:
    with pytest.raises(NotTrackedError, match="require_grad"):
        Tensor([1.0], flex).backward()


def test_a_plain_tensor_has_no_gradient(flex: Device) -> None:
    x = leaf([1.0], flex)
    gradients = (x * x).backward()
    plain = Tensor([1.0], flex)
    assert plain.grad(gradients) is None
    assert plain.grad_remove(gradients) is None
    with pytest.raises(AutodiffError, match="`grad_replace` takes a marked leaf"):
        plain.grad_replace(gradients, plain)


def test_a_gradient_is_replaced_by_one_of_its_shape(tracked: Device) -> None:
    x = leaf([1.0, 2.0], tracked)
    gradients = (x * x).backward()
    with pytest.raises(GradientError, match=r"shape \[2\]"):
        x.grad_replace(gradients, Tensor([1.0], tracked.inner(), dtype=float64))
    x.grad_replace(gradients, Tensor([5.0, 6.0], tracked.inner(), dtype=float64))
    assert x.grad_remove(gradients).tolist() == [5.0, 6.0]
    assert x.grad(gradients) is None


def test_contexts_are_put_on_and_taken_off(flex: Device) -> None:
    x = Tensor([1.0], flex).autodiff()
    assert (x.checkpointing, x.is_tracked) == (NoCheckpointing, False)
    assert x.autodiff() is x
    y = (x.require_grad() * 2).inner()
    assert (y.is_autodiff, y.tolist()) == (False, [2.0])


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
def test_every_kind_knows_its_strategy(kind: str, flex: Device) -> None:
    x = getattr(Tensor([1.0], flex.autodiff().gradient_checkpointing()), kind)()
    assert x.checkpointing is BalancedCheckpointing
    assert x.inner().checkpointing is None


def test_moving_to_where_it_is_gives_the_tensor_itself(device: Device) -> None:
    x = Tensor([1.0], device)
    assert x.to(device) is x
    assert x.to_device(device) is x


def test_every_kind_moves(device: Device) -> None:
    for values in ([1.5], [2], [True]):
        x = Tensor(values, Device.flex())
        moved = x.to(device)
        assert (moved.device, moved.dtype, moved.tolist()) == (device, x.dtype, values)
