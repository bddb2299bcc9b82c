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


def case(
    operation: str,
    inputs: tuple[Array, ...] | Array,
    reference: Callable[..., Any],
    *rest: Any,
    first: tuple[Any, ...] = (),
) -> Case:
    """The tensors are the first arguments, after `first` and before `rest`."""
    tensors = inputs if isinstance(inputs, tuple) else (inputs,)
    return Case(operation, tensors, lambda *found: (*first, *found, *rest), reference)


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
    *(case("float_add", pair, torch.add) for pair in BROADCAST),
    *(case("float_sub", pair, torch.sub) for pair in BROADCAST),
    *(case("float_mul", pair, torch.mul) for pair in BROADCAST),
    *(case("float_div", pair, torch.div) for pair in BROADCAST),
    case("float_add_scalar", X, lambda x: x + 1.5, 1.5),
    case("float_sub_scalar", X, lambda x: x - 1.5, 1.5),
    case("float_mul_scalar", X, lambda x: x * 1.5, 1.5),
    case("float_div_scalar", X, lambda x: x / 1.5, 1.5),
    case("float_remainder", (np.array([5.3, -4.1, 2.2]), np.array([1.7, 1.3, -0.9])),
         torch.remainder),
    case("float_remainder", (np.array([[5.3], [-4.1]]), np.array([1.7, -1.3])), torch.remainder),
    case("float_remainder_scalar", X, lambda x: torch.remainder(x, 0.7), 0.7),
    case("float_neg", X, torch.neg),
    case("float_recip", X, torch.reciprocal),
    case("float_abs", X, torch.abs),
    case("float_clamp_min", X, lambda x: x.clamp(min=-0.5), -0.5),
    case("float_clamp_max", X, lambda x: x.clamp(max=0.5), 0.5),
    case("float_clamp", X, lambda x: x.clamp(-0.5, 1.5), -0.5, 1.5),
    case("float_clamp", X, lambda x: x.clamp(1.5, -0.5), 1.5, -0.5),
    case("float_sign", X, torch.sign),
    case("float_round", X, torch.round),
    case("float_floor", X + 0.1, torch.floor),
    case("float_ceil", X + 0.1, torch.ceil),
    case("float_trunc", X + 0.1, torch.trunc),
]  # fmt: skip

INSIDE = spread(2, 3, low=-0.9, high=0.9)
ELEMENTARY = [
    case("float_exp", X, torch.exp),
    case("float_log", Y, torch.log),
    case("float_log1p", Y - 1.0, torch.log1p),
    *(case("float_powf", (base, exponent), torch.pow) for base, exponent in (
        (Y, X), (spread(2, 1, low=0.5), spread(3)), (Y, np.array(2.5)), (np.array(0.6), X))),
    case("float_powi", spread(2, 2), lambda x: x ** torch.tensor([[3.0, 2.0], [1.0, -2.0]]),
         np.array([[3, 2], [1, -2]])),
    *(case("float_powi_scalar", X, lambda x, n=n: x**n, n) for n in (-2, -1, 0, 1, 2, 3)),
    *(case("float_powf_scalar", Y, lambda x, s=s: x**s, s) for s in (-1.5, 0.5, 2.5)),
    *(case("float_powf_scalar", X, lambda x, s=s: x**s, s) for s in (-1.0, 0.0, 1.0, 2.0, 3.0)),
    case("float_sqrt", Y, torch.sqrt),
    case("float_sin", X, torch.sin),
    case("float_cos", X, torch.cos),
    case("float_tan", INSIDE, torch.tan),
    case("float_sinh", X, torch.sinh),
    case("float_cosh", X, torch.cosh),
    case("float_tanh", X, torch.tanh),
    case("float_asin", INSIDE, torch.asin),
    case("float_acos", INSIDE, torch.acos),
    case("float_atan", X, torch.atan),
    case("float_asinh", X, torch.asinh),
    case("float_acosh", Y + 1.0, torch.acosh),
    case("float_atanh", INSIDE, torch.atanh),
    *(case("float_atan2", pair, torch.atan2) for pair in BROADCAST),
    case("float_erf", X, torch.erf),
]  # fmt: skip

CUBE = spread(2, 3, 2)
MATRICES = [((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 1)),
            ((1, 2, 2), (3, 2, 1)), ((1, 1), (1, 1))]  # fmt: skip
LAYOUT = [
    *(case("float_matmul", (spread(*a), spread(*b, seed=1)), torch.matmul) for a, b in MATRICES),
    case("float_reshape", X, lambda x: x.reshape(3, 2), (3, 2)),
    case("float_reshape", X, lambda x: x.reshape(-1), (-1,)),
    case("float_transpose", CUBE, lambda x: x.mT),
    case("float_swap_dims", CUBE, lambda x: x.swapaxes(0, 2), 0, -1),
    case("float_permute", CUBE, lambda x: x.permute(2, 0, 1), (2, 0, 1)),
    case("float_permute", CUBE, lambda x: x.permute(2, 0, 1), (-1, 0, 1)),
    case("float_flip", CUBE, lambda x: x.flip(0, 2), (0, -1)),
    case("float_expand", spread(3, 1), lambda x: x.expand(2, 3, 2), (2, 3, 2)),
    case("float_expand", X, lambda x: x.expand(2, 3), (2, 3)),
    case("float_repeat_dim", X, lambda x: x.repeat(1, 3), 1, 3),
    case("float_repeat_dim", X, lambda x: x.repeat(0, 1), 0, 0),
    Case("float_cat", (X, Y, spread(1, 3)), lambda *all: (list(all), 0), lambda *all: torch.cat(all)),
    Case("float_cat", (X, spread(2, 1)), lambda *all: (list(all), -1),
         lambda *all: torch.cat(all, -1)),
    *(case("float_unfold", spread(5, 2), lambda x, s=s, t=t: x.unfold(0, s, t), 0, s, t)
      for s, t in ((2, 1), (3, 2), (2, 3), (5, 1))),
    case("float_unfold", spread(2, 5), lambda x: x.unfold(-1, 3, 1), -1, 3, 1),
    case("float_cast", X, lambda x: x * 1.0, float64),
    case("float_to_device", X, lambda x: x * 1.0),
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
    return Case(
        "float_scatter", (X, value), lambda x, v: (1, x, indices, v, update),
        lambda x, v: scattered(x, v, 1, indices, update),
    )  # fmt: skip


def select_assign(update: str, indices: Array) -> Case:
    value = spread(2, len(indices), seed=7, low=-1.7, high=1.9)
    return Case(
        "float_select_assign", (X, value), lambda x, v: (x, -1, indices, v, update),
        lambda x, v: scattered(x, v, 1, rows(indices, value.shape, 1), update),
    )  # fmt: skip


INDEXING = [
    Case("float_gather", (X,), lambda x: (1, x, MANY), lambda x: x.gather(1, torch.as_tensor(MANY))),
    Case("float_gather", (X,), lambda x: (-2, x, MANY[:1, :3]),
         lambda x: x.gather(0, torch.as_tensor(MANY[:1, :3]))),
    Case("float_scatter_add", (X, spread(2, 4, seed=2)), lambda x, v: (1, x, MANY, v),
         lambda x, v: x.scatter_add(1, torch.as_tensor(MANY), v)),
    scatter("assign", PLACES, spread(2, 2, seed=6)),
    *(scatter(update, PLACES, spread(2, 2, seed=6)) for update in REDUCE),
    *(scatter(update, MANY, spread(2, 4, seed=6, low=-1.9, high=1.5)) for update in REDUCE),
    case("float_select", X, lambda x: x.index_select(1, torch.as_tensor(ROWS)), 1, ROWS),
    Case("float_select_add", (X, spread(2, 4, seed=2)), lambda x, v: (x, 1, ROWS, v),
         lambda x, v: x.index_add(1, torch.as_tensor(ROWS), v)),
    select_assign("assign", ROWS[:2]),
    *(select_assign(update, indices) for update in REDUCE for indices in (ROWS, ROWS[1:])),
    case("float_slice", CUBE, lambda x: x[:, 0:3:2], [slice(None), slice(0, 3, 2)]),
    case("float_slice", X, lambda x: x.flip(1)[:2, 0::2], BLOCK),
    Case("float_slice_assign", (X, spread(2, 2, seed=2)), lambda x, v: (x, BLOCK, v),
         lambda x, v: x.slice_scatter(v.flip(1), 1, 0, 3, 2)),
    *(Case("float_mask_where", (x, v), lambda x, v: (x, MASK, v),
           lambda x, v: torch.where(torch.as_tensor(MASK), v, x))
      for x, v in ((X, Y), (X, spread(3, seed=3)), (spread(2, 1), np.array(0.3)))),
    case("float_mask_fill", X, lambda x: x.masked_fill(torch.as_tensor(MASK), 0.5), MASK, 0.5),
    case("float_mask_fill", spread(3), lambda x: x.masked_fill(torch.as_tensor(MASK), 0.5),
         MASK, 0.5),
    case("float_mask_select", X, lambda x: x[torch.as_tensor(MASK)], MASK),
]  # fmt: skip

LONG = spread(7, low=-1.5, high=1.5, seed=8)
WIDE = spread(2, 5, low=-1.5, high=1.6, seed=9)
REDUCTION = [
    case("float_sum", X, torch.sum),
    case("float_sum_dim", CUBE, lambda x: x.sum(1, keepdim=True), 1),
    case("float_mean", X, torch.mean),
    case("float_mean_dim", CUBE, lambda x: x.mean(-1, keepdim=True), -1),
    case("float_prod", X, torch.prod),
    case("float_prod", np.array(0.7), torch.prod),
    case("float_prod_dim", WIDE, lambda x: x.prod(1, keepdim=True), 1),
    case("float_prod_dim", WIDE, lambda x: x.prod(-2, keepdim=True), -2),
    case("float_cumsum", WIDE, lambda x: x.cumsum(1), 1),
    case("float_cumprod", LONG, lambda x: x.cumprod(0), 0),
    case("float_cumprod", WIDE, lambda x: x.cumprod(1), -1),
    case("float_cumprod", np.array([0.7]), lambda x: x.cumprod(0), 0),
    case("float_cummax", WIDE, lambda x: x.cummax(1)[0], 1),
    case("float_cummin", WIDE, lambda x: x.cummin(1)[0], -1),
    case("float_cummax", LONG, lambda x: x.cummax(0)[0], 0),
    case("float_max", X, torch.max),
    case("float_min", X, torch.min),
    case("float_max_dim", X, lambda x: x.max(1, keepdim=True)[0], 1),
    case("float_min_dim", X, lambda x: x.min(-2, keepdim=True)[0], -2),
    case("float_max_abs", X + 0.1, lambda x: x.abs().max()),
    case("float_max_abs_dim", X + 0.1, lambda x: x.abs().max(1, keepdim=True)[0], 1),
    case("float_max_dim_with_indices", X, lambda x: x.max(1, keepdim=True)[0], 1, int64),
    case("float_min_dim_with_indices", X, lambda x: x.min(0, keepdim=True)[0], 0, int64),
    case("float_sort", WIDE, lambda x: x.sort(1)[0], 1, False),
    case("float_sort", WIDE, lambda x: x.sort(0, descending=True)[0], -2, True),
    case("float_sort_with_indices", WIDE, lambda x: x.sort(1)[0], 1, False, int64),
    case("float_topk", WIDE, lambda x: x.topk(3, 1)[0], 1, 3),
    case("float_topk_with_indices", WIDE, lambda x: x.topk(2, 1)[0], -1, 2, int64),
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
    case("relu", X, torch.relu),
    case("leaky_relu", X, lambda x: leaky(x, 0.1), 0.1),
    case("prelu", (X, spread(3, low=0.1, high=0.5)), leaky),
    case("gelu", X, F.gelu),
    case("sigmoid", X, torch.sigmoid),
    case("hard_sigmoid", 4.0 * X, lambda x: (0.3 * x + 0.4).clamp(0, 1), 0.3, 0.4),
    case("log_sigmoid", 4.0 * X, F.logsigmoid),
    case("softmax", X, lambda x: x.softmax(1), 1),
    case("softmax", CUBE, lambda x: x.softmax(-2), -2),
    case("log_softmax", X, lambda x: x.log_softmax(0), 0),
    case("softmin", X, lambda x: (-x).softmax(1), 1),
    case("relu_backward", (X, Y), lambda out, grad: grad * (out > 0)),
    case("sigmoid_backward", (Y, X), lambda out, grad: grad * out * (1 - out)),
    case("gelu_backward", (X, Y), lambda x, grad: gelu_slope(x) * grad),
    case("log_sigmoid_backward", (X, Y), lambda x, grad: torch.sigmoid(-x) * grad),
]

CASES = [*ARITHMETIC, *ELEMENTARY, *LAYOUT, *INDEXING, *REDUCTION, *ACTIVATION]
NAMES = [f"{c.operation}-{number}" for number, c in enumerate(CASES)]

WITHOUT_GRADIENT = {
    **dict.fromkeys(
        ("float_from_data", "float_random", "float_zeros", "float_ones", "float_full", "float_empty"),
        "made of nothing that has a gradient",
    ),
    **dict.fromkeys(("int_into_float", "bool_into_float"), "made of ints or bools"),
    **dict.fromkeys(("float_detach", "float_set_require_grad"), "makes a leaf or a constant"),
}
"""Operations with float outputs that no case is needed for, and why."""
