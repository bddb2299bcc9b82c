"""Derivatives of every built-in operation: against central differences, PyTorch and themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.autodiff.rule_cases import CASES, NAMES, WITHOUT_GRADIENT, Array, Case, torch

from firebrick import Device, Tensor
from firebrick.backend import ActivationOps, BoolOps, FloatOps, IntOps
from firebrick.core import BalancedCheckpointing
from firebrick.opset import dispatch, from_dispatch, into_dispatch

every_case = pytest.mark.parametrize("case", CASES, ids=NAMES)
EXECUTING = ["ndarray", "libtorch"]

STEP = 6e-6
"""Relative; near the cube root of the rounding error, where a central difference is best."""
DIFFERENCE = (1e-6, 1e-8)
"""Relative and absolute: the error of a difference over `STEP`."""
PYTORCH = (1e-9, 1e-12)
"""Of the same formula in other steps."""
REORDERED = (1e-13, 1e-14)
"""Of sums in another order."""


def assert_near(found: Array, expected: Array, tolerance: tuple[float, float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=tolerance[0], atol=tolerance[1])


def run(case: Case, tensors: Sequence[Tensor], device: Device) -> Tensor:
    """The first float output of a case."""

    def prepared(argument: Any) -> Any:
        return Tensor(argument, device) if isinstance(argument, np.ndarray) else argument

    arguments = [prepared(argument) for argument in case.arguments(*tensors)]
    if case.operation == "float_to_device":
        arguments.append(device)
    op_set = FloatOps if case.operation in FloatOps.__operations__ else ActivationOps
    found: Any = getattr(dispatch(op_set), case.operation)(*into_dispatch(arguments))
    return from_dispatch(found[0] if isinstance(found, tuple) else found)


def leaves(values: Sequence[Array], device: Device) -> list[Tensor]:
    return [Tensor(value, device).require_grad() for value in values]


def host(gradient: Tensor | None, like: Array) -> Array:
    return np.zeros_like(like) if gradient is None else gradient.numpy()


def jacobian(case: Case, device: Device) -> list[Array]:
    """Per input the derivatives of all outputs by all its elements, by backward passes."""
    inputs = leaves(case.inputs, device)
    out = run(case, inputs, device)
    rows: list[list[Array]] = [[] for _ in inputs]
    for unit in np.eye(out.size):
        picked = (out * Tensor(unit.reshape(out.shape), device)).sum()
        gradients = picked.backward(retain_graph=True)
        for row, x, value in zip(rows, inputs, case.inputs, strict=True):
            row.append(host(x.grad(gradients), value).reshape(-1))
    return [np.reshape(r, (out.size, v.size)) for r, v in zip(rows, case.inputs, strict=True)]


def differences(
    function: Callable[[Sequence[Array]], Array], inputs: Sequence[Array]
) -> list[Array]:
    """Per input the same derivatives, by central differences."""

    def slope(position: int, element: int) -> Array:
        value = inputs[position].reshape(-1)[element]
        step = STEP * max(1.0, abs(value))
        ends: list[Array] = []
        for moved in (value + step, value - step):
            changed = [v.copy() for v in inputs]
            changed[position].reshape(-1)[element] = moved
            ends.append(function(changed).reshape(-1))
        return (ends[0] - ends[1]) / (2.0 * step)

    return [
        np.stack([slope(position, element) for element in range(value.size)], axis=1)
        for position, value in enumerate(inputs)
    ]


def weights(shape: Sequence[int], seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(0.5, 1.5, tuple(shape))


def gradients_of(
    case: Case, values: Sequence[Array], device: Device, *, shared: bool = False
) -> list[Array]:
    """Per input the gradient of a weighted sum of the outputs."""
    inputs = leaves(values[:1], device) * len(values) if shared else leaves(values, device)
    out = run(case, inputs, device)
    gradients = (out * Tensor(weights(out.shape), device)).sum().backward()
    found = [host(x.grad(gradients), v) for x, v in zip(inputs, values, strict=True)]
    return found[:1] if shared else found


@every_case
@pytest.mark.parametrize("backend", EXECUTING)
def test_first_derivatives_are_those_of_central_differences(case: Case, backend: str) -> None:
    device = Device(backend)

    def forward(values: Sequence[Array]) -> Array:
        return run(case, [Tensor(value, device) for value in values], device).numpy()

    expected = differences(forward, case.inputs)
    for found, wanted in zip(jacobian(case, device.autodiff()), expected, strict=True):
        assert_near(found, wanted, DIFFERENCE)


@every_case
@pytest.mark.parametrize("backend", EXECUTING)
def test_first_derivatives_are_those_of_pytorch(case: Case, backend: str) -> None:
    inputs = [torch.tensor(value, requires_grad=True) for value in case.inputs]
    out = case.torch(*inputs)
    if out.requires_grad:
        (out * torch.as_tensor(weights(out.shape))).sum().backward()
    found = gradients_of(case, case.inputs, Device(backend).autodiff())
    for actual, x in zip(found, inputs, strict=True):
        wanted = np.zeros(x.shape) if x.grad is None else x.grad.numpy()
        assert_near(actual, wanted, PYTORCH)


@every_case
@pytest.mark.parametrize("backend", EXECUTING)
def test_second_derivatives_are_those_of_central_differences(case: Case, backend: str) -> None:
    device = Device(backend).autodiff()
    inputs = leaves(case.inputs, device)
    out = run(case, inputs, device)
    recorded = (out * Tensor(weights(out.shape), device)).sum().backward(create_graph=True)
    total = Tensor(0.0, device, dtype=out.dtype)
    for number, x in enumerate(inputs):
        gradient = x.grad(recorded)
        if gradient is not None:
            total = total + (gradient * Tensor(weights(x.shape, number), device)).sum()
    seconds = total.backward() if total.is_tracked else None
    found = [None if seconds is None else x.grad(seconds) for x in inputs]

    def weighted_slopes(values: Sequence[Array]) -> Array:
        firsts = gradients_of(case, values, device)
        return np.asarray(sum((g * weights(g.shape, n)).sum() for n, g in enumerate(firsts)))

    expected = differences(weighted_slopes, case.inputs)
    for gradient, wanted, value in zip(found, expected, case.inputs, strict=True):
        assert_near(host(gradient, value).reshape(1, -1), wanted, DIFFERENCE)


@every_case
def test_recomputing_gives_the_same_gradients(case: Case) -> None:
    kept = gradients_of(case, case.inputs, Device.ndarray().autodiff())
    device = Device.ndarray().autodiff(checkpointing=BalancedCheckpointing)
    for found, wanted in zip(gradients_of(case, case.inputs, device), kept, strict=True):
        np.testing.assert_array_equal(found, wanted)


@every_case
def test_recomputing_a_chain_gives_the_same_gradients(case: Case) -> None:
    def chained(device: Device) -> list[Array]:
        inputs = leaves(case.inputs, device)
        derived = [(x * 3.0) / 3.0 for x in inputs]
        gradients = run(case, derived, device).exp().sum().backward()
        return [host(x.grad(gradients), v) for x, v in zip(inputs, case.inputs, strict=True)]

    balanced = Device.ndarray().autodiff(checkpointing=BalancedCheckpointing)
    for found, wanted in zip(chained(balanced), chained(Device.ndarray().autodiff()), strict=True):
        np.testing.assert_array_equal(found, wanted)


@every_case
@pytest.mark.parametrize("backend", EXECUTING)
def test_the_layout_of_inputs_and_gradients_changes_nothing(case: Case, backend: str) -> None:
    device = Device(backend).autodiff()
    inputs = leaves([value.T for value in case.inputs], device)
    out = run(case, [x.permute(*reversed(range(x.ndim))) for x in inputs], device)
    backwards = out.permute(*reversed(range(out.ndim)))
    gradients = (backwards * Tensor(weights(out.shape).T, device)).sum().backward()
    wanted = gradients_of(case, case.inputs, device)
    for x, value, expected in zip(inputs, case.inputs, wanted, strict=True):
        assert_near(host(x.grad(gradients), value.T).T, expected, REORDERED)


SEVERAL = [c for c in CASES if len(c.inputs) > 1]


@pytest.mark.parametrize("case", SEVERAL, ids=[c.operation for c in SEVERAL])
def test_constant_operands_change_no_gradient(case: Case) -> None:
    device = Device.ndarray().autodiff()
    wanted = gradients_of(case, case.inputs, device)
    for number, expected in enumerate(wanted):
        inputs = [Tensor(value, device) for value in case.inputs]
        inputs[number] = inputs[number].require_grad()
        out = run(case, inputs, device)
        weighted = (out * Tensor(weights(out.shape), device)).sum()
        found = inputs[number].grad(weighted.backward()) if out.is_tracked else None
        np.testing.assert_array_equal(host(found, expected), expected)


TWICE = [c for c in CASES if len({v.shape for v in c.inputs}) == 1 and len(c.inputs) == 2]


@pytest.mark.parametrize("case", TWICE, ids=[c.operation for c in TWICE])
def test_a_tensor_given_twice_gets_both_gradients(case: Case) -> None:
    device = Device.ndarray().autodiff()
    value = np.abs(case.inputs[0]) + 0.25
    apart = gradients_of(case, [value, value], device)
    together = gradients_of(case, [value, value], device, shared=True)
    np.testing.assert_allclose(together[0], apart[0] + apart[1], rtol=1e-14)


def test_every_operation_with_a_float_output_has_a_case_or_a_reason() -> None:
    known = {case.operation for case in CASES} | set(WITHOUT_GRADIENT)
    operations = {
        name: operation
        for op_set in (FloatOps, IntOps, BoolOps, ActivationOps)
        for name, operation in op_set.__operations__.items()
    }
    returning_floats = {name for name, operation in operations.items() if operation.float_outputs}
    assert returning_floats == known
