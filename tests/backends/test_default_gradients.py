"""Derivatives of default bodies: they are composed of differentiable operations, without a rule.

The bodies run on the autodiff backend themselves, whether or not a gradient rule stands for them
there; the oracle is a central difference in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.array_backends import Array
from tests.backends.operation_cases import floats

from firebrick import Device, Tensor
from firebrick.backend import BUILTIN_OP_SETS
from firebrick.core import DispatchTensor, int64

OPERATIONS = {n: op for ops in BUILTIN_OP_SETS for n, op in ops.__operations__.items()}
STEP = 6e-6
"""Near the cube root of the rounding error, where a central difference is best."""
RTOL, ATOL = 1e-6, 1e-8
POINTS = np.array([-30.0, -2.0, -0.5, 0.7, 1.5, 30.0])
MATRIX = floats(3, 4)

CASES: list[tuple[str, list[Array], tuple[Any, ...]]] = [
    ("relu", [POINTS], ()),
    ("leaky_relu", [POINTS], (0.1,)),
    ("prelu", [POINTS, np.array([0.25])], ()),
    ("gelu", [POINTS], ()),
    ("gelu_backward", [POINTS, POINTS[::-1].copy()], ()),
    ("sigmoid", [POINTS], ()),
    ("sigmoid_backward", [POINTS / 40 + 0.5, POINTS], ()),
    ("log_sigmoid", [POINTS], ()),
    ("log_sigmoid_backward", [POINTS, POINTS], ()),
    ("hard_sigmoid", [POINTS], (0.2, 0.45)),
    ("softmax", [MATRIX], (1,)),
    ("softmin", [MATRIX], (0,)),
    ("log_softmax", [MATRIX * 20], (-1,)),
    ("float_add_scalar", [POINTS], (2.0,)),
    ("float_sub_scalar", [POINTS], (2.0,)),
    ("float_mul_scalar", [POINTS], (-1.5,)),
    ("float_div_scalar", [POINTS], (4.0,)),
    ("float_remainder_scalar", [POINTS], (0.8,)),
    ("float_clamp", [POINTS], (-1.0, 1.0)),
    ("float_neg", [POINTS], ()),
    ("float_recip", [POINTS], ()),
    ("float_powi_scalar", [POINTS], (3,)),
    ("float_powi_scalar", [POINTS], (2,)),
    ("float_powi_scalar", [POINTS], (1,)),
    ("float_powi_scalar", [POINTS], (0,)),
    ("float_powf_scalar", [np.abs(POINTS)], (-1.5,)),
    ("float_hypot", [POINTS, POINTS[::-1].copy()], ()),
    ("float_cross", [floats(3, 2), floats(3, 1)], (0,)),
    ("float_mean", [MATRIX], ()),
    ("float_mean_dim", [MATRIX], (0,)),
    ("float_sum", [MATRIX], ()),
    ("float_prod", [MATRIX], ()),
    ("float_prod_dim", [np.array([[-2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [2.0, 3.0, 4.0]])], (1,)),
    ("float_transpose", [MATRIX], ()),
    ("float_flip", [MATRIX], ((0,),)),
    ("float_repeat_dim", [MATRIX], (1, 3)),
    ("float_unfold", [MATRIX], (1, 2, 1)),
    ("float_sort", [MATRIX], (1, True)),
    ("float_topk", [MATRIX], (0, 2)),
    ("float_max", [MATRIX], ()),
    ("float_max_dim", [MATRIX], (1,)),
    ("float_min_dim", [MATRIX], (0,)),
    ("float_max_abs_dim", [MATRIX], (1,)),
    ("float_mask_fill", [MATRIX], (np.array([True, False, True, False]), 2.0)),
    ("float_mask_select", [MATRIX], (np.array([True, False, True, False]),)),
    ("float_topk_with_indices", [MATRIX], (1, 2, int64)),
]


def through_default(name: str, inputs: list[Tensor], rest: tuple[Any, ...]) -> Tensor:
    """The default body of an operation, on the backend of the tensors."""
    device = inputs[0].device
    backend: Any = inputs[0].into_dispatch().backend
    others = [Tensor(v, device) if isinstance(v, np.ndarray) else v for v in rest]
    primitives = [
        value.into_dispatch().primitive if isinstance(value, Tensor) else value
        for value in (*inputs, *others)
    ]
    out: Any = OPERATIONS[name].function(backend, *primitives)
    first: Any = out[0] if name.endswith("with_indices") else out
    return Tensor.from_dispatch(DispatchTensor(first, "float", backend))


def weighted(name: str, values: list[Array], rest: tuple[Any, ...], device: Device) -> Any:
    """A sum of the outputs with weights that tell them apart, and the inputs it is made of."""
    inputs = [Tensor(value, device) for value in values]
    if device.is_autodiff:
        inputs = [tensor.require_grad() for tensor in inputs]
    out = through_default(name, inputs, rest)
    weights = np.cos(np.arange(out.numpy().size)).reshape(out.shape)
    return (out * Tensor(weights, device)).sum(), inputs


def difference(name: str, values: list[Array], rest: tuple[Any, ...], which: int) -> Array:
    """Central differences of the weighted sum by every element of one input."""
    slopes = np.zeros_like(values[which])
    for place in np.ndindex(slopes.shape):
        ends: list[float] = []
        for step in (STEP, -STEP):
            moved = [value.copy() for value in values]
            moved[which][place] += step
            ends.append(weighted(name, moved, rest, Device.ndarray())[0].item())
        slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
    return slopes


def gradients(name: str, values: list[Array], rest: tuple[Any, ...]) -> list[Array]:
    total, inputs = weighted(name, values, rest, Device.ndarray().autodiff())
    found = total.backward()
    grads = [tensor.grad(found) for tensor in inputs]
    pairs = zip(grads, values, strict=True)
    return [np.zeros_like(v) if g is None else g.numpy() for g, v in pairs]


@pytest.mark.parametrize(("name", "values", "rest"), CASES, ids=[case[0] for case in CASES])
def test_the_derivative_of_a_default_body_is_right(
    name: str, values: list[Array], rest: tuple[Any, ...]
) -> None:
    assert OPERATIONS[name].has_default
    for which, found in enumerate(gradients(name, values, rest)):
        expected = difference(name, values, rest, which)
        np.testing.assert_allclose(found, expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(
    ("name", "slope"), [("relu", 0.0), ("sigmoid", 0.25), ("log_sigmoid", 0.5), ("gelu", 0.5)]
)
def test_the_derivative_at_zero(name: str, slope: float) -> None:
    assert gradients(name, [np.array([0.0])], ())[0] == pytest.approx([slope], abs=1e-12)


@pytest.mark.parametrize("name", ["sigmoid", "log_sigmoid"])
def test_derivatives_stay_finite_far_out(name: str) -> None:
    found = gradients(name, [np.array([-1e4, -800.0, 800.0, 1e4])], ())[0]
    expected = {"sigmoid": [0, 0, 0, 0], "log_sigmoid": [1, 1, 0, 0]}[name]
    weights = np.cos(np.arange(4))
    np.testing.assert_allclose(found, expected * weights, atol=1e-300)


def test_the_greatest_of_a_softmax_takes_no_gradient_of_its_own() -> None:
    found = gradients("softmax", [np.array([[1000.0, 0.0, -1000.0]])], (1,))[0]
    assert np.all(found == 0)


def test_a_softmax_has_a_second_derivative() -> None:
    device = Device.ndarray().autodiff()
    x = Tensor(MATRIX, device).require_grad()
    first = x.grad(through_default("softmax", [x], (1,)).exp().sum().backward(create_graph=True))
    assert first is not None
    second = x.grad((first * first).sum().backward())
    assert second is not None

    def penalty(values: Array) -> float:
        leaf = Tensor(values, device).require_grad()
        grad = leaf.grad(through_default("softmax", [leaf], (1,)).exp().sum().backward())
        assert grad is not None
        return (grad * grad).sum().item()

    direction = np.sin(np.arange(MATRIX.size)).reshape(MATRIX.shape)
    ends = [penalty(MATRIX + step * direction) for step in (STEP, -STEP)]
    expected = (ends[0] - ends[1]) / (2 * STEP)
    assert (second.numpy() * direction).sum() == pytest.approx(expected, rel=1e-6)
