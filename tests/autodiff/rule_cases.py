"""What to differentiate: every operation with a gradient, its inputs, and the same in PyTorch.

Inputs are float64, and at least 0.01 away from where a derivative jumps. Operations on the same
elements in another order are in `CASES` too: their derivatives are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from firebrick import float64, int64

torch: Any = pytest.importorskip("torch")

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Case:
    """One call: `arguments` makes the operation's arguments of its tensors, `torch` the result.

    NumPy arrays among the arguments stand for int and bool tensors.
    """

    operation: str
    inputs: tuple[Array, ...]
    arguments: Callable[..., tuple[Any, ...]]
    torch: Callable[..., Any]


def spread(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Distinct values, evenly spread from `low` to `high`, in random order."""
    rng = np.random.default_rng(seed)
    count = math.prod(shape)
    return rng.permutation(np.linspace(low, high, count)).reshape(shape)


def unary(
    operation: str, x: Array, reference: Callable[[Any], Any], *rest: Any, dim: int | None = None
) -> Case:
    """An operation on `(x, *rest)`, or on `(dim, x, *rest)` if a dimension comes first."""
    first = () if dim is None else (dim,)
    return Case(operation, (x,), lambda *found: (*first, *found, *rest), reference)


def binary(
    operation: str,
    pair: tuple[Array, Array],
    reference: Callable[[Any, Any], Any],
    *rest: Any,
    between: tuple[Any, ...] = (),
    dim: int | None = None,
) -> Case:
    """An operation on `(x, *between, y, *rest)`, or that after a dimension."""
    first = () if dim is None else (dim,)

    def arguments(x: Any, y: Any) -> tuple[Any, ...]:
        return (*first, x, *between, y, *rest)

    return Case(operation, pair, arguments, reference)


def cat(dim: int, *tensors: Array) -> Case:
    """A list of tensors, joined."""

    def arguments(*found: Any) -> tuple[Any, ...]:
        return list(found), dim

    def reference(*found: Any) -> Any:
        return torch.cat(found, dim)

    return Case("float_cat", tensors, arguments, reference)


X = spread(2, 3)
Y = spread(2, 3, low=0.5, high=3.0, seed=1)
MASK = np.array([[True, False, True], [False, False, True]])
BROADCAST: list[tuple[Array, Array]] = [
    (X, Y),
    (X, spread(3, low=0.5, seed=2, high=1.5)),
    (spread(2, 1), spread(1, 3, low=0.5, seed=3)),
    (np.array(0.7), spread(2, 2, low=0.5, seed=4)),
    (spread(1, 2, 1), spread(2, 1, 3, low=0.5, high=1.0, seed=5)),
]

ARITHMETIC = [
    *(binary("float_add", pair, torch.add) for pair in BROADCAST),
    *(binary("float_sub", pair, torch.sub) for pair in BROADCAST),
    *(binary("float_mul", pair, torch.mul) for pair in BROADCAST),
    *(binary("float_div", pair, torch.div) for pair in BROADCAST),
    unary("float_add_scalar", X, lambda x: x + 1.5, 1.5),
    unary("float_sub_scalar", X, lambda x: x - 1.5, 1.5),
    unary("float_mul_scalar", X, lambda x: x * 1.5, 1.5),
    unary("float_div_scalar", X, lambda x: x / 1.5, 1.5),
    binary("float_remainder", (np.array([5.3, -4.1, 2.2]), np.array([1.7, 1.3, -0.9])),
         torch.remainder),
    binary("float_remainder", (np.array([[5.3], [-4.1]]), np.array([1.7, -1.3])), torch.remainder),
    unary("float_remainder_scalar", X, lambda x: torch.remainder(x, 0.7), 0.7),
    unary("float_neg", X, torch.neg),
    unary("float_recip", X, torch.reciprocal),
    unary("float_abs", X, torch.abs),
    unary("float_clamp_min", X, lambda x: x.clamp(min=-0.5), -0.5),
    unary("float_clamp_max", X, lambda x: x.clamp(max=0.5), 0.5),
    unary("float_clamp", X, lambda x: x.clamp(-0.5, 1.5), -0.5, 1.5),
    unary("float_clamp", X, lambda x: x.clamp(1.5, -0.5), 1.5, -0.5),
    unary("float_sign", X, torch.sign),
    unary("float_round", X, torch.round),
    unary("float_floor", X + 0.1, torch.floor),
    unary("float_ceil", X + 0.1, torch.ceil),
    unary("float_trunc", X + 0.1, torch.trunc),
]  # fmt: skip

INSIDE = spread(2, 3, low=-0.9, high=0.9)
ELEMENTARY = [
    unary("float_exp", X, torch.exp),
    unary("float_log", Y, torch.log),
    unary("float_log1p", Y - 1.0, torch.log1p),
    *(binary("float_powf", (base, exponent), torch.pow) for base, exponent in (
        (Y, X), (spread(2, 1, low=0.5), spread(3)), (Y, np.array(2.5)), (np.array(0.6), X))),
    unary("float_powi", spread(2, 2), lambda x: x ** torch.tensor([[3.0, 2.0], [1.0, -2.0]]),
         np.array([[3, 2], [1, -2]])),
    *(unary("float_powi_scalar", X, lambda x, n=n: x**n, n) for n in (-2, -1, 0, 1, 2, 3)),
    *(unary("float_powf_scalar", Y, lambda x, s=s: x**s, s) for s in (-1.5, 0.5, 2.5)),
    *(unary("float_powf_scalar", X, lambda x, s=s: x**s, s) for s in (-1.0, 0.0, 1.0, 2.0, 3.0)),
    unary("float_sqrt", Y, torch.sqrt),
    unary("float_sin", X, torch.sin),
    unary("float_cos", X, torch.cos),
    unary("float_tan", INSIDE, torch.tan),
    unary("float_sinh", X, torch.sinh),
    unary("float_cosh", X, torch.cosh),
    unary("float_tanh", X, torch.tanh),
    unary("float_asin", INSIDE, torch.asin),
    unary("float_acos", INSIDE, torch.acos),
    unary("float_atan", X, torch.atan),
    unary("float_asinh", X, torch.asinh),
    unary("float_acosh", Y + 1.0, torch.acosh),
    unary("float_atanh", INSIDE, torch.atanh),
    *(binary("float_atan2", pair, torch.atan2) for pair in BROADCAST),
    *(binary("float_hypot", pair, torch.hypot) for pair in BROADCAST),
    unary("float_erf", X, torch.erf),
]  # fmt: skip

CUBE = spread(2, 3, 2)
MATRICES = [((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 1)),
            ((1, 2, 2), (3, 2, 1)), ((1, 1), (1, 1))]  # fmt: skip
LAYOUT = [
    *(binary("float_matmul", (spread(*a), spread(*b, seed=1)), torch.matmul) for a, b in MATRICES),
    binary("float_cross", (X, Y), lambda x, y: torch.linalg.cross(x, y, dim=1), 1),
    binary("float_cross", (spread(3, 1), spread(2, 3, 2, seed=1)),
         lambda x, y: torch.linalg.cross(x.expand(y.shape), y, dim=1), -2),
    unary("float_reshape", X, lambda x: x.reshape(3, 2), (3, 2)),
    unary("float_reshape", X, lambda x: x.reshape(-1), (-1,)),
    unary("float_transpose", CUBE, lambda x: x.mT),
    unary("float_swap_dims", CUBE, lambda x: x.swapaxes(0, 2), 0, -1),
    unary("float_permute", CUBE, lambda x: x.permute(2, 0, 1), (2, 0, 1)),
    unary("float_permute", CUBE, lambda x: x.permute(2, 0, 1), (-1, 0, 1)),
    unary("float_flip", CUBE, lambda x: x.flip(0, 2), (0, -1)),
    unary("float_expand", spread(3, 1), lambda x: x.expand(2, 3, 2), (2, 3, 2)),
    unary("float_expand", X, lambda x: x.expand(2, 3), (2, 3)),
    unary("float_repeat_dim", X, lambda x: x.repeat(1, 3), 1, 3),
    unary("float_repeat_dim", X, lambda x: x.repeat(0, 1), 0, 0),
    cat(0, X, Y, spread(1, 3)),
    cat(-1, X, spread(2, 1)),
    *(unary("float_unfold", spread(5, 2), lambda x, s=s, t=t: x.unfold(0, s, t), 0, s, t)
      for s, t in ((2, 1), (3, 2), (2, 3), (5, 1))),
    unary("float_unfold", spread(2, 5), lambda x: x.unfold(-1, 3, 1), -1, 3, 1),
    unary("float_cast", X, lambda x: x * 1.0, float64),
    unary("float_to_device", X, lambda x: x * 1.0),
]  # fmt: skip

ROWS = np.array([2, 0, 2, 1])
PLACES = np.array([[2, 0], [0, 2]])
MANY = np.array([[1, 1, 0, 1], [0, 2, 2, 2]])
BLOCK = [slice(0, 2), slice(2, None, -2)]
REDUCE = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}


def scattered(x: Any, value: Any, dim: int, indices: Array, update: str) -> Any:
    """PyTorch's way of updating elements; of an assignment without double places."""
    where = torch.as_tensor(indices)
    if update == "assign":
        return x.scatter(dim, where, value)
    return x.scatter_reduce(dim, where, value, REDUCE[update])


def rows(indices: Array, shape: tuple[int, ...], dim: int) -> Array:
    """The indices of rows for each element of them."""
    one_each = [-1 if axis == dim else 1 for axis in range(len(shape))]
    return np.broadcast_to(indices.reshape(one_each), shape).copy()


def scatter(update: str, indices: Array, value: Array) -> Case:
    def reference(x: Any, v: Any) -> Any:
        return scattered(x, v, 1, indices, update)

    return binary("float_scatter", (X, value), reference, update, dim=1, between=(indices,))


def select_assign(update: str, indices: Array) -> Case:
    value = spread(2, len(indices), seed=7, low=-1.7, high=1.9)

    def reference(x: Any, v: Any) -> Any:
        return scattered(x, v, 1, rows(indices, value.shape, 1), update)

    return binary("float_select_assign", (X, value), reference, update, between=(-1, indices))


def where(x: Any, value: Any) -> Any:
    """PyTorch's way of choosing by `MASK`."""
    return torch.where(torch.as_tensor(MASK), value, x)


FOUR = spread(2, 4, seed=6, low=-1.9, high=1.5)
INDEXING = [
    unary("float_gather", X, lambda x: x.gather(1, torch.as_tensor(MANY)), MANY, dim=1),
    unary("float_gather", X, lambda x: x.gather(0, torch.as_tensor(MANY[:1, :3])),
          MANY[:1, :3], dim=-2),
    binary("float_scatter_add", (X, FOUR), lambda x, v: x.scatter_add(1, torch.as_tensor(MANY), v),
           dim=1, between=(MANY,)),
    *(scatter(update, PLACES, spread(2, 2, seed=6)) for update in ("assign", *REDUCE)),
    *(scatter(update, MANY, FOUR) for update in REDUCE),
    unary("float_select", X, lambda x: x.index_select(1, torch.as_tensor(ROWS)), 1, ROWS),
    binary("float_select_add", (X, FOUR), lambda x, v: x.index_add(1, torch.as_tensor(ROWS), v),
           between=(1, ROWS)),
    select_assign("assign", ROWS[:2]),
    *(select_assign(update, indices) for update in REDUCE for indices in (ROWS, ROWS[1:])),
    unary("float_slice", CUBE, lambda x: x[:, 0:3:2], [slice(None), slice(0, 3, 2)]),
    unary("float_slice", X, lambda x: x.flip(1)[:2, 0::2], BLOCK),
    binary("float_slice_assign", (X, spread(2, 2, seed=2)),
           lambda x, v: x.slice_scatter(v.flip(1), 1, 0, 3, 2), between=(BLOCK,)),
    binary("float_mask_where", (X, Y), where, between=(MASK,)),
    binary("float_mask_where", (X, spread(3, seed=3)), where, between=(MASK,)),
    binary("float_mask_where", (spread(2, 1), np.array(0.3)), where, between=(MASK,)),
    unary("float_mask_fill", X, lambda x: where(x, 0.5), MASK, 0.5),
    unary("float_mask_fill", spread(3), lambda x: where(x, 0.5), MASK, 0.5),
    unary("float_mask_select", X, lambda x: x[torch.as_tensor(MASK)], MASK),
]  # fmt: skip

LONG = spread(7, low=-1.5, high=1.5, seed=8)
WIDE = spread(2, 5, low=-1.5, high=1.6, seed=9)
REDUCTION = [
    unary("float_sum", X, torch.sum),
    unary("float_sum_dim", CUBE, lambda x: x.sum(1, keepdim=True), 1),
    unary("float_mean", X, torch.mean),
    unary("float_mean_dim", CUBE, lambda x: x.mean(-1, keepdim=True), -1),
    unary("float_prod", X, torch.prod),
    unary("float_prod", np.array(0.7), torch.prod),
    unary("float_prod_dim", WIDE, lambda x: x.prod(1, keepdim=True), 1),
    unary("float_prod_dim", WIDE, lambda x: x.prod(-2, keepdim=True), -2),
    unary("float_cumsum", WIDE, lambda x: x.cumsum(1), 1),
    unary("float_cumprod", LONG, lambda x: x.cumprod(0), 0),
    unary("float_cumprod", WIDE, lambda x: x.cumprod(1), -1),
    unary("float_cumprod", np.array([0.7]), lambda x: x.cumprod(0), 0),
    unary("float_cummax", WIDE, lambda x: x.cummax(1)[0], 1),
    unary("float_cummin", WIDE, lambda x: x.cummin(1)[0], -1),
    unary("float_cummax", LONG, lambda x: x.cummax(0)[0], 0),
    unary("float_max", X, torch.max),
    unary("float_min", X, torch.min),
    unary("float_max_dim", X, lambda x: x.max(1, keepdim=True)[0], 1),
    unary("float_min_dim", X, lambda x: x.min(-2, keepdim=True)[0], -2),
    unary("float_max_abs", X + 0.1, lambda x: x.abs().max()),
    unary("float_max_abs_dim", X + 0.1, lambda x: x.abs().max(1, keepdim=True)[0], 1),
    unary("float_max_dim_with_indices", X, lambda x: x.max(1, keepdim=True)[0], 1, int64),
    unary("float_min_dim_with_indices", X, lambda x: x.min(0, keepdim=True)[0], 0, int64),
    unary("float_sort", WIDE, lambda x: x.sort(1)[0], 1, False),
    unary("float_sort", WIDE, lambda x: x.sort(0, descending=True)[0], -2, True),
    unary("float_sort_with_indices", WIDE, lambda x: x.sort(1)[0], 1, False, int64),
    unary("float_topk", WIDE, lambda x: x.topk(3, 1)[0], 1, 3),
    unary("float_topk_with_indices", WIDE, lambda x: x.topk(2, 1)[0], -1, 2, int64),
]


def gelu_slope(x: Any) -> Any:
    """PyTorch: the derivative of the exact `gelu`."""
    bell = torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return (1 + torch.erf(x / math.sqrt(2))) / 2 + x * bell


def leaky(x: Any, slope: Any) -> Any:
    """PyTorch: `x` above 0, else `slope * x`."""
    return torch.where(x >= 0, x, slope * x)


F: Any = torch.nn.functional
ACTIVATION = [
    unary("relu", X, torch.relu),
    unary("leaky_relu", X, lambda x: leaky(x, 0.1), 0.1),
    binary("prelu", (X, spread(3, low=0.1, high=0.5)), leaky),
    unary("gelu", X, F.gelu),
    unary("sigmoid", X, torch.sigmoid),
    unary("hard_sigmoid", 4.0 * X, lambda x: (0.3 * x + 0.4).clamp(0, 1), 0.3, 0.4),
    unary("log_sigmoid", 4.0 * X, F.logsigmoid),
    unary("softmax", X, lambda x: x.softmax(1), 1),
    unary("softmax", CUBE, lambda x: x.softmax(-2), -2),
    unary("log_softmax", X, lambda x: x.log_softmax(0), 0),
    unary("softmin", X, lambda x: (-x).softmax(1), 1),
    binary("relu_backward", (X, Y), lambda out, grad: grad * (out > 0)),
    binary("sigmoid_backward", (Y, X), lambda out, grad: grad * out * (1 - out)),
    binary("gelu_backward", (X, Y), lambda x, grad: gelu_slope(x) * grad),
    binary("log_sigmoid_backward", (X, Y), lambda x, grad: torch.sigmoid(-x) * grad),
]

CASES = [*ARITHMETIC, *ELEMENTARY, *LAYOUT, *INDEXING, *REDUCTION, *ACTIVATION]
NAMES = [f"{c.operation}-{number}" for number, c in enumerate(CASES)]

MADE_OF_NOTHING = ("from_data", "random", "zeros", "ones", "full", "empty")
WITHOUT_GRADIENT = {
    **{f"float_{name}": "made of nothing that has a gradient" for name in MADE_OF_NOTHING},
    **dict.fromkeys(("int_into_float", "bool_into_float"), "made of ints or bools"),
    **dict.fromkeys(("float_detach", "float_set_require_grad"), "makes a leaf or a constant"),
}
"""Operations with float outputs that need no case, and why."""
