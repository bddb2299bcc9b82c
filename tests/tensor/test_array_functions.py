"""Functions of the array API namespace, against NumPy, which implements the same standard.

Each case is called twice: with our namespace and tensors, and with NumPy and arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.tensor.oracle import Array, assert_matches, tensor

from firebrick import Device
from firebrick.tensor import array_namespace as xp

OfOne = Callable[[Any, Any], Any]
OfTwo = Callable[[Any, Any, Any], Any]

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.5]])
U = np.array([[0.5, 0.25, 0.75], [0.1, 0.9, 0.3]])
N = np.array([[3, -1, 2], [0, 2, -4]])
B = np.array([[True, False, True], [False, False, True]])

OF_ONE: dict[str, tuple[OfOne, tuple[Array]]] = {
    "abs": (lambda m, x: m.abs(x), (X,)),
    "acos": (lambda m, x: m.acos(x), (U,)),
    "acosh": (lambda m, x: m.acosh(x + 1), (U,)),
    "add a number": (lambda m, x: m.add(1, x), (X,)),
    "asin": (lambda m, x: m.asin(x), (U,)),
    "asinh": (lambda m, x: m.asinh(x), (X,)),
    "atan": (lambda m, x: m.atan(x), (X,)),
    "atanh": (lambda m, x: m.atanh(x), (U,)),
    "bitwise": (lambda m, n: m.bitwise_and(m.bitwise_or(n, 3), m.bitwise_invert(n)), (N,)),
    "bitwise_xor": (lambda m, n: m.bitwise_xor(n, 5), (N,)),
    "bitwise_left_shift": (lambda m, n: m.bitwise_left_shift(n, 2), (N,)),
    "bitwise_right_shift": (lambda m, n: m.bitwise_right_shift(n, 1), (N,)),
    "ceil": (lambda m, x: m.ceil(x), (X,)),
    "clip": (lambda m, x: m.clip(x, -1, 1), (X,)),
    "copysign of zeros": (lambda m, x: m.copysign(1.0, x), (np.array([0.0, -0.0]),)),
    "cos": (lambda m, x: m.cos(x), (X,)),
    "cosh": (lambda m, x: m.cosh(x), (X,)),
    "divide": (lambda m, x: m.divide(1, x), (X,)),
    "equal": (lambda m, x: m.equal(x, 0.5), (X,)),
    "exp": (lambda m, x: m.exp(x), (X,)),
    "expm1": (lambda m, x: m.expm1(x), (np.array([-5.0, -1.0, 1e-12, 0.5, 1.0, 3.0]),)),
    "floor": (lambda m, x: m.floor(x), (X,)),
    "floor_divide": (lambda m, x: m.floor_divide(x, 0.75), (X,)),
    "greater": (lambda m, x: m.greater(0.5, x), (X,)),
    "greater_equal": (lambda m, x: m.greater_equal(x, 0.5), (X,)),
    "isfinite": (lambda m, x: m.isfinite(x), (np.array([1.0, np.inf, np.nan]),)),
    "isinf": (lambda m, x: m.isinf(x), (np.array([1.0, np.inf, np.nan]),)),
    "isnan": (lambda m, x: m.isnan(x), (np.array([1.0, np.inf, np.nan]),)),
    "less": (lambda m, x: m.less(x, 0.5), (X,)),
    "less_equal": (lambda m, x: m.less_equal(x, 0.5), (X,)),
    "log": (lambda m, x: m.log(x), (U,)),
    "log10": (lambda m, x: m.log10(x), (U,)),
    "log1p": (lambda m, x: m.log1p(x), (U,)),
    "log2": (lambda m, x: m.log2(x), (U,)),
    "logaddexp of infinities": (lambda m, x: m.logaddexp(x, x), (np.array([-np.inf, np.inf]),)),
    "logical_and": (lambda m, b: m.logical_and(b, m.logical_not(m.flip(b))), (B,)),
    "logical_or": (lambda m, b: m.logical_or(b, m.flip(b)), (B,)),
    "logical_xor": (lambda m, b: m.logical_xor(b, True), (B,)),
    "maximum of nan": (lambda m, x: m.maximum(x, m.flip(x)), (np.array([1.0, np.nan, 3.0]),)),
    "minimum": (lambda m, x: m.minimum(x, 0.5), (X,)),
    "minimum of nan": (lambda m, x: m.minimum(2.0, x), (np.array([1.0, np.nan, 3.0]),)),
    "multiply": (lambda m, x: m.multiply(x, 2), (X,)),
    "negative": (lambda m, x: m.negative(x), (X,)),
    "not_equal": (lambda m, x: m.not_equal(x, 0.5), (X,)),
    "positive": (lambda m, x: m.positive(x), (X,)),
    "pow": (lambda m, x: m.pow(x, 3), (X,)),
    "pow of a number": (lambda m, x: m.pow(2.0, x), (X,)),
    "reciprocal": (lambda m, x: m.reciprocal(x), (X,)),
    "remainder": (lambda m, x: m.remainder(x, -0.75), (X,)),
    "round": (lambda m, x: m.round(x), (X,)),
    "sign": (lambda m, x: m.sign(x), (X,)),
    "signbit": (lambda m, x: m.signbit(x), (np.array([0.0, -0.0, -1.0, 2.0]),)),
    "sin": (lambda m, x: m.sin(x), (X,)),
    "sinh": (lambda m, x: m.sinh(x), (X,)),
    "sqrt": (lambda m, x: m.sqrt(x), (U,)),
    "square": (lambda m, x: m.square(x), (X,)),
    "subtract": (lambda m, x: m.subtract(1, x), (X,)),
    "tan": (lambda m, x: m.tan(x), (U,)),
    "tanh": (lambda m, x: m.tanh(x), (X,)),
    "trunc": (lambda m, x: m.trunc(x), (X,)),
    "matmul": (lambda m, x: m.matmul(x, m.matrix_transpose(x)), (X,)),
    "broadcast_to": (lambda m, x: m.broadcast_to(x, (4, 2, 3)), (X,)),
    "broadcast_arrays": (lambda m, x: m.broadcast_arrays(x, m.sum(x, axis=0))[1], (X,)),
    "expand_dims": (lambda m, x: m.expand_dims(x, axis=-1), (X,)),
    "flip": (lambda m, x: m.flip(x, axis=1), (X,)),
    "flip all": (lambda m, x: m.flip(x), (X,)),
    "moveaxis": (lambda m, x: m.moveaxis(m.expand_dims(x, axis=0), 0, 2), (X,)),
    "moveaxes": (lambda m, x: m.moveaxis(m.expand_dims(x, axis=0), (0, 1), (-1, 0)), (X,)),
    "permute_dims": (lambda m, x: m.permute_dims(x, (1, 0)), (X,)),
    "repeat": (lambda m, x: m.repeat(x, 2, axis=1), (X,)),
    "repeat flat": (lambda m, x: m.repeat(x, 2), (X,)),
    "reshape": (lambda m, x: m.reshape(x, (3, -1)), (X,)),
    "roll": (lambda m, x: m.roll(x, 1, axis=1), (X,)),
    "roll not at all": (lambda m, x: m.roll(x, 3, axis=1), (X,)),
    "roll flat": (lambda m, x: m.roll(x, -8), (X,)),
    "roll several": (lambda m, x: m.roll(x, (1, -1), axis=(0, 1)), (X,)),
    "squeeze": (lambda m, x: m.squeeze(x[:, :1], axis=1), (X,)),
    "squeeze several": (lambda m, x: m.squeeze(x[:1, :1], axis=(0, -1)), (X,)),
    "tile": (lambda m, x: m.tile(x, (2, 1, 2)), (X,)),
    "tile fewer": (lambda m, x: m.tile(x, (2,)), (X,)),
    "unstack": (lambda m, x: m.unstack(x, axis=1)[2], (X,)),
    "argmax": (lambda m, x: m.argmax(x), (X,)),
    "argmax kept": (lambda m, x: m.argmax(x, keepdims=True), (X,)),
    "argmax along": (lambda m, x: m.argmax(x, axis=0, keepdims=True), (X,)),
    "argmin of all": (lambda m, x: m.argmin(x), (X,)),
    "argmin": (lambda m, x: m.argmin(x, axis=1), (X,)),
    "argsort": (lambda m, x: m.argsort(x, axis=0), (X,)),
    "count_nonzero": (lambda m, n: m.count_nonzero(n, axis=1), (N,)),
    "nonzero": (lambda m, n: m.nonzero(n)[1], (N,)),
    "sort": (lambda m, x: m.sort(x), (X,)),
    "all": (lambda m, b: m.all(b, axis=0), (B,)),
    "any": (lambda m, b: m.any(b, axis=1, keepdims=True), (B,)),
    "cumulative_sum": (lambda m, x: m.cumulative_sum(x, axis=1), (X,)),
    "cumulative_sum with a start": (
        lambda m, x: m.cumulative_sum(x, axis=0, include_initial=True),
        (X,),
    ),
    "cumulative_prod": (lambda m, x: m.cumulative_prod(x[0]), (X,)),
    "cumulative_prod with a start": (
        lambda m, x: m.cumulative_prod(x[0], include_initial=True),
        (X,),
    ),
    "diff": (lambda m, x: m.diff(x, n=2), (X,)),
    "diff joined": (lambda m, x: m.diff(x, axis=0, prepend=x[:1], append=x[1:]), (X,)),
    "max": (lambda m, x: m.max(x, axis=0), (X,)),
    "mean": (lambda m, x: m.mean(x, axis=(0, 1), keepdims=True), (X,)),
    "min": (lambda m, x: m.min(x), (X,)),
    "prod": (lambda m, x: m.prod(x, axis=1), (X,)),
    "std": (lambda m, x: m.std(x, axis=1), (X,)),
    "sum": (lambda m, x: m.sum(x, axis=0), (X,)),
    "sum in a dtype": (lambda m, n: m.sum(n, dtype=m.float64), (N,)),
    "var": (lambda m, x: m.var(x, correction=1), (X,)),
    "unique_values": (lambda m, n: m.sort(m.unique_values(n)), (N,)),
    "unique_counts": (lambda m, n: m.unique_counts(n).counts, (N,)),
    "unique_inverse": (lambda m, n: m.unique_inverse(n).inverse_indices, (N,)),
    "unique_all": (lambda m, n: m.unique_all(n).indices, (N,)),
    "unique bools": (lambda m, b: m.unique_values(b), (B,)),
    "unique of nothing": (lambda m, n: m.unique_counts(n).counts, (N[:0],)),
    "tril": (lambda m, x: m.tril(x, k=-1), (X,)),
    "triu": (lambda m, x: m.triu(x, k=1), (X,)),
    "zeros_like": (lambda m, x: m.zeros_like(x), (X,)),
    "ones_like": (lambda m, x: m.ones_like(x, dtype=m.int32), (X,)),
    "full_like": (lambda m, x: m.full_like(x, 7), (X,)),
    "astype": (lambda m, x: m.astype(x, m.int32), (X,)),
}
OF_TWO: dict[str, tuple[OfTwo, tuple[Array, Array]]] = {
    "add": (lambda m, x, y: m.add(x, y), (X, U)),
    "atan2": (lambda m, x, y: m.atan2(x, y), (X, U)),
    "clip with tensors": (lambda m, x, u: m.clip(x, u - 1, u), (X, U)),
    "copysign": (lambda m, x, y: m.copysign(x, y), (U, X)),
    "hypot": (lambda m, x, y: m.hypot(x, y), (X, U)),
    "logaddexp": (lambda m, x, y: m.logaddexp(x * 400, y * 400), (X, U)),
    "maximum": (lambda m, x, y: m.maximum(x, y), (X, U)),
    "tensordot": (lambda m, x, y: m.tensordot(x, y, axes=2), (X, U)),
    "tensordot of pairs": (lambda m, x, y: m.tensordot(x, y, axes=((1,), (1,))), (X, U)),
    "tensordot of nothing": (lambda m, x, y: m.tensordot(x, y, axes=0), (X, U)),
    "vecdot": (lambda m, x, y: m.vecdot(x, y), (X, U)),
    "concat": (lambda m, x, y: m.concat([x, y], axis=1), (X, U)),
    "concat flat": (lambda m, x, y: m.concat([x, y], axis=None), (X, U)),
    "repeat each": (lambda m, x, n: m.repeat(x, n, axis=1), (X, np.array([2, 0, 1]))),
    "stack": (lambda m, x, y: m.stack([x, y], axis=-1), (X, U)),
    "take": (lambda m, x, n: m.take(x, n, axis=1), (X, np.array([2, 0, -1]))),
    "take flat": (lambda m, x, n: m.take(x[0], n), (X, np.array([2, 0]))),
    "take_along_axis": (lambda m, x, n: m.take_along_axis(x, n, axis=1), (X, np.array([[1], [0]]))),
    "take_along_axis spread": (
        lambda m, x, n: m.take_along_axis(x, n, axis=1),
        (X[:1], np.array([[1], [0]])),
    ),
    "where": (lambda m, b, x: m.where(b, x, 0.0), (B, X)),
    "meshgrid": (lambda m, x, y: m.meshgrid(x[0], y[:, 0])[1], (X, U)),
    "meshgrid by index": (lambda m, x, y: m.meshgrid(x[0], y[:, 0], indexing="ij")[0], (X, U)),
}


def expected_from(function: Callable[..., Any], arrays: tuple[Array, ...]) -> Any:
    with np.errstate(all="ignore"):
        return function(np, *arrays)


@pytest.mark.parametrize("name", OF_ONE)
def test_a_function_of_one_tensor_is_numpys(name: str, device: Device) -> None:
    function, arrays = OF_ONE[name]
    actual = function(xp, tensor(arrays[0], device))
    assert actual.device == device
    assert_matches(actual, expected_from(function, arrays))


@pytest.mark.parametrize("name", OF_TWO)
def test_a_function_of_two_tensors_is_numpys(name: str, device: Device) -> None:
    function, arrays = OF_TWO[name]
    actual = function(xp, *(tensor(a, device) for a in arrays))
    assert actual.device == device
    assert_matches(actual, expected_from(function, arrays))
