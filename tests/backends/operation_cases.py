"""Arguments for every built-in operation, by name: small, but of all the shapes that matter.

Arrays stand for tensors. Tests that hold for any operation run over all of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firebrick.core import Device, Distribution, bool_, float32, float64, int32, int64, uint8

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = tuple[Any, ...]
Cases = dict[str, list[Arguments]]

HERE = Device.of("ndarray")
SHAPES = [(), (5,), (2, 3, 4), (0, 3)]
WITH_DIM = [((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((3, 0), 0), ((0, 3), 0)]
PAIRS = [((3,), (3,)), ((2, 1, 4), (3, 1)), ((), (2,)), ((0, 3), (1, 3)), ((), ())]

FLOAT_ROUND = ["round", "floor", "ceil", "trunc", "sign", "abs", "neg", "recip", "detach"]
FLOAT_CURVES = ["exp", "log", "log1p", "sqrt", "cos", "sin", "tan", "cosh", "sinh", "tanh"]
FLOAT_INVERSES = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "erf"]
FLOAT_UNARY = [*FLOAT_ROUND, *FLOAT_CURVES, *FLOAT_INVERSES]
FLOAT_BINARY = ["add", "sub", "mul", "div", "remainder", "powf", "atan2", "hypot"]
NUMBER_OPERATIONS = ["add_scalar", "sub_scalar", "mul_scalar", "div_scalar", "remainder_scalar"]
COMPARISONS = ["equal", "not_equal", "greater", "greater_equal", "lower", "lower_equal"]
INT_UNARY = ["square", "neg", "abs", "sign"]
INT_BINARY = ["add", "sub", "mul", "div", "remainder", "powi"]
BITS = ["and", "or", "xor", "left_shift", "right_shift"]
ACTIVATIONS = ["relu", "gelu", "sigmoid", "log_sigmoid"]


def floats(*shape: int, low: float = -4.0, high: float = 4.0) -> Array:
    """Values of one seed per shape, apart from each other and from 0."""
    values = np.random.default_rng(sum(shape) + len(shape)).uniform(low, high, shape)
    return np.asarray(values, np.float64)


def ints(*shape: int, low: int = -9, high: int = 10) -> Array:
    """Values of one seed per shape."""
    return np.asarray(np.random.default_rng(7 + len(shape)).integers(low, high, shape), np.int64)


def bools(*shape: int) -> Array:
    """Values of one seed per shape."""
    return np.asarray(ints(*shape) > 0)


def all_cases() -> Cases:
    """Operation to lists of positional arguments."""
    cases: Cases = {}
    for more in (creation, float_math, int_math, comparisons, logic, activations):
        cases |= more()
    for kind, make in (("float", floats), ("int", ints), ("bool", bools)):
        cases |= {f"{kind}_{name}": listed for name, listed in layout(make).items()}
        cases |= {f"{kind}_{name}": listed for name, listed in indexing(make).items()}
    for kind, make in (("float", floats), ("int", ints)):
        cases |= {f"{kind}_{name}": listed for name, listed in reductions(make).items()}
    return cases | order() | updates()


def creation() -> Cases:
    cases: Cases = {}
    for kind, make, dtype in (
        ("float", floats, float32),
        ("int", ints, int32),
        ("bool", bools, bool_),
    ):
        for verb in ("empty", "zeros", "ones"):
            cases[f"{kind}_{verb}"] = [
                ((2, 3), HERE, dtype),
                ((), HERE, dtype),
                ((0,), HERE, dtype),
            ]
        cases[f"{kind}_from_data"] = [(make(2, 3), HERE), (make(), HERE), (make(0, 2), HERE)]
        cases[f"{kind}_into_data"] = [(make(2, 3),), (make(),)]
        cases[f"{kind}_to_device"] = [(make(2, 3), HERE)]
    for kind, value, dtype in (("float", 2.5, float64), ("int", 7, uint8)):
        cases[f"{kind}_full"] = [((2, 3), value, HERE, dtype), ((), value, HERE, dtype)]
        cases[f"{kind}_random"] = [
            ((3,), Distribution.default(), HERE, dtype),
            ((2, 2), Distribution.normal(5.0, 1.0), HERE, dtype),
        ]
    cases["float_cast"] = [(floats(2), float32), (floats(2), float64)]
    cases["int_cast"] = [(ints(2), int32), (ints(2), uint8)]
    cases["float_into_int"] = [(floats(2, 3), int32), (floats(), int64)]
    cases["int_into_float"] = [(ints(2, 3), float32)]
    cases["bool_into_int"] = [(bools(2, 3), int32)]
    cases["bool_into_float"] = [(bools(2, 3), float32), (bools(), float64)]
    cases["float_set_require_grad"] = [(floats(2), True)]
    cases["float_is_require_grad"] = [(floats(2),)]
    cases["int_arange"] = [(range(5), HERE, int32), (range(7, -3, -2), HERE, int64)]
    cases["int_arange_step"] = [(range(10), 3, HERE, int32), (range(0), 1, HERE, int32)]
    return cases


def float_math() -> Cases:
    cases: Cases = {
        f"float_{name}": [(floats(*shape),) for shape in SHAPES] for name in FLOAT_UNARY
    }
    for name in FLOAT_BINARY:
        cases[f"float_{name}"] = [(floats(*a), floats(*b)) for a, b in PAIRS]
    for name in NUMBER_OPERATIONS:
        cases[f"float_{name}"] = [(floats(*shape), 1.5) for shape in SHAPES]
    cases["float_clamp"] = [(floats(*shape), -1, 1.5) for shape in SHAPES]
    cases["float_clamp_min"] = cases["float_clamp_max"] = [(floats(*s), 0.5) for s in SHAPES]
    cases["float_powi"] = [(floats(*a), ints(*b, low=-3, high=4)) for a, b in PAIRS]
    cases["float_powi_scalar"] = [(floats(2, 3), n) for n in (-2, -1, 0, 1, 2, 3)]
    cases["float_powf_scalar"] = [(floats(2, 3, low=0.5), s) for s in (-1.5, 0.0, 0.5, 2)]
    cases["float_matmul"] = [
        (floats(2, 3), floats(3, 4)),
        (floats(5, 1, 2, 3), floats(4, 3, 2)),
        (floats(2, 0), floats(0, 3)),
    ]
    cases["float_cross"] = [
        (floats(2, 3), floats(2, 3), 1),
        (floats(3, 1), floats(2, 3, 4), 1),
        (floats(3), floats(4, 3), -1),
    ]
    return cases


def int_math() -> Cases:
    cases: Cases = {f"int_{name}": [(ints(*shape),) for shape in SHAPES] for name in INT_UNARY}
    for name in INT_BINARY:
        cases[f"int_{name}"] = [(ints(*a), ints(*b, low=-3)) for a, b in PAIRS]
    for name in NUMBER_OPERATIONS:
        cases[f"int_{name}"] = [(ints(*shape), n) for shape in SHAPES for n in (3, -2)]
    cases["int_powi_scalar"] = [(ints(3, 4, low=-2, high=3), n) for n in (-3, -2, 0, 1, 2, 5)]
    cases["int_clamp"] = [(ints(2, 3), -2, 3), (ints(2, 3), 5, 1)]
    cases["int_clamp_min"] = cases["int_clamp_max"] = [(ints(*shape), 1) for shape in SHAPES]
    cases["int_matmul"] = [(ints(2, 3), ints(3, 4)), (ints(5, 2, 3), ints(1, 3, 2))]
    for name in BITS:
        cases[f"bitwise_{name}"] = [(ints(*a), ints(*b, low=0)) for a, b in PAIRS]
        cases[f"bitwise_{name}_scalar"] = [(ints(*shape), 2) for shape in SHAPES]
    cases["bitwise_not"] = [(ints(*shape),) for shape in SHAPES]
    return cases


def comparisons() -> Cases:
    cases: Cases = {}
    for kind, make in (("float", floats), ("int", ints)):
        for name in COMPARISONS:
            cases[f"{kind}_{name}"] = [(make(*a), make(*b), bool_) for a, b in PAIRS]
            cases[f"{kind}_{name}_elem"] = [(make(*shape), 1, bool_) for shape in SHAPES]
        for name in ("any", "all"):
            cases[f"{kind}_{name}"] = [(make(*shape), bool_) for shape in SHAPES]
            cases[f"{kind}_{name}_dim"] = [(make(*shape), dim, bool_) for shape, dim in WITH_DIM]
    cases["float_is_nan"] = cases["float_is_inf"] = [(floats(*shape), bool_) for shape in SHAPES]
    return cases


def logic() -> Cases:
    cases: Cases = {"bool_not": [(bools(*shape),) for shape in SHAPES]}
    for name in ("equal", "not_equal", "and", "or", "xor"):
        cases[f"bool_{name}"] = [(bools(*a), bools(*b)) for a, b in PAIRS]
    for name in ("equal_elem", "not_equal_elem"):
        cases[f"bool_{name}"] = [(bools(2, 3), value) for value in (True, False, 2)]
    for name in ("any", "all"):
        cases[f"bool_{name}"] = [(bools(*shape),) for shape in SHAPES]
        cases[f"bool_{name}_dim"] = [(bools(*shape), dim) for shape, dim in WITH_DIM]
    cases["bool_argwhere"] = [(bools(*shape), int32) for shape in SHAPES]
    return cases


def activations() -> Cases:
    cases: Cases = {name: [(floats(*shape),) for shape in SHAPES] for name in ACTIVATIONS}
    for name in ("softmax", "log_softmax", "softmin"):
        cases[name] = [(floats(*shape), dim) for shape, dim in WITH_DIM]
    for name in ("relu", "gelu", "sigmoid", "log_sigmoid"):
        cases[f"{name}_backward"] = [(floats(2, 3), floats(2, 3)), (floats(), floats())]
    cases["leaky_relu"] = [(floats(*shape), 0.1) for shape in SHAPES]
    cases["prelu"] = [(floats(2, 3), floats(3)), (floats(2, 3), floats(1))]
    cases["hard_sigmoid"] = [(floats(*shape), 0.2, 0.5) for shape in SHAPES]
    return cases


def layout(make: Any) -> Cases:
    return {
        "reshape": [
            (make(2, 3, 4), (4, 6)),
            (make(2, 3), (-1,)),
            (make(), (1, 1)),
            (make(0, 3), (0,)),
        ],
        "transpose": [(make(2, 3),), (make(2, 3, 4),)],
        "swap_dims": [(make(2, 3, 4), 0, -1), (make(2, 3), 1, 1)],
        "permute": [(make(2, 3, 4), (2, 0, 1)), (make(2, 3, 4), (-1, 0, 1)), (make(), ())],
        "flip": [(make(2, 3, 4), (0, -1)), (make(2, 3), ()), (make(0, 3), (0,))],
        "expand": [(make(3, 1), (2, 3, 4)), (make(), (2,)), (make(1, 3), (0, 3))],
        "repeat_dim": [(make(2, 3), 1, 2), (make(2, 3), 0, 0), (make(0, 3), -1, 2)],
        "cat": [([make(2, 3), make(2, 1)], 1), ([make(0, 3), make(2, 3)], 0), ([make(4)], -1)],
        "unfold": [(make(7), 0, 3, 2), (make(2, 5, 3), 1, 2, 2), (make(2, 3), 1, 4, 1)],
    }


def indexing(make: Any) -> Cases:
    block = [slice(None), slice(None, None, -2)]
    places = np.array([[2, 0, 1], [0, 2, 2]], np.int32)
    rows = np.array([2, 0, 2, 1], np.int64)
    return {
        "slice": [
            (make(4, 5), [slice(1, 3), slice(4, None, -2)]),
            (make(4, 5), [slice(-2, None)]),
            (make(), []),
            (make(4, 5), [slice(3, 1)]),
        ],
        "slice_assign": [(make(4, 5), block, make(4, 3)), (make(), [], make())],
        "mask_where": [
            (make(2, 3), bools(2, 3), make(2, 3)),
            (make(2, 3), bools(3), make()),
            (make(1), bools(2, 3), make(2, 1)),
        ],
        "mask_fill": [
            (make(2, 3), bools(2, 3), 1),
            (make(3), bools(2, 1), 0),
            (make(), bools(), 1),
        ],
        "mask_select": [(make(2, 3), bools(2, 3)), (make(2, 3), bools(3)), (make(), bools())],
        "gather": [(1, make(2, 3), places), (-1, make(3, 3), places), (0, make(3, 3), places)],
        "select": [(make(3, 4), 0, rows), (make(4, 3), -1, rows), (make(3, 2), 0, rows[:0])],
    }


def updates() -> Cases:
    places = np.array([[2, 0, 1], [0, 2, 2]], np.int32)
    rows = np.array([2, 0, 2, 1], np.int64)
    kinds = ("add", "mul", "min", "max")
    cases: Cases = {}
    for kind, make in (("float", floats), ("int", ints)):
        scatter = (1, make(2, 3), places, make(2, 3))
        select = (make(3, 4), 0, rows, make(4, 4))
        assign = (0, make(3, 3), np.array([[1, 0]]), make(1, 2), "assign")
        cases[f"{kind}_scatter_add"] = [scatter]
        cases[f"{kind}_select_add"] = [select]
        cases[f"{kind}_scatter"] = [*[(*scatter, update) for update in kinds], assign]
        cases[f"{kind}_select_assign"] = [(*select, update) for update in kinds]
    cases["bool_scatter_or"] = [(1, bools(2, 3), places, bools(2, 3))]
    cases["bool_select_or"] = [(bools(3, 4), 0, rows, bools(4, 4))]
    return cases


def reductions(make: Any) -> Cases:
    cases: Cases = {}
    for name in ("sum", "prod", "mean"):
        cases[name] = [(make(*shape),) for shape in SHAPES]
        cases[f"{name}_dim"] = [(make(*shape), dim) for shape, dim in WITH_DIM]
    for name in ("cumsum", "cumprod", "cummin", "cummax"):
        cases[name] = [(make(*shape), dim) for shape, dim in WITH_DIM]
    return cases


def order() -> Cases:
    cases: Cases = {}
    along = [((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((3, 0), 0)]
    for kind, make, dtype in (("float", floats, (int32,)), ("int", ints, ())):
        for name in ("max", "min", "max_abs"):
            cases[f"{kind}_{name}"] = [(make(5),), (make(2, 3, 4),), (make(),)]
            cases[f"{kind}_{name}_dim"] = [(make(*shape), dim) for shape, dim in along]
        for name in ("argmax", "argmin", "max_dim_with_indices", "min_dim_with_indices"):
            cases[f"{kind}_{name}"] = [(make(*shape), dim, *dtype) for shape, dim in along]
        cases[f"{kind}_topk"] = [(make(*shape), dim, 2) for shape, dim in along]
        for name in ("argtopk", "topk_with_indices"):
            cases[f"{kind}_{name}"] = [(make(*shape), dim, 2, *dtype) for shape, dim in along]
        both = [(make(*shape), dim, down) for shape, dim in along for down in (False, True)]
        cases[f"{kind}_sort"] = both
        for name in ("sort_with_indices", "argsort"):
            cases[f"{kind}_{name}"] = [(*arguments, *dtype) for arguments in both]
    return cases
