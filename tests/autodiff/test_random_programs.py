"""Random programs over built-in operations, differentiated by PyTorch as well.

A program is a list of steps on values of shape [2, 3]; each takes values made before it, so that
values are used many times or never. Every step keeps values near 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firebrick import Device, Tensor

SHAPE = (2, 3)
ROUNDING = (1e-9, 1e-12)
"""Relative and absolute: of twenty steps of float64 in another order."""

Step = Callable[[Any, Any], Any]

# Of firebrick and PyTorch alike.
SHARED: dict[str, Step] = {
    "add": lambda a, b: (a + b) * 0.5,
    "subtract": lambda a, b: a - b * 0.5,
    "multiply": lambda a, b: (a * b).tanh(),
    "divide": lambda a, b: a / (b * b + 1.0),
    "power": lambda a, b: (a * a + 0.5) ** 1.5 * 0.3,
    "exponential": lambda a, b: (-(a * a)).exp(),
    "logarithm": lambda a, b: (a * a).log1p(),
    "root": lambda a, b: (a * a + b * b + 0.1).sqrt(),
    "waves": lambda a, b: a.sin() * b.cos(),
    "sigmoid": lambda a, b: a.sigmoid() - 0.5,
    "softmax": lambda a, b: a.softmax(1),
    "row sums": lambda a, b: (a.sum(1, keepdim=True) * b).tanh(),
    "means": lambda a, b: a - a.mean(0),
    "total": lambda a, b: a.mean() + b,
    "running sum": lambda a, b: a.cumsum(1) * 0.5,
}
OURS: dict[str, Step] = {
    **SHARED,
    "product": lambda a, b: (a @ b.transpose() @ a).tanh(),
    "halves": lambda a, b: Tensor.cat([a[:, 1:], b[:, :1]], 1),
    "layout": lambda a, b: a.reshape(3, 2).transpose().flip(0) + b,
    "choice": lambda a, b: a.mask_where(a > b, b * 2.0),
}
PYTORCHS: dict[str, Step] = {
    **SHARED,
    "product": lambda a, b: (a @ b.transpose(0, 1) @ a).tanh(),
    "halves": lambda a, b: torch.cat([a[:, 1:], b[:, :1]], 1),
    "layout": lambda a, b: a.reshape(3, 2).transpose(0, 1).flip(0) + b,
    "choice": lambda a, b: torch.where(a > b, b * 2.0, a),
}

Program = list[tuple[str, int, int]]


@st.composite
def programs(draw: Any, length: int) -> tuple[Program, list[np.ndarray]]:
    """Steps with the positions of their operands, and values of three leaves."""
    program: Program = []
    for position in range(3, 3 + draw(st.integers(1, length))):
        operands = st.integers(0, position - 1)
        program.append((draw(st.sampled_from(sorted(OURS))), draw(operands), draw(operands)))
    seed = draw(st.integers(0, 2**32 - 1))
    values = np.random.default_rng(seed).uniform(-1.5, 1.5, (3, *SHAPE))
    return program, list(values)


def executed(program: Program, leaves: Sequence[Any], steps: dict[str, Step]) -> Any:
    values = list(leaves)
    for name, first, second in program:
        values.append(steps[name](values[first], values[second]))
    return values[-1] * values[-1] + values[-1]


def gradients(program: Program, values: Sequence[np.ndarray], device: Device) -> list[Any]:
    """Of the sum by every leaf, then of the sum of squares of the first gradients."""
    leaves = [Tensor(value, device).require_grad() for value in values]
    first = executed(program, leaves, OURS).sum().backward(create_graph=True)
    found: list[Any] = [x.grad(first) for x in leaves]
    total = sum(((g * g).sum() for g in found if g is not None), start=leaves[0].sum() * 0.0)
    second = total.backward()
    return [g if g is None else g.numpy() for g in found + [x.grad(second) for x in leaves]]


def expected(program: Program, values: Sequence[np.ndarray]) -> list[Any]:
    """The same by PyTorch."""
    leaves = [torch.tensor(value, requires_grad=True) for value in values]
    root = executed(program, leaves, PYTORCHS).sum()
    found: Any = torch.autograd.grad(root, leaves, create_graph=True, allow_unused=True)
    total = sum(((g * g).sum() for g in found if g is not None), start=leaves[0].sum() * 0.0)
    second: Any = torch.autograd.grad(total, leaves, allow_unused=True)
    return [None if g is None else g.detach().numpy() for g in (*found, *second)]


def assert_same(actual: list[Any], wanted: list[Any], rtol: float, atol: float) -> None:
    """None stands for zeros."""
    for found, right in zip(actual, wanted, strict=True):
        zeros = np.zeros(SHAPE)
        left = zeros if found is None else found
        np.testing.assert_allclose(left, zeros if right is None else right, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", OURS)
def test_a_single_step_has_pytorchs_gradients(name: str) -> None:
    values = list(np.random.default_rng(3).uniform(-1.5, 1.5, (3, *SHAPE)))
    program: Program = [(name, 0, 1)]
    found = gradients(program, values, Device.ndarray().autodiff())
    assert_same(found, expected(program, values), *ROUNDING)


@settings(max_examples=60, deadline=None)
@given(programs(20))
def test_random_programs_have_pytorchs_gradients(
    drawn: tuple[Program, list[np.ndarray]],
) -> None:
    found = gradients(*drawn, Device.ndarray().autodiff())
    assert_same(found, expected(*drawn), *ROUNDING)


@settings(max_examples=60, deadline=None)
@given(programs(20))
def test_checkpointing_changes_no_bit_of_a_gradient(
    drawn: tuple[Program, list[np.ndarray]],
) -> None:
    plain = Device.ndarray().autodiff()
    kept = gradients(*drawn, plain)
    recomputed = gradients(*drawn, plain.gradient_checkpointing())
    assert_same(recomputed, kept, 0.0, 0.0)


@settings(max_examples=15, deadline=None)
@given(programs(8))
def test_backends_agree_on_random_programs(drawn: tuple[Program, list[np.ndarray]]) -> None:
    reference = gradients(*drawn, Device.ndarray().autodiff())
    for device in (Device.flex(), Device.libtorch()):
        assert_same(gradients(*drawn, device.autodiff()), reference, *ROUNDING)
